#!/usr/bin/env python3
"""Checks the order of the rooms in src: includes go downward only, third-party headers stay in their rooms.

LEVELS lists the rooms from the bottom up. Rooms of one level don't include each other. A wing is a folder of
rooms. Rooms outside it include only its port; WIRING are the rooms that put the daemon and the tool together.

    include_rule.py [--self-test] [SRC]
    include_rule.py --transitive [SRC]     how many project headers each header includes, directly or not: the most first
"""

import pathlib
import re
import sys
import tempfile

LEVELS = [
    ["base"],
    ["model", "http_client"],
    ["decode", "filter", "owner"],
    ["binary"],
    ["similar/port"],
    ["similar/text", "flow"],
    ["similar/groups", "rows"],
    ["state_stream"],
    ["consume"],
    ["similar/consume", "rocks"],
    ["similar/store", "kafka", "store"],
    ["config"],
    ["bulk_load", "query", "topics"],
    ["serve", "similar/daemon"],
    ["app", "tools"],
    ["tools/ask", "tools/history"],
    ["tools/load"],
    ["tools/check", "tools/replay"],
    ["tools/state"],
    ["tools/commands"],
    ["main"],
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
ANY = set(LEVEL_OF)
WINGS = {room.split("/")[0] for room in LEVEL_OF if "/" in room}
WIRING = {"app", "tools", "main"}  # with their rooms inside
PROGRAMS = {"app", "tools"}  # what one program alone is made of

# First part of a third-party include -> the rooms that may include it. Headers that only a .cc may include
# follow below.
THIRD_PARTY = {
    "librdkafka": {"kafka"},
    "rocksdb": {"rocks", "store", "similar/store"},
    "simdjson.h": {"decode", "binary", "similar/port"},
    "xxhash.h": {"model", "filter", "similar/text", "kafka"},
    "unicode": {"similar/text"},
    "re2": {"similar/port"},
    "boost": {"serve"},
    "openssl": {"serve"},
    "curl": {"http_client"},
    "prometheus": {"serve"},
    "nlohmann": {"binary", "owner", "serve", "config", "query", "app", "tools"},
    "google": {"binary"},
    "CLI": {"config", "tools"},
    "spdlog": {"base"},
    "fmt": ANY,
    "tl": {"base", "http_client", "decode", "binary", "similar/port", "config", "app"},
    "zlib.h": {"tools"},
    "zstd.h": {"rows", "tools"},
    "zstd_errors.h": {"tools"},
    "jemalloc": {"app"},
}
SOURCE_FILES_ONLY = {"google", "spdlog", "fmt"}
SYSTEM_FOLDERS = {"arpa", "linux", "net", "netinet", "sys"}
SYSTEM_HEADER = re.compile(r"[a-z_0-9]+(\.h)?")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(path):
    """The room of a path from src: its first folder, or the first two in a wing. Perhaps no room at all."""
    folders = path.split("/")[:-1]
    return "/".join(folders[: 2 if folders and folders[0] in WINGS else 1])


def complaint(room, is_header, bracket, target):
    """Why this file of `room` may not include `target`, or None."""
    if bracket == '"':
        other = room_of(target)
        if other not in LEVEL_OF:
            return "is not a path from src (room/file.h)"
        if other != room and LEVEL_OF[other] >= LEVEL_OF[room]:
            return f"{other} is not below {room}"
        first, wing = room.split("/")[0], other.split("/")[0]
        if {first, wing} == PROGRAMS:
            return f"{first} and {wing} are two programs"
        if wing in WINGS - {first} and first not in WIRING and other != f"{wing}/port":
            return f"{room} is outside the wing {wing}, so it includes only {wing}/port"
        return None
    first = target.split("/")[0]
    if first in THIRD_PARTY:
        if not {room, room.split("/")[0]} & THIRD_PARTY[first]:
            return f"{first} stays in {', '.join(sorted(THIRD_PARTY[first]))}"
        if is_header and first in SOURCE_FILES_ONLY:
            return f"{first} stays in .cc files"
        return None
    if first in SYSTEM_FOLDERS or ("/" not in target and SYSTEM_HEADER.fullmatch(target)):
        return None
    return "is a third-party header that no room is known to hold (tests/include_rule.py)"


def check(src):
    """(number of files read, complaints as `file:line: include: reason`)"""
    files, complaints = 0, []
    for path in sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc")):
        files += 1
        room = room_of(path.relative_to(src).as_posix())
        if room not in LEVEL_OF:
            complaints.append(f"{path}: {room} is not a room")
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            reason = complaint(room, path.suffix == ".h", match[1], match[2])
            if reason:
                line = text.count("\n", 0, match.start(1)) + 1
                complaints.append(f"{path}:{line}: {match[2]}: {reason}")
    return files, complaints


def transitive(src):
    """[(number of other project headers that it includes, header)], the most first."""
    includes = {}
    for path in src.rglob("*.h"):
        text = path.read_text(encoding="utf-8")
        names = [match[2] for match in INCLUDE.finditer(text) if match[1] == '"']
        includes[path.relative_to(src).as_posix()] = [name for name in names if (src / name).is_file()]

    def reached(header):
        seen, left = set(), [header]
        while left:
            new = [name for name in includes[left.pop()] if name not in seen and name != header]
            seen.update(new)
            left += new
        return seen

    return sorted(((len(reached(header)), header) for header in includes), key=lambda row: (-row[0], row[1]))


GOOD = {
    "base/log.cc": '#include "base/log.h"\n#include <spdlog/spdlog.h>\n#include <sys/stat.h>\n#include <vector>\n',
    "flow/flow.h": '#include "decode/event_decoder.h"\n#include "filter/snapshot.h"\n#include "flow/log_port.h"\n',
    "kafka/consumer.cc": '#include <librdkafka/rdkafka.h>\n#include "flow/log_port.h"\n',
    "main/seend.cc": '#include "app/daemon.h"\n',
    "flow/groups.cc": '#include "similar/port/item_groups.h"\n',
    "similar/groups/group_flow.cc": '#include "similar/text/simhash.h"\n#include "flow/flow.h"\n',
    "tools/commands/seenctl.cc": '#include "tools/commands.h"\n#include "tools/ask/http_client.h"\n',
    "app/daemon.cc": '#include "similar/daemon/items.h"\n',
}
BAD = {
    "upward": ("model/delta.h", '#include "flow/log_port.h"\n'),
    "sideways": ("kafka/consumer.cc", '  #  include "store/partition_store.h"\n'),
    "siblings": ("decode/a.cc", '#include "filter/snapshot.h"\n'),
    "into a wing": ("query/a.cc", '#include "similar/text/simhash.h"\n'),
    "upward in a wing": ("similar/text/a.cc", '#include "similar/groups/group_flow.h"\n'),
    "a wing itself": ("app/a.cc", '#include "similar/a.h"\n'),
    "upward in the tool": ("tools/replay/a.cc", '#include "tools/state/state_rows.h"\n'),
    "the other program": ("tools/ask/a.cc", '#include "app/daemon.h"\n'),
    "not from src": ("store/a.cc", '#include "store.h"\n'),
    "foreign library": ("flow/flow.cc", "#include <rocksdb/db.h>\n"),
    "library in a header": ("base/log.h", "#include <spdlog/spdlog.h>\n"),
    "unknown library": ("app/a.cc", "#include <absl/strings/cord.h>\n"),
    "unknown room": ("utils/a.h", "#include <vector>\n"),
}


def self_test():
    """Puts each kind of violation into a clean tree. Returns the violations that the check missed."""
    missed = []
    for name, extra in [("clean", None), *BAD.items()]:
        with tempfile.TemporaryDirectory() as folder:
            src = pathlib.Path(folder)
            for path, text in [*GOOD.items(), *([extra] if extra else [])]:
                (src / path).parent.mkdir(parents=True, exist_ok=True)
                (src / path).write_text(text, encoding="utf-8")
            _, complaints = check(src)
            if len(complaints) != (1 if extra else 0):
                missed.append(f"{name}: {complaints}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("a.h", '#include "b.h"\n'),
            ("b.h", '#include "c.h"\n#include "a.h"\n#include <map>\n'),
            ("c.h", ""),
        ):
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        counts = transitive(pathlib.Path(folder))
        if counts != [(2, "a.h"), (2, "b.h"), (0, "c.h")]:
            missed.append(f"transitive: {counts}")
    return missed


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if "--self-test" in sys.argv:
        missed = self_test()
        print("\n".join(missed) or f"{len(BAD) + 1} trees judged as they should be")
        return 1 if missed else 0
    src = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent / "src"
    if "--transitive" in sys.argv:
        print("\n".join(f"{count:3} {header}" for count, header in transitive(src)))
        return 0
    files, complaints = check(src)
    print("\n".join(complaints) or f"{files} files keep the order of the rooms")
    return 1 if complaints or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
