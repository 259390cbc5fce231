"""The events of the equality test, seeded: history in files, one file a day, and live events. For some users,
this module also works out what they have seen, from docs/SEEN.md alone.

Every run must give the same result, but history and live events interleave differently in each run. Within a
day the order in the log decides. So on one day, different streams never show and take back the same item:

- History is of yesterday and before, live events are of today.
- Some users, named g, end without an id in the state: they are erased for good, or have nothing but removals.
- The last file is an archive's copy of the first live events. It leaves out users who take something back
  today."""

import collections

from hashes import fingerprint
from oracle import DAY_MS

# Not near the end of a window of 7 or 30 days, so that midnight may pass.
DAYS_BACK = (20, 17, 14, 11, 4, 3, 2, 1)
FILTERS = {"default": 30, "short": 7, "bought": 30}  # name -> window_days
BOUGHT_DAYS = 30
TAKES_BACK = 10  # every tenth user does so today
# The events of the users named g, by days ago. In this order: erased in history; erased live; an item that is
# shown before the window of a week and taken back within it; an item that is taken back and was never shown.
GONE = (
    {17: "exposed", 4: "exposed", 1: "erased"},
    {17: "exposed", 4: "exposed", 0: "erased"},
    {14: "exposed", 3: "removed"},
    {3: "removed"},
)


class Events:
    """`folder`/history: files to replay. `folder`/live.jsonl: live events, in their order. `counts`: events
    by kind."""

    def __init__(self, folder, chance, count, now_ms):
        self.chance, self.history, self.live = chance, folder / "history", folder / "live.jsonl"
        self.users, self.now_ms, self.today = max(200, count // 50), now_ms, now_ms // DAY_MS
        self.items, self.number = max(2_000, count // 100), 0
        self.counts, self.last_shown = collections.Counter(), {}
        self.sample = {f"u{i}" for i in range(0, self.users, max(1, self.users // 400))} | {
            f"g{i}" for i in range(12)
        }
        self.told = collections.defaultdict(list)  # events of the sample: (day, order, kind, item)
        self.history.mkdir()
        self.gone = max(40, count // 2_000)
        self.live_count = count // 5
        copies = self.live_count // 10
        of_gone = sum(sum(day > 0 for day in GONE[i % len(GONE)]) for i in range(self.gone))
        a_day, left = divmod(count - self.live_count - copies - of_gone, len(DAYS_BACK))
        for back in DAYS_BACK:
            with open(self.history / f"{100 - back:03}-days.jsonl", "w", encoding="utf-8") as file:
                of_day = a_day + (left if back == DAYS_BACK[-1] else 0)
                file.writelines(self._events_of_gone(back))
                for i in range(of_day):
                    at = (self.today - back) * DAY_MS + i * DAY_MS // of_day
                    file.write(self._event(at, False))
        self._write_live(copies)
        self.history_count = count - self.live_count

    def _write_live(self, copies):
        left = copies
        with (
            open(self.live, "w", encoding="utf-8") as live,
            open(self.history / "200-copies.jsonl", "w", encoding="utf-8") as copy,
        ):
            erasures = list(self._events_of_gone(0))
            live.writelines(erasures)
            for i in range(self.live_count - len(erasures)):
                line = self._event(max(self.today * DAY_MS, self.now_ms - self.live_count + i), True)
                live.write(line)
                if left and not self._takes_back(line[12 : line.index('"', 12)]):
                    copy.write(line)
                    left -= 1
        assert left == 0

    def _events_of_gone(self, back):
        for i in range(self.gone):
            kind = GONE[i % len(GONE)].get(back)
            if kind is None:
                continue
            at = (
                (self.today - back) * DAY_MS
                if back
                else max(self.today * DAY_MS, self.now_ms - self.live_count)
            )
            self.counts[kind] += 1
            self.number += 1
            item = None if kind == "erased" else f"g{i}"
            self._note(f"g{i}", at, kind, item)
            yield self._line(f"g{i}", at, kind, item)

    @staticmethod
    def _line(user, at, kind, item):
        of_item = f',"item_id":"{item}"' if item else ""
        of_kind = f',"kind":"{kind}"' if kind != "exposed" else ""
        return f'{{"user_id":"{user}"{of_item},"exposed_at":{at}{of_kind}}}\n'

    @staticmethod
    def _takes_back(user):
        return int(user[1:]) % TAKES_BACK == 0

    def _event(self, at, is_live):
        """A line that begins with {"user_id":"u7","""
        random = self.chance.random
        user = f"u{int(self.users * random() ** 1.3)}"
        kind, draw = "exposed", random()
        if draw < 0.03:
            kind = "purchased"
        elif draw < 0.05:
            kind = "served"
        elif draw < 0.08 and user in self.last_shown and (not is_live or self._takes_back(user)):
            kind = "removed"
        elif draw < 0.0802 and (not is_live or self._takes_back(user)):
            kind = "erased"
        self.counts[kind] += 1
        self.number += 1
        if kind == "erased":
            item = None
        elif kind == "removed":
            item = self.last_shown[user]
        elif kind == "served":
            item = f"s{int(self.items * random())}"
        elif is_live:
            item = f"l{int(self.items * random())}"
        else:
            # skewed: some are shown again, as the filter "often" needs 3 exposures
            item = f"h{int(self.items * random() ** 2)}"
        if kind == "exposed":
            self.last_shown[user] = item
        self._note(user, at, kind, item)
        return self._line(user, at, kind, item)

    def _note(self, user, at, kind, item):
        if user in self.sample:
            self.told[user].append((at // DAY_MS, self.number, kind, item))

    def seen(self, user, name):
        """The items that the filter `name` must report as seen."""
        taken, erased = {}, (0, 0)
        for day, order, kind, item in self.told[user]:
            if kind == "removed":
                taken[item] = max(taken.get(item, (0, 0)), (day, order))
            elif kind == "erased":
                erased = max(erased, (day, order))
        shown = {"default": ("exposed",), "short": ("exposed",), "bought": ("exposed", "purchased")}[name]
        return {
            item
            for day, order, kind, item in self.told[user]
            if kind in shown
            and (day, order) > taken.get(item, (0, 0))
            and (day, order) > erased
            and day >= self.today - (BOUGHT_DAYS if kind == "purchased" else FILTERS[name])
        }

    def check(self, seend):
        """(false negatives, number of seen items that it asked about) over all users of the sample and all
        filters."""
        missed, asked = [], 0
        for user in sorted(self.told):
            items = sorted({item for _, _, kind, item in self.told[user] if kind in ("exposed", "purchased")})
            strangers = [f"never-{i}" for i in range(20)]
            for name in FILTERS:
                seen = self.seen(user, name)
                unseen = set(seend.unseen(user, [*items, *strangers], filter_name=name))
                missed += [(name, user, item) for item in seen & unseen]
                asked += len(seen)
                prints = {fingerprint(item) for item in seen}
                wrong = [
                    item
                    for item in (*items, *strangers)
                    if item not in seen and item not in unseen and fingerprint(item) not in prints
                ]
                assert not wrong, f"{name}, {user}: not seen and called so: {wrong[:5]}"
        return missed, asked
