"""docs/REPLAY.md, case by case, with the page's own commands. The tests replace only paths and addresses."""

import json
import os
import re
import shutil
import subprocess

import pytest

from oracle import Oracle, event
from places import BUILD, SOURCE, now_ms
from seend import in_group, wait_routed

DAY_MS = 86_400_000
PAGE = (SOURCE / "docs" / "REPLAY.md").read_text()


def blocks(heading, language="sh"):
    (section,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    found = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found, heading
    return found


class Case:
    """A daemon's configuration, one file per day of history, and a shell that runs the page's commands. The
    page calls the configuration seend.json, or seend-1.json if the daemon is one of several."""

    def __init__(self, seend, topics, folder, chance):
        self.seend, self.topics, self.folder, self.chance = seend, topics, folder, chance
        self.oracle = Oracle()
        self.data = folder / "exposures"
        self.data.mkdir()
        self.write_config()

    def write_config(self):
        self.seend.write_config()

    def day(self, name, days_ago, events=1_000):
        at = now_ms() - days_ago * DAY_MS
        lines = []
        for i in range(events):
            user, item = f"u{self.chance.randrange(50)}", f"{name}-{i}"
            self.oracle.add(user, item, at - i)
            lines.append(event(user, item, at - i))
        (self.data / name).write_text("\n".join(lines) + "\n")
        return lines

    def run(self, command):
        """Runs the page's commands with this machine's paths. It skips `seend` itself, because the test
        starts the daemon."""
        command = command.replace("seenctl fill", f"seenctl fill --http http://{self.seend.address}")
        for words, own in (
            ("seend.json", self.seend.config_path),
            ("seend-1.json", self.seend.config_path),
            ("/data/exposures", self.data),
            ("/var/lib/seend", self.seend.store),
            ("exposures-archive", f"{self.seend.topic}-archive"),
        ):
            command = command.replace(words, str(own))
        lines = [line for line in command.splitlines() if line and not line.startswith("seend ")]
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(lines)],
            capture_output=True,
            timeout=120,
            cwd=self.folder,
            env={**os.environ, "PATH": f"{BUILD}:/usr/bin:{os.environ['PATH']}"},
        )
        assert done.returncode == 0, (lines, done.stderr.decode()[-3000:])
        return done

    def check(self):
        self.seend.wait_at_rest()
        self.oracle.check_http(self.seend)


@pytest.fixture
def case(topics, daemon, topic_name, tmp_path, chance):
    topics.create(topic_name, retention_ms=-1)
    topics.create(f"{topic_name}-beats", partitions=1, cleanup_policy="compact")
    return Case(
        daemon(topic_name, {"watermarks": {"topic": f"{topic_name}-beats"}}), topics, tmp_path, chance
    )


def test_the_dry_run_comes_first(case):
    case.day("2026-11-01.jsonl", 3)
    done = case.run(
        re.findall(r"```sh\n(seenctl replay /data/exposures --config seend.json --dry-run)\n```", PAGE)[0]
    )
    assert b"1,000" in done.stdout


def test_the_first_day_from_files(case):
    into_directory, _, beside = blocks("The first day, from files")
    case.day("2026-11-01.jsonl", 3)
    case.run(into_directory)
    case.seend.start()
    case.check()
    case.day("2026-11-02.jsonl", 2)
    case.run(beside)
    case.check()


def test_the_first_day_from_files_with_several_daemons(case, daemon):
    _, into_topic, _ = blocks("The first day, from files")
    topic = case.seend.topic
    members = [daemon(topic, in_group(topic, f"member-{n}"), f"member-{n}") for n in range(2)]
    case.seend = members[0]
    case.write_config()
    case.day("2026-11-01.jsonl", 3)
    case.run(into_topic)
    for each in members:
        each.start(ready=False)
    wait_routed(members)
    for each in members:
        case.oracle.check_http(each)
    assert sum(each.log().count("state restored from the state topic") for each in members) >= 2


def test_the_first_day_from_kafka(case):
    archive = case.topics.create(f"{case.seend.topic}-archive", partitions=3, retention_ms=-1)
    case.topics.produce(archive, [(json.loads(line)["user_id"], line) for line in case.day("x", 3)])
    case.seend.start()
    case.run(*blocks("The first day, from Kafka"))
    case.check()


def test_the_first_day_from_redis(case):
    pytest.importorskip("redis")
    from redis_server import RedisServer

    server = RedisServer(case.folder)
    try:
        assert server.wait_ready()
        client = server.client()
        for line in case.day("x", 3):
            one = json.loads(line)
            client.zadd(f"seen:{one['user_id']}", {one["item_id"]: one["exposed_at"]})
        (script,) = blocks("The first day, from Redis", "python")
        (case.folder / "redis_lines.py").write_text(
            script.replace("redis.Redis(", f'redis.Redis("127.0.0.1", {server.port}, ')
        )
        case.seend.start()
        replay, compare = blocks("The first day, from Redis")
        case.run(replay)
        case.check()
        users = {user: sorted(case.oracle.items(user)) for user in case.oracle.users()}
        (case.folder / "requests.jsonl").write_text(
            "".join(
                json.dumps({"user_id": user, "items": [*items[:50], "never-shown"]}) + "\n"
                for user, items in users.items()
            )
        )
        tool = (
            f"PYTHONPATH={SOURCE}/clients/python/src {SOURCE}/build/compare-tools/bin/python -m seen_compare"
        )
        compare = compare.replace("127.0.0.1:6379", server.address)
        done = case.run(compare.replace("seen-compare", f"{tool} --http http://{case.seend.address}"))
        assert b"(100.00%)" in done.stdout and (case.folder / "compare.html").read_text().count("<svg") == 3
    finally:
        server.close()


def test_a_lost_disk_without_a_backup(case):
    lines = case.day("2026-11-01.jsonl", 3)
    case.seend.start()
    case.topics.produce(case.seend.topic, [(json.loads(line)["user_id"], line) for line in lines[:300]])
    case.seend.wait_at_rest()
    case.seend.stop()
    shutil.rmtree(case.seend.store)
    case.run(*blocks("A lost disk, without a backup"))
    case.seend.start()
    case.check()


def with_a_longer_window(case):
    """Starts the daemon, lets it read `new.jsonl` and its topic, and then changes its window from 30 to 60
    days."""
    filters = [
        {
            "name": "default",
            "window_days": 60,
            "snapshot": {"topic": f"{case.seend.topic}-filters", "debounce_ms": 200},
        }
    ]
    case.seend.config["filters"] = [{**filters[0], "window_days": 30}]
    case.write_config()
    case.run("seenctl replay /data/exposures/new.jsonl --config seend.json --quiet")
    case.seend.start()
    case.seend.wait_at_rest()
    case.seend.stop()
    case.seend.config["filters"] = filters
    case.seend.start()


def test_a_longer_window_from_the_topic(case):
    lines = case.day("old.jsonl", 45)  # late events, which the shorter window drops
    case.topics.produce(case.seend.topic, [(json.loads(line)["user_id"], line) for line in lines])
    case.day("new.jsonl", 5)
    with_a_longer_window(case)
    first = json.loads(lines[0])
    assert case.seend.unseen(first["user_id"], [first["item_id"]]) == [first["item_id"]]
    case.run(blocks("A longer window, or a new filter")[0])
    case.check()


def test_a_longer_window_from_files(case):
    case.day("old.jsonl", 45)
    case.day("new.jsonl", 5)
    with_a_longer_window(case)
    case.run(blocks("A longer window, or a new filter")[1])
    case.check()


def test_a_bug_upstream_that_lasted_two_days(case):
    case.day("2026-11-01.jsonl", 3)
    case.day("2026-11-02.jsonl", 2)
    missing = [json.loads(line) for line in (case.data / "2026-11-01.jsonl").read_text().splitlines()]
    case.seend.start()
    assert case.seend.unseen(missing[0]["user_id"], [missing[0]["item_id"]]) == [missing[0]["item_id"]]
    case.run(*blocks("A bug upstream that lasted two days"))
    case.check()
