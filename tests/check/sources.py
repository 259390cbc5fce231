"""What the checks share: the list of sources, how the build compiles them, and a cache of the files that
passed."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
TOOLS = ROOT / "build" / "check-tools" / "bin"
CACHE = ROOT / "build" / "check-cache"
JOBS = len(os.sched_getaffinity(0))
FOLDERS = ("src", "tests", "benchmarks", "clients")


def tool(name):
    """The path of a tool of the pinned version. Exits with the remedy if the tool is missing."""
    if not (TOOLS / name).exists():
        sys.exit(f"{TOOLS / name} is missing: run `make check`, or scripts/setup.sh --check")
    return TOOLS / name


def listed(*suffixes, folders=FOLDERS):
    """The files of the project, committed or not, with these suffixes."""
    found = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    return [path for path in sorted(set(found)) if path.endswith(suffixes) and (ROOT / path).exists()]


def compiled_files():
    """{file that the compiler gets: (folder, command without ccache, -c, -o and the file, sources relative to
    the root)}"""
    try:
        entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    except OSError:
        sys.exit(f"{BUILD} is not configured: run `cmake --preset release`")
    compiled = {}
    for entry in entries:
        words, kept = shlex.split(entry["command"]), []
        while pathlib.Path(words[0]).name == "ccache":
            words.pop(0)
        skip = False
        for word in words:
            if skip or word in ("-o", "-c"):
                skip = word == "-o"
            elif (pathlib.Path(entry["directory"]) / word).resolve() != pathlib.Path(entry["file"]).resolve():
                kept.append(word)
        # The build may be older than the sources, so a source may be gone.
        sources = [
            source for source in sources_of(pathlib.Path(entry["file"])) if pathlib.Path(source).exists()
        ]
        compiled[entry["file"]] = (
            entry["directory"],
            kept,
            [os.path.relpath(source, ROOT) for source in sources],
        )
    return compiled


def compile_commands():
    """{path relative to the root: (folder, command)}, one entry for each source."""
    return {
        source: (folder, command)
        for folder, command, sources in compiled_files().values()
        for source in sources
    }


def sources_of(compiled):
    """The file itself. For a file that SEEN_UNITY has made: the sources that it includes."""
    if "Unity" not in compiled.parts or not compiled.exists():
        return [compiled]
    return re.findall(r'^#include "([^"]+)"', compiled.read_text(encoding="utf-8"), re.MULTILINE)


class Cache:
    """Remembers which files passed. An entry holds until the bytes of the file, or of something that it
    includes, change. Comments count too, because NOLINT is a comment. So the cache needs no preprocessor. Any
    thread may use it."""

    def __init__(self, name, *settings):
        self.folder = CACHE / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = hashlib.sha256("\0".join(map(str, settings)).encode()).hexdigest()
        self.digests = {}

    def digest(self, path):
        if path not in self.digests:
            try:
                self.digests[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
            except OSError:
                self.digests[path] = "missing"
        return self.digests[path]

    def entry(self, path):
        return self.folder / (hashlib.sha256(str(path).encode()).hexdigest()[:32] + ".json")

    def passed(self, path, command):
        try:
            known = json.loads(self.entry(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return (
            known["settings"] == self.settings
            and known["command"] == command
            and all(self.digest(file) == digest for file, digest in known["files"].items())
        )

    def keep(self, path, command, files):
        known = {
            "settings": self.settings,
            "command": command,
            "files": {str(f): self.digest(str(f)) for f in files},
        }
        self.entry(path).write_text(json.dumps(known), encoding="utf-8")


def read_dependencies(text, folder):
    """The files that a makefile rule names. A compiler writes such a rule with -MD."""
    words = shlex.split(text.replace("\\\n", " ").split(":", 1)[1])
    return [os.path.normpath(os.path.join(folder, word)) for word in words]


def side_by_side(judge, paths):
    """judge(path) -> (complaint or None, whether the cache has it). Prints the complaints; returns (failed,
    known)."""
    failed = known = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for complaint, was_known in pool.map(judge, paths):
            known += was_known
            if complaint:
                failed += 1
                print(complaint, flush=True)
    return failed, known
