"""seend --embedded-kafka: people can try seend without any broker."""

import importlib.util
import os
import re
import subprocess

import pytest

from hashes import fingerprint
from oracle import event
from places import BUILD, SOURCE, now_ms, wait_until
from snapshot_reader import read_snapshot, render


@pytest.fixture
def embedded(daemon, topic_name):
    seend = daemon(topic_name, {"input": {"partitioner": "crc32"}})
    del seend.config["kafka"]["brokers"]
    return seend.start("--embedded-kafka", timeout_s=40)


def test_kcat_produces_to_it_and_reads_the_filters(embedded, topic_name):
    brokers = embedded.status()["brokers"]
    assert embedded.status()["embedded_kafka"] and re.fullmatch(r"127\.0\.0\.1:\d+", brokers)
    assert brokers in embedded.log(), "the address is printed"
    now = now_ms()
    lines = "".join(f"user-{i % 5}\t{event(f'user-{i % 5}', f'item-{i}', now)}\n" for i in range(500))
    subprocess.run(
        ["kcat", "-b", brokers, "-t", topic_name, "-P", "-K", "\t"],
        input=lines,
        text=True,
        check=True,
        timeout=60,
    )
    items = [f"item-{i}" for i in range(500)]
    mine = [f"item-{i}" for i in range(500) if i % 5 == 3]
    wait_until(
        lambda: embedded.unseen("user-3", items) == [i for i in items if i not in set(mine)],
        "all of it is seen",
    )
    wait_until(
        lambda: all(s["marks_outstanding"] == 0 for s in embedded.partition_status().values()), "published"
    )

    def last_published():
        read = subprocess.run(
            ["kcat", "-b", brokers, "-t", f"{topic_name}-filters", "-C", "-e", "-q", "-f", "%k\n"],
            capture_output=True,
            timeout=60,
            check=True,
            text=True,
        )
        return set(read.stdout.split()) == {f"user-{i}" for i in range(5)}

    wait_until(last_published, "kcat reads a filter of every user", every_s=0.5)
    snapshot = read_snapshot(embedded.snapshot("user-3"))
    assert snapshot.payload == render({fingerprint(i) for i in mine}, len(snapshot.payload) // 32)
    assert embedded.metric_sum("seen_events_misrouted_total") == 0


def test_the_demo_checks_what_it_shows():
    """Runs the demo as `make demo` does. Its exit status is 0 only if every check passed."""
    demo = SOURCE / "scripts" / "demo.py"
    done = subprocess.run(
        [str(demo)],
        capture_output=True,
        text=True,
        timeout=180,
        cwd=SOURCE,
        env={**os.environ, "BUILD": str(BUILD), "KEEP": ""},
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    assert "Every check held" in said and "seend has stopped" in said, said[-4000:]
    sent = int(re.search(r"([\d,]+) events sent", said)[1].replace(",", ""))
    assert sent > 60_000 + 100_000, "the real exposures and a live stream"


def test_the_demo_reads_latencies_as_prometheus_does():
    spec = importlib.util.spec_from_file_location("demo", SOURCE / "scripts" / "demo.py")
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)

    def page(*counts):
        bounds = ("0.001", "0.005", "2", "+Inf")
        lines = (f'ms_bucket{{filter="{f}",le="{b}"}} {n}\n' for f in "ab" for b, n in zip(bounds, counts))
        return "".join(lines) + 'all_total 5\nlag{p="0"} 7\nlag{p="1"} 5e+02\nlag_other 4\n'

    none, some = page(0, 0, 0, 0), page(10, 60, 90, 100)
    cases = ((0.05, "0.5 ms"), (0.35, "3.0 ms"), (0.75, "1.00 s"), (1, "2.00 s"))
    assert [demo.latency(none, some, "ms", share) for share, _ in cases] == [text for _, text in cases]
    assert demo.latency(some, page(10, 60, 91, 101), "ms", 0.5) == "1.00 s", "what happened in between"
    assert demo.latency(some, some, "ms", 0.5) == "-" == demo.latency("", "", "ms", 0.5)
    assert demo.total(some, "lag") == 507 and demo.total(some, "all_total") == 5
