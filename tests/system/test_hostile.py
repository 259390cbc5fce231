"""A thousand hostile connections harm nobody else. The benchmark `hostile` measures how much they slow
others down."""

import contextlib
import resource
import select
import socket
import ssl
import time

import pytest

from certificates import Authority
from hostile_clients import Crowd, handshake
from http_json import user_path
from oracle import event
from places import now_ms, wait_until
from test_access import Client, TOKENS, write_tokens


@pytest.mark.heavy
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_good_connections_are_answered_among_a_thousand_hostile_ones(
    tls, topics, daemon, topic_name, tmp_path
):
    topics.create(topic_name, partitions=1)
    topics.produce(topic_name, [("u1", event("u1", "i1", now_ms()))])
    access, ca, token = {}, None, None
    if tls:
        authority = Authority(tmp_path)
        ca, token = authority.certificate, TOKENS["read"]
        access = {**authority.access("seend"), "tokens": str(write_tokens(tmp_path / "tokens"))}
    seend = daemon(topic_name, {"access": access, "http": {"client_connections_max": 1_100}}).start(
        ready=False
    )
    good = Client(seend.address, token, ca)
    wait_until(lambda: good.status("GET", "/readyz") == 200, "it is ready")

    def rss():
        (line,) = [
            x
            for x in good.ask("GET", "/metrics").text.splitlines()
            if x.startswith("process_resident_memory_bytes")
        ]
        return float(line.split()[1])

    before = rss()
    with Crowd(seend.address, 1_000, tls) as crowd:
        until = time.monotonic() + 14  # longer than the 10 s in which a request must arrive
        answered = 0
        while time.monotonic() < until:
            answer = good.ask("POST", user_path("u1") + "/unseen", {"items": ["i1", "i2"]})
            assert answer.status == 200 and answer.json()["unseen"] == ["i2"]
            answered += 1
        assert answered >= 20 and crowd.opened >= 1_000
        wait_until(lambda: crowd.ended >= 250, "those that never end their request are ended", 30)
        assert rss() - before < 160 * 2**20
    wait_until(lambda: good.status("GET", "/readyz") == 200, "they are gone")
    assert seend.alive()


def test_idle_connections_take_no_files_from_the_store(topics, daemon, topic_name):
    """The soft limit on open files is 1,024, as in most shells. The hard limit allows enough."""
    topics.create(topic_name, partitions=16)
    topics.produce(topic_name, [(f"u{i}", event(f"u{i}", "i1", now_ms())) for i in range(200)])
    limit = min(20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    seend = daemon(topic_name)
    seend.wrapper = ["prlimit", f"--nofile=1024:{limit}"]
    seend.start(ready=False)
    wait_until(lambda: seend.get("/healthz"), "it listens", 60)
    with contextlib.ExitStack() as idle:
        host, port = seend.address.split(":")
        for _ in range(1_100):
            idle.enter_context(socket.create_connection((host, int(port)), timeout=20))
        wait_until(lambda: len(seend.owned()) == 16, "all partitions are ready", 60)
        seend.wait_at_rest()
    assert seend.metrics()["process_max_fds"] == limit


def test_few_open_files_limit_the_connections_and_not_the_store(topics, daemon, topic_name):
    topics.create(topic_name, partitions=4)
    seend = daemon(topic_name)
    seend.wrapper = ["prlimit", "--nofile=512:512"]
    seend.start()
    assert "allows fewer connections than http.connections_max" in seend.log()
    with contextlib.ExitStack() as idle:
        host, port = seend.address.split(":")
        for _ in range(400):
            idle.enter_context(socket.create_connection((host, int(port)), timeout=20))
        topics.produce(topic_name, [(f"u{i}", event(f"u{i}", "i1", now_ms())) for i in range(200)])
        wait_until(
            lambda: topics.newest(f"{topic_name}-filters").keys() >= {f"u{i}" for i in range(200)},
            "it reads and publishes beside the connections that it refuses",
            60,
        )
    seend.wait_ready(60)
    seend.wait_at_rest()
    assert len(seend.owned()) == 4


def hello(address):
    """A connection that has been accepted, and the first bytes of its handshake."""
    session, _, outgoing = handshake()
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=20), outgoing.read()


def test_a_request_does_not_wait_for_handshakes_that_came_before_it(started, tmp_path):
    seend = started({"access": Authority(tmp_path).access("seend")}, partitions=1)
    handshakes = [hello(seend.address) for _ in range(400)]
    assert seend.http.get("/healthz").status == 200  # its connection is open from now on
    for connection, first in handshakes:
        connection.sendall(first)
    assert seend.http.get("/healthz").status == 200
    poll = select.poll()
    for connection, _ in handshakes:
        poll.register(connection, select.POLLIN)
    assert len(poll.poll(0)) < 300, "most still wait for their answer"
    wait_until(lambda: len(poll.poll(0)) == 400, "each is answered")
    for connection, _ in handshakes:
        connection.close()
