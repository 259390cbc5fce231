"""Memory stays within the configured budget plus a base, however many users there are. Buffers of
fetches are used again."""

import concurrent.futures
import itertools
import json

import pytest

from http_json import Http, user_path
from oracle import DAY_MS
from places import now_ms, wait_until
from seenctl_tool import run_json
from seend import one_filter
from test_replay import replay

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
def test_answers_for_heavy_users_fit_the_budget(topics, member, topic_name, tmp_path):
    """Users with as many items as the default limits allow. One thread at a time makes such an answer, decodes
    little of the user at a time, and keeps no memory."""
    budget_mib, users, days, batches, batch = 64, 12, 30, 5, 10_000
    topics.create(topic_name, partitions=1)
    of_both = {"store": {"memory_mib": budget_mib}, "http": {"threads": 8}, "state": {"topic": None}}
    owner, other = (member(number, **of_both) for number in range(2))
    now, source = now_ms(), tmp_path / "history.jsonl"
    with open(source, "w") as file:
        for u in range(users):
            file.write(f'{{"user_id":"u{u}","exposed_at":{now},"kind":"served","item_id":"s"}}\n')
        for day, part in itertools.product(range(days), range(batches)):
            items = ",".join(f'"{day:x}-{part}-{i:x}"' for i in range(batch))
            for u in range(users):
                file.write(f'{{"user_id":"u{u}","exposed_at":{now - day * DAY_MS},"items":[{items}]}}\n')
    replay(source, config=owner.write_config(), into_state=owner.store, quiet=True)
    source.unlink()
    question = json.dumps({"items": [f"n{i}" for i in range(1_000)]}).encode()
    paths = [user_path(f"u{u}") for u in range(users)]

    def ask(path):
        http = Http(owner.address, timeout_s=120)
        answers = [
            http.get(path + "/segments"),
            http.get(path),
            http.request("POST", path + "/unseen", question),
            http.get(path + "/why?item=0-0-0"),
        ]
        http.close()
        assert [answer.status for answer in answers] == [200] * 4
        return answers[0].json()["segments"]

    owner.start()
    with owner.peak_rss() as peak, concurrent.futures.ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(ask, 2 * paths)
    print(f"peak RSS {peak[0] >> 20} MiB at a budget of {budget_mib} MiB")
    assert all(segments == first for segments in others)
    assert sorted(segment["kind"] for segment in first) == days * ["exposed"] + ["served"]
    # Two of 50,000 ids have one fingerprint in a day out of four.
    assert all(50_000 - 10 < s["items"] <= 50_000 for s in first if s["kind"] == "exposed")
    assert peak[0] < (budget_mib + BASE_MIB) << 20

    pages, cursor = [], ""
    while cursor is not None:
        page = owner.http.get(f"{paths[0]}/segments?limit=7&cursor={cursor}").json()
        pages, cursor = pages + page["segments"], page["next"]
    assert pages == first

    def ask_other(path):
        http = Http(other.address, timeout_s=120)

        def passed_on():
            answer = http.request("GET", path + "/segments", None, {"Seen-Deadline-Ms": "10000"})
            if answer.status != 200:
                raise ValueError(answer.text)
            return answer

        answer = wait_until(passed_on, "the owner answers", 120)
        http.close()
        return answer.headers["Seen-Answered-By"], answer.json()["segments"]

    other.start()
    with other.peak_rss() as peak, concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask_other, paths))
    assert answers == [("member-0", first)] * users
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
