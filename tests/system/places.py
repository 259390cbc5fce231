"""Paths, and small helpers that every module needs."""

import os
import pathlib
import re
import socket
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SEEN_BUILD_DIR", SOURCE / "build" / "release")).resolve()
KAFKA_LIBS = pathlib.Path(os.environ.get("SEEN_KAFKA_LIBS", SOURCE / "build" / "kafka-libs")).resolve()
SEEND = BUILD / "seend"
SEENCTL = BUILD / "seenctl"
WORKERS_MAX = 16


def free_port():
    """A loopback port on which nobody listens now. It lies below the ephemeral range, so that no client takes
    it by chance. Each worker of pytest-xdist has its own range, so that two workers never find the same
    port."""
    worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 0) % WORKERS_MAX
    width = (32_000 - 20_000) // WORKERS_MAX
    low, high = 20_000 + worker * width, 20_000 + (worker + 1) * width
    start = low + (os.getpid() * 97 + free_port.calls * 31) % (high - low)
    free_port.calls += 1
    for i in range(high - low):
        port = low + (start - low + i) % (high - low)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError(f"no free port between {low} and {high}")


free_port.calls = 0


def wait_until(condition, what, timeout_s=30, every_s=0.05):
    """Polls until `condition()` is truthy, and returns its value. A failure shows the last value or error."""
    deadline = time.monotonic() + timeout_s
    last = None
    while True:
        try:
            last = condition()
            if last:
                return last
        except (OSError, KeyError, ValueError) as error:
            last = repr(error)
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}; last: {last!r}")
        time.sleep(every_s)


def wait_until_none(find, what, timeout_s=30):
    """Polls until `find()` finds nothing. A failure shows what it found last."""
    found = []

    def none():
        found[:] = find()
        return not found

    try:
        wait_until(none, what, timeout_s)
    except AssertionError as error:
        raise AssertionError(f"{error}; in the way: {found}") from error


def now_ms():
    return int(time.time() * 1000)
