"""Follows the snapshots and the updates of one filter: schemas/update.md, "The reader"."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple, Union

import numpy as np
import xxhash

from .addition_log import AdditionLog, Source
from .errors import SnapshotError, WatermarkError
from .hashing import GROUP, NEAR, Bools, ItemId, U32s, fingerprints, id_text, in_domain_each
from .snapshot import AnyItem, Bytes, Snapshot, item_list
from .update import KIND_SEEN, KIND_SIMILAR, NOT_KNOWN, Update
from .watermarks import Watermarks, integer_of, members_of, partition_of_key

ADDITIONS_MAX = 16_000_000
BEATS_UNTIL_FORGOTTEN = 60
OFFSET_MAX = (1 << 63) - 1
SNAPSHOT_BYTES = 250  # of a user's entry, besides the snapshot and the id


class FilterReader:
    """Which items users have seen, by snapshots and updates together. Since when may an answer miss
    something? `as_of` says it.

    One thread feeds it, with the records of each topic in their order. Any number of threads may ask
    meanwhile. Such a thread asks `as_of` before and after a question: the answer is as fresh as the older.

    An addition takes 16 bytes, or up to twice that while dropped ones still stand beside it. A record takes
    48 bytes, for each of its sections. The snapshots stay as the topic has them; a question reads the
    user's."""

    def __init__(
        self,
        filter_name: str,
        partitions: Iterable[int],
        *,
        snapshots_topic: str | None = None,
        additions_max: int = ADDITIONS_MAX,
    ) -> None:
        """`partitions`: those of the input topic that this reader follows. It passes over records of
        others.

        `snapshots_topic`: the name of the topic that its snapshots come from. With it `moved_to` is known.

        `additions_max`: how many additions it holds at most, of all partitions together. It needs those of
        one and a half refreshes (`updates.refresh_s`)."""
        if additions_max < 0:
            raise ValueError(f"additions_max {additions_max}; 0 or more is allowed")
        self._filter_name, self._additions_max = filter_name, additions_max
        self._snapshots_topic = snapshots_topic
        self._partitions = {partition: _Partition() for partition in partitions}
        if not self._partitions:
            raise ValueError("no partitions; a reader follows one or more")
        self._log = AdditionLog()
        self._records = 0
        self._snapshot_bytes = 0

    # --- what it takes

    def take_beat(self, key: bytes | None, value: bytes | None) -> None:
        """The next record of the topic of watermarks. WatermarkError if it is to be refused; the one before
        it then stays.

        Ask `must_restart` and `moved_to` afterwards."""
        Watermarks().update(key, value)
        beat = NO_BEAT
        if value is not None:
            beat = _Beat.of(members_of(value), self._filter_name, self._snapshots_topic)
        number = partition_of_key(key)
        partition = self._partitions.get(number)
        if partition is None:
            return
        if partition.beat.generation != beat.generation:
            partition.past.add(partition.beat.generation)
            partition.past.discard(beat.generation)
        partition.beat = beat
        if beat.generation != NOT_KNOWN:
            partition.beat_log = beat.snapshots_log
            partition.log = beat.snapshots_log if partition.log == NOT_KNOWN else partition.log
        self._forget_unnamed(partition, number)
        self._settle(partition, number)

    def take_update(self, data: Bytes | None) -> None:
        """The next record of a partition of updates. UpdateError if it is to be refused: what it said stays
        a gap."""
        update = Update(data)
        partition = self._partitions.get(update.partition)
        if partition is None or self._filter_name not in update.filters:
            return
        life = partition.lives.setdefault(update.generation, _Life())
        life.beats_without = 0
        # Where a record ends at its begin, its event is the one at this offset, and it goes on in the next.
        end = max(update.to_offset, min(update.from_offset + 1, OFFSET_MAX))
        if partition.beat.generation != update.generation or partition.settled_to() < end:
            self._keep(update, life, end)
        life.take(update)
        self._settle(partition, update.partition)
        if self._log.held > self._additions_max:
            self._log.drop_oldest(self._additions_max, self._lose)

    def take_snapshot(self, partition: int, user: ItemId, data: Bytes | None) -> None:
        """The next record of a partition of snapshots. None is a tombstone.

        SnapshotError if it is to be refused. Then the one before it stays, and `is_refused` says so."""
        of, text = self._followed(partition), id_text(user)
        if data is not None:
            data = data if isinstance(data, bytes) else bytes(memoryview(data))
            try:
                Snapshot(data, with_updates=True)
            except SnapshotError:
                of.refused.add(text)
                raise
        before = of.snapshots.get(text)
        if data is not None:
            of.snapshots[text] = data  # at once, as others may be asking
            self._snapshot_bytes += len(data) + len(text) + SNAPSHOT_BYTES
        elif before is not None:
            del of.snapshots[text]
        if before is not None:
            self._snapshot_bytes -= len(before) + len(text) + SNAPSHOT_BYTES
        of.refused.discard(text)

    def snapshots_end(self, partition: int, position: int) -> None:
        """The reader stands at the end of the snapshots' partition, at this position.

        Kafka's client must have said so: by its event "partition EOF", or as the answer to a question for the
        end that came after the last record. A remembered high watermark isn't enough."""
        self._followed(partition).stands_at = position
        self._settle(self._partitions[partition], partition)

    def snapshots_restart(self, partition: int) -> None:
        """The reader starts over in the snapshots' partition: call it before the first `take_snapshot`. The
        partition isn't fresh until `snapshots_end`."""
        of = self._followed(partition)
        of.log, of.stands_at = of.beat_log, NOT_KNOWN
        for life in of.lives.values():
            life.start_over()

    # --- what it answers

    def might_contain(self, user: ItemId, item: ItemId, *, now_ms: int | None = None) -> bool:
        """May the user have seen it? `now_ms`: for served items, by default this machine's clock."""
        return bool(self.might_contain_many(user, [item], now_ms=now_ms)[0])

    def might_contain_many(
        self, user: ItemId, items: Iterable[ItemId], *, now_ms: int | None = None
    ) -> Bools:
        """`might_contain` of each item, as an array of bool in the order given."""
        return self._holds(user, KIND_SEEN, fingerprints(item_list(items)), now_ms)

    def unseen(
        self,
        user: ItemId,
        candidates: Iterable[AnyItem],
        also_seen: Iterable[ItemId] = (),
        *,
        now_ms: int | None = None,
    ) -> list[AnyItem]:
        """The candidates that the user hasn't seen: in order, each once, 7 and "7" being the same.

        `also_seen`: ids that count as seen too, such as those of this request's earlier pages."""
        first: dict[str, AnyItem] = {}
        for item in item_list(candidates):
            first.setdefault(id_text(item), item)
        also = set(map(id_text, item_list(also_seen)))
        seen = self._holds(user, KIND_SEEN, fingerprints(list(first)), now_ms).tolist()
        return [
            item for (text, item), is_seen in zip(first.items(), seen) if not is_seen and text not in also
        ]

    def might_be_near(self, user: ItemId, item: ItemId, *, now_ms: int | None = None) -> bool:
        """May the user have seen an item like this one? As `Snapshot.might_be_near`."""
        return bool(self.might_be_near_many(user, [item], now_ms=now_ms)[0])

    def might_be_near_many(
        self, user: ItemId, items: Iterable[ItemId], *, now_ms: int | None = None
    ) -> Bools:
        """`might_be_near` of each item, as an array of bool in the order given."""
        prints = in_domain_each(fingerprints(item_list(items)), NEAR)
        return self._holds(user, KIND_SIMILAR, prints, now_ms)

    def might_hold_group(self, user: ItemId, group: ItemId, *, now_ms: int | None = None) -> bool:
        """May the user have seen an item of this group? As `Snapshot.might_hold_group`."""
        prints = in_domain_each(fingerprints([group]), GROUP)
        return bool(self._holds(user, KIND_SIMILAR, prints, now_ms)[0])

    def is_refused(self, user: ItemId) -> bool:
        """Whether the newest snapshot of this user was refused. Answers about the user aren't fresh then."""
        text = id_text(user)
        return any(text in partition.refused for partition in list(self._partitions.values()))

    def as_of(self, partition: int | None = None) -> int | None:
        """Answers have all that was in the partition's input at this time, in ms since 1970. By default that
        of the oldest partition. None: it isn't known, so an answer may miss anything."""
        if partition is not None:
            as_of = self._followed(partition).as_of()
        else:
            as_of = min(one.as_of() for one in self._partitions.values())
        return None if as_of == NOT_KNOWN else as_of

    def must_restart(self, partition: int) -> bool:
        """Whether the snapshots' partition is another log than the one that the reader began to read. Ask
        after each beat. Then go to its beginning and call `snapshots_restart`: nothing settles before."""
        return self._followed(partition).must_restart()

    def moved_to(self, partition: int) -> str | None:
        """The other topic that has the filter's snapshots now, by the newest beat: begin with a new reader
        there. In this one nothing settles meanwhile. None: it hasn't moved, or this reader wasn't told
        `snapshots_topic`."""
        return self._followed(partition).beat.moved_to

    def complete_since(self, partition: int | None = None) -> int | None:
        """Of an incomplete filter: what was shown before this time may be missing, in ms since 1970, however
        fresh the reader is. By default the latest of all partitions. None: no beat says so."""
        if partition is not None:
            since = self._followed(partition).beat.complete_since_ms
        else:
            since = max(one.beat.complete_since_ms for one in self._partitions.values())
        return None if since == NOT_KNOWN else since

    def complete_to(self, partition: int) -> int | None:
        """Of the current generation: the reader knows each live event below this input offset. None: not
        known."""
        life = self._followed(partition).current()
        return None if life is None or life.complete == NOT_KNOWN else life.complete

    def updates_from(self, partition: int) -> int | None:
        """Where to begin in this partition of the updates, by the newest beat. None: at the beginning."""
        offset = self._followed(partition).beat.updates_from
        return None if offset == NOT_KNOWN else offset

    @property
    def additions(self) -> int:
        """How many it holds."""
        return self._log.held

    @property
    def memory_bytes(self) -> int:
        """Roughly what additions and snapshots take."""
        return self._log.nbytes + self._snapshot_bytes

    # --- how

    def _followed(self, partition: int) -> _Partition:
        if partition not in self._partitions:
            raise ValueError(
                f"partition {partition}; this reader follows {sorted(self._partitions)}: name all in `partitions`"
            )
        return self._partitions[partition]

    def _keep(self, update: Update, life: _Life, end: int) -> None:
        bit = 1 << update.filters.index(self._filter_name)
        self._records += 1
        source = Source(self._records, update.generation, end, life.as_of_ms, update.partition)
        for section in update.sections:
            if section.mask & bit:
                self._log.add(section, source)
                life.dropped_to = min(life.dropped_to, end - 1)

    def _settle(self, partition: _Partition, number: int) -> None:
        published_to = partition.settled_to()
        if published_to == NOT_KNOWN:
            return
        life = partition.lives.setdefault(partition.beat.generation, _Life())
        life.complete = max(life.complete, published_to)
        life.settled = max(life.settled, published_to)
        if life.dropped_to < published_to:
            self._log.drop(number, partition.beat.generation, published_to)
            life.dropped_to = published_to
        if life.lost_to <= published_to:
            life.lost_to = NOT_KNOWN
        for generation in [g for g in partition.lives if g in partition.past]:
            self._forget(partition, number, generation)
        life.join()

    def _forget_unnamed(self, partition: _Partition, number: int) -> None:
        """After a beat: the generations that none ever named."""
        for generation, life in list(partition.lives.items()):
            if generation == partition.beat.generation or generation in partition.past:
                continue
            life.beats_without += 1
            if life.beats_without >= BEATS_UNTIL_FORGOTTEN:
                self._forget(partition, number, generation)

    def _forget(self, partition: _Partition, number: int, generation: int) -> None:
        self._log.drop(number, generation)
        del partition.lives[generation]

    def _lose(self, source: Source) -> None:
        """The limit is about to drop these additions."""
        life = self._partitions[source.partition].lives[source.generation]
        before = source.as_of_before
        life.lost_as_of_ms = before if life.lost_to == NOT_KNOWN else min(life.lost_as_of_ms, before)
        life.lost_to = max(life.lost_to, source.to)

    def _holds(self, user: ItemId, kind: int, prints: U32s, now_ms: int | None) -> Bools:
        """Which of the fingerprints count, by the user's additions of this kind or by the snapshots.

        It looks at the additions first: one that another thread drops meanwhile is in a snapshot by then."""
        text = id_text(user)
        added, sources = self._log.of_user(np.uint64(xxhash.xxh64_intdigest(text.encode())))
        held = [one.snapshots.get(text) for one in self._partitions.values()]
        snapshots = [Snapshot(data, with_updates=True) for data in held if data is not None]
        seen = np.zeros(len(prints), np.bool_)
        for snapshot in snapshots:
            seen |= snapshot.holds_each(prints, is_similar=kind == KIND_SIMILAR)
        if len(added):
            now_s = (time.time_ns() // 1_000_000 if now_ms is None else now_ms) // 1000
            until_s = sources["until_s"]
            counts = (sources["kind"] == kind) & ((until_s == 0) | (until_s > now_s))
            for snapshot in snapshots:
                counts &= ~(
                    (sources["generation"] == snapshot.generation)
                    & (sources["partition"] == snapshot.partition)
                    & (sources["to"] <= snapshot.input_offset)
                )
            seen |= np.isin(prints, added[counts])
        return seen


class _Beat(NamedTuple):
    """What the newest record of a partition in the topic of watermarks says. NOT_KNOWN where it doesn't."""

    generation: int
    published_to: int
    snapshots_to: int
    updates_from: int
    snapshots_log: int
    complete_since_ms: int
    moved_to: Union[str, None]

    @classmethod
    def of(cls, members: dict[str, object], filter_name: str, topic: str | None) -> _Beat:
        """`topic`: the one that the reader reads its snapshots from, if it knows."""
        named = _strings(members, "snapshots_topic").get(filter_name)
        beat = cls(
            _member(members, "generation", 1),
            _member(members, "published_to"),
            _integers(members, "snapshots_to").get(filter_name, NOT_KNOWN),
            _member(members, "updates_from"),
            _integers(members, "snapshots_log").get(filter_name, 0),
            _integers(members, "complete_since_ms").get(filter_name, NOT_KNOWN),
            None if topic is None or named == topic else named,
        )
        if beat.generation == NOT_KNOWN:
            return NO_BEAT  # of a daemon that writes no updates
        return beat


NO_BEAT = _Beat(NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, None)


def _member(members: dict[str, object], name: str, lowest: int = 0) -> int:
    if members.get(name) is None:  # null is as good as absent
        return NOT_KNOWN
    value = integer_of(members, name)
    if value < lowest:
        raise WatermarkError(f"watermark: {name} is {value}; it is {lowest} or more")
    return value


def _by_filter(members: dict[str, object], name: str) -> dict[str, object]:
    """An object's members, without those that are null."""
    given = members.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise WatermarkError(f"watermark: {name}: not an object")
    return {one: value for one, value in given.items() if value is not None}


def _integers(members: dict[str, object], name: str) -> dict[str, int]:
    given = _by_filter(members, name)
    return {one: _member(given, one) for one in given}


def _strings(members: dict[str, object], name: str) -> dict[str, str]:
    strings: dict[str, str] = {}
    for one, value in _by_filter(members, name).items():
        if not isinstance(value, str):
            raise WatermarkError(f"watermark: {name} of {one}: not a string")
        strings[one] = value
    return strings


class _Life:
    """What is known of one generation of a partition's state. NOT_KNOWN where it isn't."""

    __slots__ = (
        "as_of_ms",
        "beats_without",
        "complete",
        "dropped_to",
        "lost_as_of_ms",
        "lost_to",
        "parts",
        "run",
        "settled",
    )

    def __init__(self) -> None:
        self.complete = self.as_of_ms = NOT_KNOWN
        self.settled = NOT_KNOWN  # the highest published_to: the additions below it are gone
        self.run: Union[tuple[int, int, int], None] = None  # from, to, as_of_ms
        self.parts = (NOT_KNOWN, 0)  # the event at this offset, and how many parts of it are known
        self.beats_without = 0  # since the last record; counted while no beat has named it
        self.dropped_to = NOT_KNOWN  # no addition is held whose record ends here or before
        self.lost_to = NOT_KNOWN  # the limit dropped records, and this is the greatest end of them
        self.lost_as_of_ms = NOT_KNOWN  # the lowest `as_of_ms` before one of them

    def take(self, update: Update) -> None:
        """A record has come. If a part is missing, it covers only what comes behind their event."""
        begin, end, part = update.from_offset, update.to_offset, update.part
        if part and self.parts != (begin, part):
            if begin < end:
                self._cover(begin + 1, end, update.as_of_ms)
            return
        if begin == end and update.sections:
            self.parts = (begin, part + 1)
        self._cover(begin, end, update.as_of_ms)

    def _cover(self, begin: int, end: int, as_of_ms: int) -> None:
        if begin <= self.complete:
            self._reach(end, as_of_ms)
        elif self.run is None or begin > self.run[1]:
            self.run = (begin, end, as_of_ms)
        elif end >= self.run[0]:
            run_begin, run_end, run_as_of_ms = self.run
            is_newest = end >= run_end and as_of_ms != NOT_KNOWN
            self.run = (min(begin, run_begin), max(end, run_end), as_of_ms if is_newest else run_as_of_ms)

    def _reach(self, end: int, as_of_ms: int) -> None:
        """The newest time counts, not the greatest: so a clock that was ahead doesn't count for long."""
        if end >= self.complete:
            self.complete = end
            self.as_of_ms = self.as_of_ms if as_of_ms == NOT_KNOWN else as_of_ms

    def join(self) -> None:
        """Takes the run if nothing is missing before it any more."""
        if self.run is not None and self.run[0] <= self.complete:
            _, end, as_of_ms = self.run
            self._reach(end, as_of_ms)
            self.run = None

    def start_over(self) -> None:
        """Older snapshots are about to replace newer ones. Additions still hold what is beyond `settled`."""
        if self.complete != NOT_KNOWN and self.run is None:
            self.run = (self.settled, self.complete, self.as_of_ms)
        self.complete = self.as_of_ms = self.settled = NOT_KNOWN
        self.parts = (NOT_KNOWN, 0)


class _Partition:
    """What the reader keeps of one partition. `lives` and `past` are generations; a past one stays in `past`
    until a beat names it again."""

    __slots__ = ("beat", "beat_log", "lives", "log", "past", "refused", "snapshots", "stands_at")

    def __init__(self) -> None:
        self.beat = NO_BEAT
        self.beat_log = NOT_KNOWN  # of the newest beat with a generation
        self.log = NOT_KNOWN  # that the reader began to read
        self.stands_at = NOT_KNOWN
        self.lives: dict[int, _Life] = {}
        self.past: set[int] = set()
        self.snapshots: dict[str, bytes] = {}
        self.refused: set[str] = set()

    def current(self) -> _Life | None:
        return self.lives.get(self.beat.generation)

    def must_restart(self) -> bool:
        return self.log != self.beat_log

    def settled_to(self) -> int:
        """`published_to` of the newest beat, if the snapshots that it relies on have been read."""
        beat = self.beat
        if self.must_restart() or beat.moved_to is not None:
            return NOT_KNOWN  # `stands_at` is a position of another log
        is_read = NOT_KNOWN < beat.snapshots_to <= self.stands_at
        return beat.published_to if is_read else NOT_KNOWN

    def as_of(self) -> int:
        life = self.current()
        if life is None or life.complete == NOT_KNOWN:
            return NOT_KNOWN
        return life.as_of_ms if life.lost_to == NOT_KNOWN else min(life.as_of_ms, life.lost_as_of_ms)
