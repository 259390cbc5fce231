"""seenctl and seen-history as processes. Options of seenctl are keywords: topic="x" is `--topic x`,
json=True is `--json`, and from_=path is `--from path`."""

import json
import os
import subprocess

from places import SEENCTL, SOURCE

CONVERT = SOURCE / "build" / "convert-tools" / "bin"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE / "clients" / "python" / "src")}


def command(*arguments, **options):
    words = [str(SEENCTL), *map(str, arguments)]
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value not in (None, False):
            words += [option] if value is True else [option, str(value)]
    return words


def run(*arguments, status=0, timeout_s=120, stdin=None, environment=None, **options):
    """Runs seenctl and returns (standard output, standard error). Fails unless the exit status is `status`; with
    None any but 0. `stdin`: text or bytes."""
    done = subprocess.run(
        command(*arguments, **options),
        capture_output=True,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        timeout=timeout_s,
        env={**os.environ, **(environment or {})},
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    expected = done.returncode == status if status is not None else done.returncode
    assert expected, (done.returncode, out[-2000:], err[-3000:])
    return out, err


def fails(*arguments, **options):
    """Whether seenctl ends with another exit status than 0."""
    return subprocess.run(command(*arguments, **options), capture_output=True, timeout=120).returncode != 0


def run_json(*arguments, status=0, **more):
    return json.loads(run(*arguments, status=status, json=True, quiet=True, **more)[0])


def begin(*arguments, output=subprocess.DEVNULL, environment=None, **options):
    """The process of seenctl. `output`: where its two outputs go."""
    return subprocess.Popen(
        command(*arguments, **options),
        stdout=output,
        stderr=output,
        env={**os.environ, **(environment or {})},
    )


def digest(seend, *more, **options):
    """The digest of a running daemon, after its checkpoints reached the end of the topic."""
    return run_json("digest", *more, http=seend.url, wait=True, **{"timeout": 60, **options})


def sums(report):
    """{filter: (digest, users, items, removals)} over all partitions."""
    return {f["filter"]: (f["digest"], f["users"], f["items"], f["removals"]) for f in report["sum"]}


def by_partition(report):
    return {(p["partition"], f["filter"]): f["digest"] for p in report["partitions"] for f in p["filters"]}


def seen_history(*arguments, output=subprocess.PIPE):
    command = [str(CONVERT / "python3"), "-m", "seen_history", *map(str, arguments)]
    return subprocess.run(
        command, stdout=output, stderr=subprocess.PIPE, timeout=60, check=False, env=ENVIRONMENT
    )


def program_in(folder):
    """A folder for PATH with the program seen-history."""
    folder.mkdir(exist_ok=True)
    program = folder / "seen-history"
    program.write_text(f'#!/bin/sh\nexec "{CONVERT}/python3" -m seen_history "$@"\n')
    program.chmod(0o755)
    return folder
