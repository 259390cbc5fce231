#!/usr/bin/env python3
"""Prints how large the project is: lines and files of src and its rooms, lines of tests, words of docs, and
the CPU seconds of a cold build if tests/run.py just made one. A second column has the last release, or without
one the commit before this change. It judges nothing: without Git or history that column is empty."""

import collections
import io
import pathlib
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLD_BUILD = ROOT / "build" / "test-logs" / "cold-build-cpu-s.txt"  # tests/run.py writes it
HALLWAY_LINES = 40
TESTS = {".cc", ".h", ".py", ".c", ".java"}


def git(*words):
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def name_of(*words):
    return (git(*words) or b"").decode().strip()


def before():
    """What to compare with: the last tag, where the branch left origin/main, or the commit before."""
    head, fork = name_of("rev-parse", "HEAD"), name_of("merge-base", "HEAD", "origin/main")
    tag = name_of("describe", "--tags", "--abbrev=0")
    return tag or (fork if fork != head else "") or name_of("rev-parse", "--verify", "-q", "HEAD~1")


def files_now():
    names = name_of("ls-files", "-z", "src", "tests", "docs").split("\0")
    for path in (ROOT / name for name in names if name):
        if path.is_file():
            yield path.relative_to(ROOT), path.read_bytes()


def files_of(commit):
    packed = git("archive", "--format=tar", commit, "src", "tests", "docs")
    with tarfile.open(fileobj=io.BytesIO(packed or b"")) as archive:
        for member in archive:
            if member.isfile():
                yield pathlib.PurePosixPath(member.name), archive.extractfile(member).read()


def sizes(files):
    """{row of the table: its numbers}. A room has lines, files and files under 40 lines; the others have one."""
    rows = collections.defaultdict(collections.Counter)
    for path, content in files:
        lines, (top, *folders, _) = content.count(b"\n"), path.parts
        if top == "src" and path.suffix in (".cc", ".h"):
            places = {"/".join([top, *folders[:depth]]) for depth in range(len(folders) + 1)}
            for place in places:
                rows[place].update(lines=lines, files=1, hallways=int(lines < HALLWAY_LINES))
        elif top == "tests" and path.suffix in TESTS:
            rows["tests"].update(lines=lines)
        elif top == "docs" and path.suffix == ".md" and "zh" not in folders:
            rows["words of docs"].update(lines=len(content.split()))
    return rows


def text_of(row):
    return "".join(f"{row[name]:>9,}" if name in row else " " * 9 for name in ("lines", "files", "hallways"))


def main():
    earlier = before()
    try:
        old = sizes(files_of(earlier)) if earlier else {}
    except (tarfile.TarError, OSError):
        old = {}
    new = sizes(files_now())
    print(f"{'':<24}{'now':>27}{'before: ' + earlier[:12] if old else '':>27}")
    print(f"{'':<24}" + f"{'lines':>9}{'files':>9}{f'under {HALLWAY_LINES}':>9}" * 2)
    for name in sorted({*new, *old}):
        print(f"{name:<24}{text_of(new.get(name, {}))}{text_of(old.get(name, {}))}".rstrip())
    if COLD_BUILD.exists():
        print(f"CPU seconds of a cold build: {float(COLD_BUILD.read_text(encoding='utf-8')):.0f}")


if __name__ == "__main__":
    main()
