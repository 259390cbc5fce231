#!/usr/bin/env python3
"""Rolling upgrades from an earlier version, under load, against a real Kafka. Usage: upgrade.py [--build-only
| --store]

Builds the earlier version once, in build/upgrade, from the repository's own history. Then it runs
tests/system/upgrade with these binaries and those of build/release. With --store it runs no test: it makes
the golden state directory again (tests/golden/state-directory/README.md)."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from running.process import JOBS, PYTHON, say  # noqa: E402
from running.tests import python_with  # noqa: E402

# The last commit in which the daemons of a group don't share their state. It knows neither `state` nor
# `cluster`.
EARLIER = "97a3f73e87c3adb186fe64e6a51bd6cf46027a6a"
FOLDER = ROOT / "build" / "upgrade"
BUILD = FOLDER / "build"
PROGRAMS = ("seend", "seenctl")


def git(*arguments, **more):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False, **more)


def unpack():
    """Unpacks the earlier version's sources, with today's file times. With the commit's times CMake may
    configure for ever."""
    if git("cat-file", "-e", f"{EARLIER}^{{commit}}").returncode != 0:
        sys.exit(
            f"commit {EARLIER[:7]}, the earlier version, is not in this repository. A shallow clone lacks it: "
            "run `git fetch --unshallow`. Sources without a repository have no history to build it from."
        )
    archive = git("archive", "--format=tar", EARLIER)
    if archive.returncode != 0:
        sys.exit(f"git archive {EARLIER[:7]}: {archive.stderr.decode()}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "source").mkdir(parents=True)
    subprocess.run(["tar", "-xm", "-C", str(FOLDER / "source")], input=archive.stdout, check=True)


def build():
    """A stamp file names the commit of build/upgrade, so that a stopped build continues where it was."""
    stamp = FOLDER / "commit.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != EARLIER:
        unpack()
        stamp.write_text(EARLIER, encoding="utf-8")
    log = FOLDER / "build.log"
    with open(log, "ab") as output:
        folders = ["-S", FOLDER / "source", "-B", BUILD, "-G", "Ninja"]
        options = ["SEEN_TESTS=OFF", "SEEN_UNITY=8", "CMAKE_BUILD_TYPE=RelWithDebInfo"]
        options.append("CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2")
        jobs = ["--parallel", os.environ.get("JOBS", JOBS)]
        for command in (
            ["cmake", *folders, *(f"-D{option}" for option in options)],
            ["cmake", "--build", BUILD, *jobs, "--target", *PROGRAMS],
        ):
            done = subprocess.run([str(word) for word in command], stdout=output, stderr=output, check=False)
            if done.returncode != 0:
                end = "\n".join(log.read_text(errors="replace").splitlines()[-60:])
                sys.exit(f"{end}\nfailed; see {log}")


def run(command):
    environment = {**os.environ, **PYTHON, "SEEN_EARLIER_BUILD_DIR": str(BUILD)}
    return subprocess.run([str(word) for word in command], cwd=ROOT, env=environment, check=False).returncode


def main():
    if set(sys.argv[1:]) - {"--build-only", "--store"}:
        sys.exit(__doc__)
    start = time.monotonic()
    build()
    say(f"{EARLIER[:7]} is built: {time.monotonic() - start:.0f} s")
    if "--build-only" in sys.argv:
        return 0
    start, python = time.monotonic(), python_with("confluent_kafka, numpy, pytest")
    tests = ROOT / "tests" / "system" / "upgrade"
    if "--store" in sys.argv:
        return run([python, tests / "make_state_directory.py"])
    status = run([python, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", tests])
    say(f"rolling upgrades: {time.monotonic() - start:.0f} s, {'passed' if status == 0 else 'FAILED'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
