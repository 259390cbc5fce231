#!/usr/bin/env python3
"""Names the files that clang-format or ruff would change. Usage: format.py [--self-test] [--fix]"""

import pathlib
import subprocess
import sys
import tempfile

from sources import ROOT, listed, tool

# Suffixes, the command that judges, the command that writes.
FORMATTERS = (
    ((".cc", ".h"), ("clang-format", "--dry-run", "--Werror"), ("clang-format", "-i")),
    ((".py",), ("ruff", "format", "--check"), ("ruff", "format")),
)


def run(command, paths):
    program, *options = command
    return subprocess.run(
        [tool(program), *options, *paths], cwd=ROOT, capture_output=True, text=True, check=False
    )


def self_test():
    texts = {
        ".cc": ("int f() { return 1; }\n", "int f(){return 1;}\n"),
        ".py": ("x = (1, 2)\n", "x = (1,2)\n"),
    }
    wrong = []
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        for suffixes, judges, _ in FORMATTERS:
            for text, is_good in zip(texts[suffixes[0]], (True, False)):
                path = pathlib.Path(folder) / f"{is_good}{suffixes[0]}"
                path.write_text(text, encoding="utf-8")
                if (run(judges, [path]).returncode == 0) != is_good:
                    wrong.append(path.name)
    print(f"judged wrongly: {wrong}" if wrong else "4 files judged as they should be")
    return 1 if wrong else 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    status = 0
    for suffixes, judges, writes in FORMATTERS:
        paths = listed(*suffixes)
        done = run(writes if "--fix" in sys.argv else judges, paths)
        said = (done.stderr + done.stdout).strip() if done.returncode else ""
        print(said or f"{len(paths)} files are as {judges[0]} writes them")
        status |= done.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
