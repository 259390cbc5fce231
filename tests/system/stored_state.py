"""What the golden state directory was made of (tests/golden/state-directory): the same records each time."""

import tarfile

from oracle import DAY_MS, Oracle, event
from places import SOURCE

ARCHIVE = SOURCE / "tests" / "golden" / "state-directory" / "97a3f73.tar.gz"
TOPIC = "golden-state-directory"  # the state names it
PARTITIONS = 2
AT = 1_763_700_000_000  # 2025-11-21; the windows last until 2035
FILTERS = [
    {"name": "default", "window_days": 3650, "kinds": {"purchased": {"window_days": 3650}},
     "snapshot": {"topic": f"{TOPIC}-filters", "debounce_ms": 200}},
    {"name": "home", "window_days": 3650, "scenes": ["home_feed"], "snapshot": None},
]
USERS = [f"user-{number}" for number in range(12)] + ["用户/2"]
MARKED = USERS[-3:]  # their last item isn't in a snapshot that was acknowledged
REMOVED = "item-1-0"  # by each user


class Expected:
    """What the state holds: exposures as an oracle, and the rest by user."""

    def __init__(self):
        self.exposed, self.purchased, self.home = Oracle(), {}, {}


def records():
    """(key, value, place) for Topics.produce; what is in it; how many records come before those that leave marks."""
    expected, made = Expected(), []

    def add(user, value):
        made.append((user, value, {"timestamp": AT + len(made)}))

    for day in range(3):
        for user in USERS:
            for number in range(8):
                item, at = f"item-{day}-{number}", AT - (3 - day) * DAY_MS
                scene = "home_feed" if number % 2 else "video"
                add(user, event(user, item, at, scene=scene))
                if item != REMOVED:
                    expected.exposed.add(user, item, at)
                if scene == "home_feed":
                    expected.home.setdefault(user, set()).add(item)
    for user in USERS:
        add(user, event(user, REMOVED, AT - DAY_MS, kind="removed"))
        add(user, event(user, f"bought-{user}", AT, kind="purchased"))
        expected.purchased[user] = f"bought-{user}"
    before_marks = len(made)
    for user in MARKED:
        add(user, event(user, "marked", AT))
        expected.exposed.add(user, "marked", AT)
    return made, expected, before_marks


def pack(directory):
    """Without RocksDB's own logs, which name the machine, and without names and times of whoever packs."""
    def keep(entry):
        name = entry.name.rpartition("/")[2]
        if name.startswith("LOG") or name in ("LOCK", "incoming"):
            return None
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = AT // 1000, 0, 0, "", ""
        return entry
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(ARCHIVE, "w:gz") as archive:
        archive.add(directory, "store", filter=keep)


def unpack(store):
    """As the state directory `store`, which isn't there yet."""
    with tarfile.open(ARCHIVE) as archive:
        for entry in archive.getmembers():
            entry.name = entry.name.replace("store", store.name, 1)
            archive.extract(entry, store.parent)


def check(seend, expected):
    """Answers are as the state says."""
    for user in USERS:
        shown, bought, home = sorted(expected.exposed.items(user)), expected.purchased[user], sorted(expected.home[user])
        assert seend.unseen(user, [*shown, bought, REMOVED, "never"]) == [REMOVED, "never"], user
        assert seend.unseen(user, [*home, bought, "item-0-0", "never"], filter_name="home") == [bought, "item-0-0", "never"]
