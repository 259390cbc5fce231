#!/usr/bin/env python3
"""Each header of src compiles alone. Usage: headers.py [--self-test]

The build proves this for each header that a compiled file includes first. Where SEEN_UNITY joins several
sources, only the first include of the first source counts. This script compiles the other headers. It skips a
header that has passed, until the header or something that it includes changes."""

import pathlib
import re
import subprocess
import sys
import tempfile

from sources import ROOT, Cache, compile_commands, compiled_files, listed, read_dependencies, side_by_side

FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def proven_by_the_build():
    """Headers that a compiled file of src includes before anything else."""
    proven = set()
    for _, _, sources in compiled_files().values():
        if sources and sources[0].startswith("src/"):
            first = FIRST_INCLUDE.search((ROOT / sources[0]).read_text(encoding="utf-8"))
            if first and first[1] == '"':
                proven.add(f"src/{first[2]}")
    return proven


def compile_alone(header, folder, command):
    """(the compiler's complaint or None, what the header includes)"""
    with tempfile.NamedTemporaryFile(suffix=".d") as dependencies:
        done = subprocess.run(
            [
                *command,
                "-O0",
                "-w",
                "-fsyntax-only",
                "-MD",
                "-MF",
                dependencies.name,
                "-MT",
                "header",
                "-x",
                "c++",
                "-include",
                str(header),
                "/dev/null",
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return f"{header} does not compile alone:\n{done.stderr}", []
        text = pathlib.Path(dependencies.name).read_text(encoding="utf-8")
        return None, [file for file in read_dependencies(text, folder) if file != "/dev/null"]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        good, bad = pathlib.Path(folder) / "good.h", pathlib.Path(folder) / "bad.h"
        good.write_text("#pragma once\n#include <string>\nstd::string Name();\n", encoding="utf-8")
        bad.write_text("#pragma once\nstd::string Name();\n", encoding="utf-8")
        command = ["c++", "-std=c++20"]
        complaint, files = compile_alone(good, folder, command)
        wrong = (
            complaint is not None or str(good) not in files or compile_alone(bad, folder, command)[0] is None
        )
    print("judged wrongly" if wrong else "2 headers judged as they should be")
    return 1 if wrong else 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    commands, headers = compile_commands(), listed(".h", folders=["src"])
    of_room = {
        path.split("/")[1]: entry for path, entry in sorted(commands.items()) if path.startswith("src/")
    }
    proven = proven_by_the_build()
    alone = [header for header in headers if header not in proven]
    any_room = of_room.get("app") or next(iter(of_room.values()))
    cache = Cache("headers")

    def judge(header):
        folder, command = of_room.get(header.split("/")[1], any_room)
        if cache.passed(header, command):
            return None, True
        complaint, files = compile_alone(ROOT / header, folder, command)
        if complaint is None:
            cache.keep(header, command, files)
        return complaint, False

    failed, known = side_by_side(judge, alone)
    print(
        f"{len(headers)} headers: {len(headers) - len(alone)} by the build, {known} unchanged, "
        f"{len(alone) - known} compiled, {failed} do not compile alone"
    )
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
