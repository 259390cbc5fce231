#!/usr/bin/env python3
"""Names the files that clang-format would change. Usage: format.py [--self-test] [--fix]"""

import pathlib
import subprocess
import sys
import tempfile

from sources import ROOT, listed, tool


def check(paths, *options):
    return subprocess.run([tool("clang-format"), *(options or ("--dry-run", "--Werror")), *paths], cwd=ROOT,
                          capture_output=True, text=True, check=False)


def self_test():
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        good, bad = pathlib.Path(folder) / "good.cc", pathlib.Path(folder) / "bad.cc"
        good.write_text("int f() { return 1; }\n", encoding="utf-8")
        bad.write_text("int f(){return 1;}\n", encoding="utf-8")
        wrong = [name for name, path, status in (("good", good, 0), ("bad", bad, 1)) if check([path]).returncode != status]
    print(f"judged wrongly: {wrong}" if wrong else "2 files judged as they should be")
    return 1 if wrong else 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    paths = listed(".cc", ".h")
    done = check(paths, *(["-i"] if "--fix" in sys.argv else []))
    print(done.stderr or f"{len(paths)} files are as clang-format writes them")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
