"""Memory stays within the configured budget plus a base, however many users there are. Buffers of
fetches are used again."""

import concurrent.futures
import json

import pytest

from http_json import Http, user_path
from oracle import DAY_MS
from places import now_ms, wait_until
from seenctl_tool import run_json
from seend import one_filter

BUDGET_MIB = 192
# Code, stacks and the fixed parts of librdkafka and RocksDB (about 60 MB: docs/ARCHITECTURE.md, "Memory"),
# and slack.
BASE_MIB = 96


def generate(kafka, topic, *more):
    """Returns how many exposures were sent."""
    into = ("--brokers", kafka.bootstrap, "--topic", topic, "--seed", 1)
    return run_json("generate", *into, *more)["exposures"]


@pytest.mark.heavy
def test_a_million_users_fit_the_budget(kafka, started, topic_name):
    seend = started(
        {
            "store": {"memory_mib": BUDGET_MIB, "checkpoint_interval_s": 5},
            **one_filter(topic_name, debounce_ms=1000),
        },
        partitions=4,
    )
    with seend.peak_rss() as peak:
        sizes = ("--events", 1_500_000, "--users", 1_000_000, "--user-skew", 0.1)
        exposures = generate(kafka, topic_name, *sizes)
        assert exposures >= 1_500_000
        seend.wait_caught_up(120)
        wait_until(
            lambda: all(s["tail_bytes"] < 1 << 20 for s in seend.partition_status().values()),
            "checkpointed",
            120,
        )
    print(f"peak RSS {peak[0] >> 20} MiB at a budget of {BUDGET_MIB} MiB")
    assert seend.metric_sum("seen_events_total") == exposures
    assert peak[0] < (BUDGET_MIB + BASE_MIB) << 20


@pytest.mark.heavy
def test_answers_for_heavy_users_fit_the_budget(topics, started, topic_name):
    """One thread at a time makes such an answer, and no thread keeps its memory."""
    budget_mib, users, batches = 64, 12, 24
    seend = started(
        {
            "store": {"memory_mib": budget_mib},
            "http": {"threads": 8},
            "filters": [{"name": "default", "items_max": 1_000_000, "snapshot": None}],
        },
        partitions=2,
    )
    now, records = now_ms(), []
    for batch in range(batches):  # two a day, of 10,000 items
        items = ",".join(f'"{batch:x}-{i:x}"' for i in range(10_000))
        at = now - batch // 2 * DAY_MS
        records += [
            (f"u{u}", f'{{"user_id":"u{u}","exposed_at":{at},"items":[{items}]}}') for u in range(users)
        ]
    topics.produce(topic_name, records)
    seend.wait_caught_up(120)
    wait_until(
        lambda: all(s["tail_bytes"] < 1 << 20 for s in seend.partition_status().values()), "checkpointed", 120
    )
    question = json.dumps({"items": [f"n{i}" for i in range(1_000)]}).encode()

    def ask(number):
        http, path = Http(seend.address, timeout_s=120), user_path(f"u{number % users}")
        answers = [
            http.get(path + "/segments"),
            http.get(path),
            http.request("POST", path + "/unseen", question),
            http.get(path + "/why?item=0-0"),
        ]
        http.close()
        return [answer.status for answer in answers]

    with seend.peak_rss() as peak, concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(ask, range(3 * users)))
    print(f"peak RSS {peak[0] >> 20} MiB at a budget of {budget_mib} MiB")
    assert statuses == [[200] * 4] * (3 * users)
    assert peak[0] < (budget_mib + BASE_MIB) << 20


def test_a_backlog_is_fetched_into_the_same_buffers_again(kafka, topics, daemon, topic_name):
    """A buffer of some MiB that is new for each fetch costs a page fault for each page of the topic."""
    topics.create(topic_name, partitions=4)
    events, event_bytes = 400_000, 1_000
    generate(
        *(kafka, topic_name, "--events", events, "--users", 10_000),
        *("--event-bytes", event_bytes, "--client", "compression.codec=none"),
    )
    seend = daemon(topic_name).start()
    seend.wait_caught_up(120)
    faults = seend.page_faults() * 4096 // event_bytes
    print(f"page faults of the size of {faults:,} events")
    assert faults < 0.5 * events
