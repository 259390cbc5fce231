"""The records of the golden state directory (tests/golden/state-directory). They are the same each time."""

import tarfile

from oracle import DAY_MS, Oracle, event
from places import SOURCE

ARCHIVE = SOURCE / "tests" / "golden" / "state-directory" / "97a3f73.tar.gz"
TOPIC = "golden-state-directory"  # the stored state contains this name
PARTITIONS = 2
AT = 1_763_700_000_000  # 2025-11-21; the windows last until 2035
FILTERS = [
    {
        "name": "default",
        "window_days": 3650,
        "kinds": {"purchased": {"window_days": 3650}},
        "snapshot": {"topic": f"{TOPIC}-filters", "debounce_ms": 200},
    },
    {"name": "home", "window_days": 3650, "scenes": ["home_feed"], "snapshot": None},
]
USERS = [f"user-{number}" for number in range(12)] + ["用户/2"]
MARKED = USERS[-3:]  # no acknowledged snapshot has their last item
REMOVED = "item-1-0"  # each user takes this item back


class Expected:
    """The expected content of the state: exposures as an oracle, purchased and home items by user."""

    def __init__(self):
        self.exposed, self.purchased, self.home = Oracle(), {}, {}


def records():
    """(records for Topics.produce, what the state must hold, how many records come before those that leave
    marks)"""
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
    """Packs the directory without RocksDB's logs, which name the machine. It also removes file times and the
    names of users."""

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
    """Unpacks the state into the directory `store`, which must not exist yet."""
    with tarfile.open(ARCHIVE) as archive:
        for entry in archive.getmembers():
            entry.name = entry.name.replace("store", store.name, 1)
            archive.extract(entry, store.parent)


def check(seend, expected):
    """Checks that the daemon answers as the state says."""
    for user in USERS:
        shown, bought, home = (
            sorted(expected.exposed.items(user)),
            expected.purchased[user],
            sorted(expected.home[user]),
        )
        assert seend.unseen(user, [*shown, bought, REMOVED, "never"]) == [REMOVED, "never"], user
        assert seend.unseen(user, [*home, bought, "item-0-0", "never"], filter_name="home") == [
            bought,
            "item-0-0",
            "never",
        ]
