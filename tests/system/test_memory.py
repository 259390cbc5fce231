"""Memory stays within the configured budget plus a base, however many users there are."""

import json
import subprocess
import threading

import pytest

from places import SEENCTL, wait_until

BUDGET_MIB = 192
# Code, stacks and the fixed parts of librdkafka and RocksDB (about 60 MB: docs/ARCHITECTURE.md, "Memory"),
# and slack.
BASE_MIB = 96


@pytest.mark.heavy
def test_a_million_users_fit_the_budget(kafka, topics, daemon, topic_name):
    topics.create(topic_name, partitions=4)
    seend = daemon(
        topic_name,
        {
            "store": {"memory_mib": BUDGET_MIB, "checkpoint_interval_s": 5},
            "filters": [
                {"name": "default", "snapshot": {"topic": f"{topic_name}-filters", "debounce_ms": 1000}}
            ],
        },
    ).start()
    peak, done = 0, threading.Event()

    def watch():
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, seend.rss_bytes())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        sent = subprocess.run(
            [
                str(SEENCTL),
                "generate",
                "--brokers",
                kafka.bootstrap,
                "--topic",
                topic_name,
                "--events",
                "1500000",
                "--users",
                "1000000",
                "--user-skew",
                "0.1",
                "--seed",
                "1",
                "--json",
                "--quiet",
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert sent.returncode == 0, sent.stderr
        exposures = json.loads(sent.stdout)["exposures"]
        assert exposures >= 1_500_000
        seend.wait_caught_up(120)
        wait_until(
            lambda: all(s["tail_bytes"] < 1 << 20 for s in seend.partition_status().values()), "checkpointed"
        )
    finally:
        done.set()
        watcher.join()
    print(f"peak RSS {peak >> 20} MiB at a budget of {BUDGET_MIB} MiB")
    assert seend.metric_sum("seen_events_total") == exposures
    assert peak < (BUDGET_MIB + BASE_MIB) << 20
