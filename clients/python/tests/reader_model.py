"""A reader of schemas/update.md that is as naive as can be: sets and lists, in the page's own words."""


class Model:
    def __init__(self, followed, partitions, additions_max, topic=None):
        self.filter, self.additions_max, self.topic = followed, additions_max, topic
        self.partitions = {number: Partition() for number in partitions}
        self.additions = []  # dicts, in the order of their records
        self.records = 0

    def beat(self, number, value):
        """`value`: what the JSON says; None for a tombstone."""
        if number not in self.partitions:
            return
        partition, value = self.partitions[number], value or {}
        generation = value.get("generation")
        partition.named.add(generation)
        for known in set(partition.beats_since) - partition.named:
            partition.beats_since[known] += 1
            if partition.beats_since[known] == 60:
                self.forget(number, known)
        if generation != partition.current:
            partition.past.add(partition.current)
            partition.past.discard(generation)
        partition.current, partition.base = generation, None
        ends = value.get("snapshots_to", {})
        if generation is not None and "published_to" in value and self.filter in ends:
            partition.base = value["published_to"], ends[self.filter]
        named, since = value.get("snapshots_topic") or {}, value.get("complete_since_ms") or {}
        partition.topic = partition.complete_since = None
        if generation is not None:
            partition.topic, partition.complete_since = named.get(self.filter), since.get(self.filter)
            partition.beat_log = (value.get("snapshots_log") or {}).get(self.filter) or 0
            if partition.log is None:
                partition.log = partition.beat_log
        self.settle(number)

    def update(self, number, generation, begin, end, part, as_of, filters, sections):
        """`sections`: [(mask, kind, until_s, [(user, [fingerprints])])]"""
        if number not in self.partitions or self.filter not in filters:
            return
        partition, g = self.partitions[number], generation
        partition.beats_since[g] = 0
        self.records += 1
        for mask, kind, until_s, entries in sections:
            if mask >> filters.index(self.filter) & 1:
                self.additions += [
                    {
                        "user": user,
                        "kind": kind,
                        "print": print32,
                        "partition": number,
                        "generation": g,
                        "to": end if begin < end else end + 1,
                        "until_s": until_s,
                        "record": self.records,
                        "as_of_before": partition.as_of.get(g),
                    }
                    for user, prints in entries
                    for print32 in prints
                ]
        as_of = None if as_of == -1 else as_of
        if part == 0 or partition.parts.get(g) == (begin, part):
            if begin == end and sections:
                partition.parts[g] = begin, part + 1
            partition.cover(g, begin, end, as_of)
        elif end > begin:
            partition.cover(g, begin + 1, end, as_of)
        self.settle(number)
        while len(self.additions) > self.additions_max:
            oldest = self.additions[0]
            one = self.partitions[oldest["partition"]]
            one.lost.setdefault(oldest["generation"], [])
            one.lost[oldest["generation"]].append((oldest["to"], oldest["as_of_before"]))
            self.additions = [a for a in self.additions if a["record"] != oldest["record"]]

    def snapshot(self, number, user, snapshot):
        """`snapshot`: a dict; None for a tombstone; "refused"."""
        partition = self.partitions[number]
        partition.refused.discard(user)
        if snapshot == "refused":
            partition.refused.add(user)
        else:
            partition.snapshots[user] = snapshot

    def end(self, number, position):
        self.partitions[number].stands_at = position
        self.settle(number)

    def restart(self, number):
        partition = self.partitions[number]
        partition.log, partition.stands_at = partition.beat_log, None
        for g, complete in partition.complete.items():
            partition.run.setdefault(g, (partition.settled[g], complete, partition.as_of.get(g)))
        for kept in (partition.complete, partition.as_of, partition.settled, partition.parts):
            kept.clear()

    def settle(self, number):
        partition = self.partitions[number]
        if partition.base is None or partition.stands_at is None or partition.stands_at < partition.base[1]:
            return
        if self.must_restart(number) or self.moved_to(number):
            return
        g, published_to = partition.current, partition.base[0]
        if partition.complete.get(g) is None or partition.complete[g] < published_to:
            partition.complete[g] = published_to
        partition.settled[g] = max(partition.settled.get(g, 0), published_to)
        self.additions = [
            a
            for a in self.additions
            if not (a["partition"] == number and a["generation"] == g and a["to"] <= published_to)
        ]
        for past in partition.past:
            self.forget(number, past)
        if g in partition.lost and all(to <= published_to for to, _ in partition.lost[g]):
            del partition.lost[g]
        run = partition.run.get(g)
        if run and run[0] <= partition.complete[g]:
            if run[1] >= partition.complete[g]:
                partition.complete[g] = run[1]
                if run[2] is not None:
                    partition.as_of[g] = run[2]
            del partition.run[g]

    def forget(self, number, generation):
        partition = self.partitions[number]
        self.additions = [
            a for a in self.additions if not (a["partition"] == number and a["generation"] == generation)
        ]
        for kept in (
            partition.complete,
            partition.as_of,
            partition.settled,
            partition.run,
            partition.parts,
            partition.beats_since,
            partition.lost,
        ):
            kept.pop(generation, None)

    # --- answers

    def must_restart(self, number):
        return self.partitions[number].log != self.partitions[number].beat_log

    def moved_to(self, number):
        topic = self.partitions[number].topic
        return topic if None not in (self.topic, topic) and topic != self.topic else None

    def complete_since(self, numbers):
        times = [self.partitions[number].complete_since for number in numbers]
        return max((time for time in times if time is not None), default=None)

    def complete_to(self, number):
        return self.partitions[number].complete.get(self.partitions[number].current)

    def as_of(self, number):
        partition = self.partitions[number]
        g = partition.current
        as_of = partition.as_of.get(g)
        if partition.complete.get(g) is None or as_of is None:
            return None
        before = [as_of_before for _, as_of_before in partition.lost.get(g, [])]
        return None if None in before else min([as_of, *before])

    def is_refused(self, user):
        return any(user in partition.refused for partition in self.partitions.values())

    def holds(self, user, kind, print32, now_ms):
        snapshots = [p.snapshots[user] for p in self.partitions.values() if p.snapshots.get(user)]
        return any(print32 in snapshot["prints"][kind] for snapshot in snapshots) or any(
            (a["user"], a["kind"], a["print"]) == (user, kind, print32)
            and (a["until_s"] == 0 or now_ms < a["until_s"] * 1000)
            and not any(
                snapshot["generation"] == a["generation"]
                and snapshot["partition"] == a["partition"]
                and snapshot["input_offset"] >= a["to"]
                for snapshot in snapshots
            )
            for a in self.additions
        )


class Partition:
    def __init__(self):
        self.current = self.base = self.stands_at = None
        self.beat_log = self.log = self.topic = self.complete_since = None
        self.past, self.complete, self.as_of, self.run, self.parts = set(), {}, {}, {}, {}
        self.settled, self.named, self.beats_since, self.lost = {}, set(), {}, {}
        self.snapshots, self.refused = {}, set()

    def cover(self, g, begin, end, as_of):
        complete, run = self.complete.get(g), self.run.get(g)
        if complete is not None and begin <= complete:
            if end >= complete:
                self.complete[g] = end
                if as_of is not None:
                    self.as_of[g] = as_of
        elif run is None or begin > run[1]:
            self.run[g] = begin, end, as_of
        elif end >= run[0]:
            newest = as_of if as_of is not None and end >= run[1] else run[2]
            self.run[g] = min(begin, run[0]), max(end, run[1]), newest
