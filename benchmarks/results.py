"""build/bench/results.json: all results by contender and part, so that each part can be measured alone."""

import json
import os
import pathlib
import platform
import re
import subprocess
import time

import paths


def load():
    return json.loads(paths.RESULTS.read_text()) if paths.RESULTS.exists() else {}


def save(results):
    paths.WORK.mkdir(parents=True, exist_ok=True)
    beside = paths.RESULTS.with_suffix(".new")
    beside.write_text(json.dumps(results, indent=1))
    beside.replace(paths.RESULTS)


def put(path, value):
    """Merges one value, at results[a][b][c] for path (a, b, c)."""
    results = load()
    place = results
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = value
    save(results)


def commit():
    """The short name of the measured commit. A + follows if files have changed since."""

    def git(*words):
        return subprocess.run(
            ["git", "-C", str(paths.ROOT), *words], capture_output=True, text=True
        ).stdout.strip()

    name = git("rev-parse", "--short", "HEAD")
    return name + "+" * bool(name and git("status", "--porcelain", "--untracked-files=no"))


def stamp():
    """What a table says of its run: its commit, and the machine with the day."""
    return {"commit": commit(), "machine": machine()}


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    release = pathlib.Path("/etc/os-release").read_text()
    return {
        "cpu": cpu[1] if cpu else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**20),
        "kernel": platform.release().split("-")[0],
        "system": re.search(r'PRETTY_NAME="(.*)"', release)[1],
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
    }
