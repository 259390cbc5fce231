"""The Java examples: a recall service that holds snapshots or asks over HTTP. If both fail, it shows items
anyway."""

import http.server
import json
import struct
import threading
import time

from client_example import HOUR_MS, beat
from hashes import fingerprint, xxh64
from oracle import event
from places import SOURCE, free_port, now_ms, wait_until


def flags_of(seend, topics, topic_name, **more):
    return {
        "brokers": topics.bootstrap,
        "snapshots": f"{topic_name}-filters",
        "watermarks": f"{topic_name}-marks",
        "http": seend.url,
        "timeout_ms": 5_000,
        **more,
    }


def test_the_cache_answers_while_it_is_fresh_then_http_then_what_it_has(topics, daemon, topic_name, example):
    """Uses watermarks that the test writes."""
    topics.create(topic_name, partitions=2)
    topics.create(f"{topic_name}-marks", partitions=1, cleanup_policy="compact")
    seend = daemon(topic_name, {"watermarks": {"topic": None}}).start()
    flags = flags_of(seend, topics, topic_name, stale_ms=60_000)
    held, one_user = (
        example("java", "TailExample", **flags),
        example("java", "TailExample", **flags, users_max=1),
    )
    then = now_ms() - HOUR_MS  # the stream has been quiet since then
    shown = [("u1", "n1"), ("u1", "42"), ("用户", "曝光")] + [(f"other-{i}", f"n{i}") for i in range(20)]
    topics.produce(topic_name, [(u, event(u, i, then), {"timestamp": then}) for u, i in shown])
    seend.wait_at_rest()

    assert held.ask("u1", ["n1", "n2", "42", "n2", "n3"], ["n3"]) == (["n2"], "http"), (
        "an hour old, and nobody says why"
    )
    beat(topics, f"{topic_name}-marks")
    wait_until(
        lambda: held.ask("u1", ["n9"])[1] == "snapshot", "the watermarks vouch for the cache", timeout_s=10
    )
    assert held.ask("u1", ["n1", "n2", "42", "n2", "n3"], ["n3"]) == (["n2"], "snapshot")
    assert held.ask("用户", ["n1", "曝光"]) == (["n1"], "snapshot")
    assert held.ask("nobody", ["n1", "n2"], ["n2"]) == (["n1"], "snapshot"), (
        "who isn't in a whole topic has seen nothing"
    )

    users = sorted({user for user, _ in shown})
    by_user = wait_until(
        lambda: (by := [one_user.ask(user, ["n777"])[1] for user in users]).count("snapshot") and by,
        "the watermarks vouch for the one that is held",
        timeout_s=10,
    )
    assert sorted(by_user) == ["http"] * (len(users) - 1) + ["snapshot"]
    assert one_user.ask("nobody", ["n1"]) == (["n1"], "http"), (
        "a miss of a cache that left someone out says nothing"
    )

    # The cache follows the topic: a new snapshot, a tombstone, a damaged snapshot.
    topics.produce(topic_name, [("u1", event("u1", "n2", now_ms()))])
    wait_until(
        lambda: held.ask("u1", ["n2", "n5"]) == (["n5"], "snapshot"), "the next snapshot", timeout_s=10
    )
    topics.produce(f"{topic_name}-filters", [("用户", None), ("u1", b"damaged")])
    wait_until(
        lambda: held.ask("用户", ["n1", "曝光"]) == (["n1", "曝光"], "snapshot"),
        "a tombstone forgets",
        timeout_s=10,
    )
    wait_until(lambda: "does not start with" in held.log(), "what is refused is told", timeout_s=10)
    assert held.ask("u1", ["n1", "n5"]) == (["n5"], "snapshot"), "and what was there before it is kept"

    # The daemon falls behind, then it is killed.
    beat(topics, f"{topic_name}-marks", behind_ms=HOUR_MS, lag=3)
    wait_until(lambda: held.ask("other-1", ["n1", "n5"]) == (["n5"], "http"), "too old: HTTP", timeout_s=10)
    seend.kill9()
    assert held.ask("other-1", ["n1", "n5", "n6"], ["n6"]) == (["n5"], "old snapshot")
    assert one_user.ask("nobody", ["n1", "n5", "n6"], ["n6"]) == (["n1", "n5"], "own list")
    assert held.close() == 0 and one_user.close() == 0


def test_a_quiet_stream_is_fresh_until_the_daemon_dies_and_http_falls_back_to_showing(
    topics, started, topic_name, example
):
    """Uses the daemon's own watermarks."""
    seend = started({"watermarks": {"topic": f"{topic_name}-marks"}}, partitions=2)
    flags = flags_of(seend, topics, topic_name)
    asking = example("java", "HttpExample", http=flags["http"], timeout_ms=5_000)
    then = now_ms() - HOUR_MS
    topics.produce(topic_name, [(u, event(u, "n1", then), {"timestamp": then}) for u in ("u1", "用户/1")])
    seend.wait_caught_up()
    held = example("java", "TailExample", **flags, stale_ms=2_500)
    assert asking.ask("用户/1", ["n3", "n1", "n2", "n3"], ["n2"]) == (["n3"], "http")
    assert asking.ask("u2", ["n1"]) == (["n1"], "http")
    wait_until(
        lambda: held.ask("u1", ["n1", "n2"]) == (["n2"], "snapshot"),
        "heartbeats tell it from a stream that stopped",
    )
    seend.kill9()
    assert asking.ask("u1", ["n3", "n1", "n2", "n3"], ["n2"]) == (["n3", "n1"], "own list")
    assert "shown without asking" in asking.log()
    wait_until(
        lambda: held.ask("u1", ["n1", "n2"]) == (["n2"], "old snapshot"),
        "no heartbeats any more",
        timeout_s=10,
    )


def signed(record, at):
    """With the right checksum, whose four bytes stand at this offset."""
    checksum = xxh64(record[:at] + record[at + 4 :]) & 0xFFFFFFFF
    return record[:at] + struct.pack("<I", checksum) + record[at + 4 :]


def update(begin, end, as_of_ms, item):
    """An update of partition 0, generation 1: u1 has seen the item."""
    header = struct.pack("<4sBBHIiqqqqB", b"SEEU", 1, 0, 57, 0, 0, 1, begin, end, as_of_ms, 1)
    section = struct.pack("<HBBIIIQHI", 1, 0, 0, 0, 1, 1, xxh64(b"u1"), 1, fingerprint(item))
    return signed(header + b"\x07default" + section, 8)


def test_the_updates_count_at_once_and_say_how_fresh_they_are(topics, topic_name, example):
    names = {kind: f"{topic_name}-{kind}" for kind in ("filters", "marks", "updates")}
    topics.create(names["filters"], partitions=1, cleanup_policy="compact")
    topics.create(names["marks"], partitions=1, cleanup_policy="compact")
    topics.create(names["updates"], partitions=1)

    def produce(kind, key, value):
        topics.produce(names[kind], [(key, value)])

    one = (SOURCE / "tests/golden/snapshot/one.bin").read_bytes()  # has n1
    one = one[:7] + b"\x02" + struct.pack("<I", 64) + one[12:56] + struct.pack("<q", 1) + one[56:]
    produce("filters", "u1", signed(one, 52))
    produce("updates", None, update(0, 5, 0, "n8"))
    produce("updates", None, update(10, 20, now_ms() - HOUR_MS, "n2"))
    base = {"generation": 1, "published_to": 10, "snapshots_to": {"default": 1}, "updates_from": 1}
    numbers = (
        "lag_messages",
        "unpublished_users",
        "next_offset",
        "partition_time_ms",
        "heartbeat_ms",
        "partition",
    )
    produce("marks", "0", json.dumps({"version": 1, **dict.fromkeys(numbers, 0), **base}))
    flags = {"http": f"http://127.0.0.1:{free_port()}", "brokers": topics.bootstrap, "stale_ms": 60_000}
    held = example("java", "TailExample", **flags, snapshots=names["filters"], watermarks=names["marks"],
                   updates=names["updates"])  # fmt: skip

    def answers(items, unseen, source):
        wait_until(lambda: held.ask("u1", items) == (unseen, source), f"{unseen} by {source}", timeout_s=60)

    answers(["n1", "n2", "n3", "n8"], ["n3", "n8"], "old snapshot")  # n8: before updates_from
    produce("updates", None, update(20, 30, now_ms() + HOUR_MS, "n3"))
    answers(["n1", "n2", "n3", "n4"], ["n4"], "snapshot")
    produce("updates", None, update(40, 50, now_ms() + HOUR_MS, "n4"))  # beyond a gap
    answers(["n1", "n4", "n5"], ["n5"], "snapshot")
    produce("filters", "u1", b"damaged")
    answers(["n1", "n4", "n5"], ["n5"], "old snapshot")
    produce("filters", "u1", None)
    answers(["n1", "n4", "n5"], ["n1", "n5"], "snapshot")


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers at once, except for the user `slow`, who gets no answer. Closes the connection after an answer
    for `last`."""

    protocol_version = "HTTP/1.1"
    connections = 0

    def setup(self):
        Slow.connections += 1
        super().setup()

    def do_GET(self):
        Slow.connections -= 1  # count only connections that ask questions
        self.send_error(404)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if "/slow/" in self.path:
            time.sleep(3)
            self.close_connection = True
            return
        body = json.dumps({"unseen": ["n1"]}).encode()
        self.send_response(503 if "/early/" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = "/last/" in self.path

    def log_message(self, *_):
        pass


def test_one_connection_serves_many_requests_and_none_waits_for_long(example):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        asking = example(
            "java", "HttpExample", http=f"http://127.0.0.1:{server.server_port}", timeout_ms=1_000
        )
        wait_until(
            lambda: asking.ask("u1", ["n1", "n2"])[1] == "http",
            "the first takes longer: classes are loaded",
            timeout_s=10,
        )
        Slow.connections = 0
        assert asking.ask("last", ["n1", "n2"]) == (["n1"], "http")
        for i in range(50):
            assert asking.ask(f"u{i}", ["n1", "n2"]) == (["n1"], "http")
        assert Slow.connections == 1, "kept alive, and opened again once closed"
        assert asking.ask("early", ["n1", "n2"], ["n1"]) == (["n2"], "own list"), "503: still catching up"
        assert asking.ask("slow", ["n1", "n2"], ["n1"]) == (["n2"], "own list"), "no answer in time"
        assert "no answer within 1000 ms" in asking.log()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
