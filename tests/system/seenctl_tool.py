"""seenctl as a process. A test waits for its end or lets it run."""

import json
import subprocess

from places import SEENCTL


def run(*arguments, status=0, timeout_s=120):
    """Runs seenctl and returns (standard output, standard error). Fails unless the exit status is
    `status`."""
    done = subprocess.run(
        [str(SEENCTL), *map(str, arguments)], capture_output=True, text=True, timeout=timeout_s
    )
    assert done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout, done.stderr


def run_json(*arguments, status=0):
    return json.loads(run(*arguments, "--json", "--quiet", status=status)[0])


def begin(*arguments):
    return subprocess.Popen(
        [str(SEENCTL), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def digest(seend, *more):
    """The digest of a running daemon, after its checkpoints reached the end of the topic."""
    return run_json("digest", "--http", f"http://{seend.address}", "--wait", "--timeout", 60, *more)


def sums(report):
    """{filter: (digest, users, items, removals)} over all partitions."""
    return {f["filter"]: (f["digest"], f["users"], f["items"], f["removals"]) for f in report["sum"]}


def by_partition(report):
    return {(p["partition"], f["filter"]): f["digest"] for p in report["partitions"] for f in p["filters"]}
