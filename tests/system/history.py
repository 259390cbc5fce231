"""A day of a feed, seeded: items that are served, shown, shown late, taken back and shown again. The module
also works out the expected result, from the documentation alone."""

import collections

from hashes import fingerprint

DAY_MS = 86_400_000
MINUTE_MS = 60_000
ITEMS = 200_000
PAGE = 10

Served = collections.namedtuple("Served", "user_id item_id served_at scene position request_id")


class History:
    """`pages` pages of ten items; seven items of each page are shown. The results are `records`, in the order
    of their timestamps, and the oracle: `seen` and `unexposed`.

    An item is shown between seconds and ten minutes after it was served. One in a hundred is shown, or only
    reported, hours later: too late to count as shown in time. Some pages reach Kafka after the first of their
    exposures. Every seventieth shown item is taken back, and one in ten of these is shown once more. One in a
    hundred of the items that were never shown is served again hours later, and then shown. Some users end
    with nothing seen."""

    def __init__(self, chance, day_start_ms, *, pages, users, ttl_s, grace_s):
        self.chance, self.start, self.users = chance, day_start_ms, users
        self.ttl_ms, self.grace_ms = ttl_s * 1000, grace_s * 1000
        self.width_ms = max(1, ttl_s // 6) * 1000
        self.records = []  # (timestamp, user, value)
        self.seen = collections.defaultdict(set)  # user -> items
        self.not_seen = collections.defaultdict(list)  # user -> items never shown, or taken back for good
        self.unexposed = {}  # (user, item, served_at) -> Served
        self.counts = collections.Counter()
        self._served_of = collections.Counter()  # user -> number of items served so far
        for number in range(pages):
            self._page(number)
        for number in range(users // 100):
            self._left_with_nothing(number)
        self._end()
        self.records.sort(key=lambda record: record[0])

    def due(self, served_at):
        """The partition time after which an exposure is too late."""
        bucket_end = (served_at // self.width_ms + 1) * self.width_ms
        return bucket_end + self.ttl_ms + self.grace_ms

    def _page(self, number):
        random = self.chance.random
        at = self.start + int(
            random() * (20 * 60 * MINUTE_MS)
        )  # the last four hours are left for late events
        user = f"user-{int(self.users * random() ** 1.5)}"
        page = Served(user, None, at, "home" if random() < 0.7 else "video", None, f"request-{number}")
        first = self._served_of[user]
        self._served_of[user] += PAGE
        seed = int(user[5:]) * 7919
        items = [
            f"item-{(seed + (first + i) * 104_729) % ITEMS}" for i in range(PAGE)
        ]  # coprime: no user gets an item twice
        arrives = at + (30_000 if random() < 0.01 else 0)
        listed = ",".join(f'{{"item_id":"{item}","position":{i}}}' for i, item in enumerate(items))
        self.records.append(
            (
                *(arrives, user),
                f'{{"kind":"served","user_id":"{user}","exposed_at":{at},"scene":"{page.scene}",'
                f'"request_id":"{page.request_id}","items":[{listed}]}}',
            )
        )
        self.counts["served"] += PAGE
        shown = set(self.chance.sample(range(PAGE), 7))
        for position, item in enumerate(items):
            served = page._replace(item_id=item, position=position)
            if position in shown:
                self._shown(served)
            else:
                self._never_shown(served)

    def _left_with_nothing(self, number):
        """Adds one user who was shown nothing, and one user whose only item was taken back."""
        at = self.start + (60 + number % 600) * MINUTE_MS
        for name in ("unlucky", "thorough"):
            user = f"{name}-{number}"
            served = Served(user, "item-1", at, "home", 0, f"request-{user}")
            self._record("served", served, at)
            self.not_seen[user].append("item-1")
            if name == "unlucky":
                self._tell_of(served)
                continue
            self._expose(served, at + MINUTE_MS, at + MINUTE_MS)
            self._record("removed", served, at + 2 * MINUTE_MS)

    def _record(self, kind, served, at, arrives=None):
        of_kind = "" if kind == "exposed" else f'"kind":"{kind}",'
        shown = f'"exposed_at":{at},"scene":"{served.scene}"'
        if kind != "removed":
            shown += f',"position":{served.position},"request_id":"{served.request_id}"'
        value = f'{{{of_kind}"user_id":"{served.user_id}","item_id":"{served.item_id}",{shown}}}'
        self.records.append((arrives or at, served.user_id, value))
        self.counts[kind] += 1

    def _expose(self, served, exposed_at, arrives):
        self._record("exposed", served, exposed_at, arrives)

    def _shown(self, served):
        random = self.chance.random
        if random() < 0.01:
            arrives = served.served_at + 120 * MINUTE_MS + int(random() * 60 * MINUTE_MS)
            exposed_at = arrives if random() < 0.5 else served.served_at + 5_000
            self._expose(served, exposed_at, arrives)
            assert arrives > self.due(served.served_at) + MINUTE_MS
            self._tell_of(served)
            self.counts["too late"] += 1
            self.seen[served.user_id].add(served.item_id)
            return
        exposed_at = served.served_at + 1_000 + int(random() * 10 * MINUTE_MS)
        arrives = exposed_at + int(random() * 2_000)
        assert arrives < self.due(served.served_at) - MINUTE_MS
        self._expose(served, exposed_at, arrives)
        if self.counts["exposed"] % 70:
            self.seen[served.user_id].add(served.item_id)
            return
        removed_at = arrives + 1_000 + int(random() * 60 * MINUTE_MS)
        self._record("removed", served, removed_at)
        if random() < 0.1:
            again = removed_at + 1_000 + int(random() * 60 * MINUTE_MS)
            self._expose(served, again, again)
            self.seen[served.user_id].add(served.item_id)
            self.counts["shown again"] += 1
        else:
            self.not_seen[served.user_id].append(served.item_id)

    def _never_shown(self, served):
        self._tell_of(served)
        if self.chance.random() >= 0.01:
            self.not_seen[served.user_id].append(served.item_id)
            return
        at = served.served_at + 150 * MINUTE_MS
        again = served._replace(served_at=at, request_id=served.request_id + "-again", position=0)
        self._record("served", again, at)
        self.counts["served again"] += 1
        self._expose(again, at + 60_000, at + 61_000)
        self.seen[served.user_id].add(served.item_id)

    def _tell_of(self, served):
        self.unexposed[served.user_id, served.item_id, served.served_at] = served

    def _end(self):
        """Adds exposures of other users, so that the partition time of every partition reaches the end of the
        day."""
        for i in range(64):
            at = self.start + DAY_MS - 1000 + i
            ender = Served(f"ender-{i}", "last-item", at, "home", 0, "request-end")
            self._expose(ender, at, at)
            self.seen[ender.user_id].add(ender.item_id)

    def fingerprints(self, user):
        return {fingerprint(item) for item in self.seen.get(user, ())}

    def all_users(self):
        return set(self.seen) | set(self.not_seen)
