"""The examples of clients/cpp: answers from the topics, over HTTP, and from the request alone. The package
as another project's build finds it: installed, then found by find_package."""

import base64
import json
import re
import subprocess
import time

from client_example import HOUR_MS, beat
from load import one_by_one
from oracle import Oracle, event
from places import SOURCE, now_ms, wait_until

STALE_MS_MAX = 1_500
ITEMS = ["a", "shown", "b", "a", 7, "other", "9"]


def test_a_tail_answers_from_its_cache_while_it_is_fresh(topics, started, topic_name, example):
    seend = started()
    then = now_ms() - HOUR_MS  # the stream has been quiet since then
    shown = [("u", "shown"), ("u", 7), ("v", "other"), ("用户", "曝光")]
    topics.produce(topic_name, [(user, event(user, item, then), {"timestamp": then}) for user, item in shown])
    seend.wait_at_rest()
    filters = f"{topic_name}-filters"
    beats = topics.create(f"{topic_name}-beats", partitions=1, cleanup_policy="compact")
    flags = {
        "brokers": topics.bootstrap,
        "snapshots_topic": filters,
        "watermarks_topic": beats,
        "http": seend.url,
        "timeout_ms": 2_000,
    }
    tail = example("cpp", "tail_snapshots", **flags, stale_ms_max=STALE_MS_MAX)
    one_user = example("cpp", "tail_snapshots", **flags, stale_ms_max=60_000, users_max=1)

    assert tail.ask("u", ITEMS, ["9"]) == (["a", "b", "other"], "http"), "an hour old, and nobody says why"
    beat(topics, beats, lag=3)
    time.sleep(0.3)
    assert tail.ask("u", ["a"]) == (["a"], "http"), "behind: as old as what was read"

    beat(topics, beats, behind_ms=STALE_MS_MAX - 60_000)  # they count for a minute
    assert tail.until_from("cache", "u", ITEMS, ["9"]) == ["a", "b", "other"]
    assert tail.ask("用户", ["曝光", "other"]) == (["other"], "cache")
    unseen = ["a", "shown", "7", "other", "9"]
    assert tail.ask("nobody", ITEMS, ["b"]) == (unseen, "cache"), "not in a whole topic"

    # A client that dropped users from its cache can't know who has seen nothing.
    def sources():
        return sorted(one_user.ask(user, ["x"])[1] for user in ("u", "v", "用户"))

    wait_until(lambda: sources() == ["cache", "http", "http"], "one is held, two are asked for", timeout_s=10)
    assert one_user.ask("nobody", ["x"]) == (["x"], "http")

    # The client follows the topic: a new snapshot, one that it refuses, a tombstone.
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "b")]))
    wait_until(lambda: tail.ask("u", ITEMS) == (["a", "other", "9"], "cache"), "the new snapshot is there")
    topics.produce(filters, [("u", b""), ("w", b"SEEN?")])
    wait_until(
        lambda: tail.log().count("not a snapshot") + tail.log().count("cut off") == 2, "both are reported"
    )
    assert tail.ask("u", ITEMS) == (["a", "other", "9"], "cache"), "the one before it stays"
    assert tail.ask("w", ["a"]) == (["a"], "http"), "unknown, not empty"
    assert tail.ask("v", ["other"]) == ([], "cache")
    topics.produce(filters, [("v", None)])
    wait_until(lambda: tail.ask("v", ["other"]) == (["other"], "cache"), "the tombstone is there")


def test_a_tail_falls_back_when_the_daemons_heartbeats_stop(topics, started, topic_name, example):
    marks = f"{topic_name}-watermarks"
    seend = started({"watermarks": {"topic": marks}})
    then = now_ms() - HOUR_MS
    topics.produce(topic_name, [("u", event("u", item, then), {"timestamp": then}) for item in ("shown", 7)])
    seend.wait_at_rest()
    wait_until(lambda: topics.partitions(marks), "the daemon has made its topic")
    tail = example(
        *("cpp", "tail_snapshots"),
        brokers=topics.bootstrap,
        snapshots_topic=f"{topic_name}-filters",
        watermarks_topic=marks,
        http=seend.url,
        timeout_ms=300,
        stale_ms_max=2_500,
    )
    assert tail.until_from("cache", "u", ITEMS) == ["a", "b", "other", "9"], "quiet, not stale"
    assert tail.until_from("cache", "nobody", ITEMS, ["9"]) == ["a", "shown", "b", "7", "other"]

    with seend.standing_still():
        by_request = tail.until_from("request", "u", ITEMS, ["9"])
        assert by_request == ["a", "b", "other"], "what the stale snapshot holds stays right"
        assert tail.ask("nobody", ITEMS, ["9"]) == (["a", "shown", "b", "7", "other"], "request")
    assert tail.until_from("cache", "u", ITEMS) == ["a", "b", "other", "9"], "its heart beats again"


def test_a_tail_follows_updates(topics, topic_name, example):
    """The golden records through Kafka, without a daemon: what an update brings is seen, and refused records
    are reported."""
    golden = json.loads((SOURCE / "tests/golden/update/sequences.json").read_text())["sequences"]
    steps = next(one for one in golden if one["name"] == "an update makes an item seen")["steps"]
    mark = next(step["beat"] for step in steps if "beat" in step)
    update = next(base64.b64decode(step["update"]) for step in steps if "update" in step)
    filters, marks, updates = [
        topics.create(f"{topic_name}-{name}", partitions=1, cleanup_policy=policy)
        for name, policy in (("filters", "compact"), ("watermarks", "compact"), ("updates", "delete"))
    ]
    tail = example(
        *("cpp", "tail_snapshots"),
        brokers=topics.bootstrap,
        snapshots_topic=filters,
        watermarks_topic=marks,
        updates=updates,
        http="http://127.0.0.1:9",
        timeout_ms=100,
        stale_ms_max=10**12,  # the golden records are old
    )

    def beat():  # as the daemon does each second: an end counts with the beats behind it
        topics.produce(marks, [(mark["key"], mark["value"])])

    beat()
    assert tail.ask("u1", ["a", "b"]) == (["a", "b"], "request"), "no update says how fresh it is"
    topics.produce(updates, [(None, update)])
    assert tail.until_from("cache", "u1", ["a", "b", "c"], ["c"], before=beat) == ["b"]
    assert tail.ask("u2", ["a", "b"]) == (["a", "b"], "cache")
    topics.produce(updates, [(None, b"SEEU")])
    topics.produce(filters, [("u1", b"SEEN")])
    wait_until(lambda: tail.log().count("cut off") == 2, "both are reported")
    assert tail.ask("u1", ["a", "b"]) == (["b"], "request"), "the snapshot was refused: ask somebody else"


def test_asking_over_http_shows_rather_than_fails(topics, started, topic_name, example):
    seend = started()
    users = ["u", "用户/1", "..", "u%34"]
    topics.produce(topic_name, one_by_one(Oracle(), [(user, "shown") for user in users]))
    seend.wait_at_rest()
    asker = example("cpp", "ask_over_http", http=seend.url, timeout_ms=300)
    for user in users:
        assert asker.ask(user, ITEMS, ["b"]) == (["a", "7", "other", "9"], "http"), user
    assert asker.ask("nobody", ["shown", "曝光", "shown"]) == (["shown", "曝光"], "http")

    with seend.standing_still():
        began = time.monotonic()
        assert asker.ask("u", ITEMS, ["b"]) == (["a", "shown", "7", "other", "9"], "request")
        assert time.monotonic() - began < 2, "no longer than its time-out"
    wait_until(lambda: asker.ask("u", ITEMS, ["b"]) == (["a", "7", "other", "9"], "http"), "it answers again")
    seend.stop()
    assert asker.ask("u", ITEMS, ["b"]) == (["a", "shown", "7", "other", "9"], "request")
    assert asker.close() == 0
    opened = int(asker.log().rsplit("connections opened: ", 1)[1])
    assert opened <= 4, "one until the time-out, few to come back"


CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.18)
project(app CXX)
find_package(seen_client 1.0 CONFIG REQUIRED)
add_executable(app app.cc)
target_compile_options(app PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Werror)
target_link_libraries(app PRIVATE seen::client)
"""
AROUND = """
#include <cstdio>
#include <fstream>
#include <iterator>
%s
static int Report(const std::string& message) { std::puts(message.c_str()); return 1; }
int main(int, char** arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::vector<std::string> candidates = {"n3", "n1", "n2", "n3"};
%s
  for (const auto& id : unseen) std::puts(id.c_str());
}
"""


def test_the_first_lines_of_its_readme_work_with_the_installed_package(tmp_path):
    def run(*command):
        ran = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, (command, ran.stdout[-3000:], ran.stderr[-3000:])
        return ran.stdout

    run("cmake", "-S", SOURCE / "clients" / "cpp", "-B", tmp_path / "client")
    run("cmake", "--install", tmp_path / "client", "--prefix", tmp_path / "installed")
    lines = re.search(r"```cpp\n(.*?)```", (SOURCE / "clients" / "cpp" / "README.md").read_text(), re.S)[1]
    include, rest = lines.split("\n", 1)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "app.cc").write_text(AROUND % (include, rest))
    (tmp_path / "app" / "CMakeLists.txt").write_text(CMAKE_LISTS)
    prefix = f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}"
    run("cmake", "-S", tmp_path / "app", "-B", tmp_path / "build", prefix)
    run("cmake", "--build", tmp_path / "build")
    golden = SOURCE / "tests" / "golden" / "snapshot"
    assert run(tmp_path / "build" / "app", golden / "one.bin").split() == ["n3", "n2"]
