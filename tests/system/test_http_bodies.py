"""All HTTP bodies in flight share one budget of bytes, whatever clients send."""

import json
import socket
import threading
import time

import pytest

from http_json import user_path
from places import wait_until

MIB = 1 << 20
BUDGET = 16 * MIB  # the minimum; 5% of 64 MiB would be 3 MiB
# Other memory that the process takes while it answers: connections' buffers, threads' scratch memory, what
# malloc keeps.
SLACK = 36 * MIB
CLIENTS = 40


class Client:
    """One connection. It sends a request's head and body separately, and reads the answer."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30)

    def head(self, target, length, *lines):
        lines = [
            f"POST {target} HTTP/1.1",
            "Host: x",
            "Content-Type: application/json",
            f"Content-Length: {length}",
            *lines,
        ]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def body(self, data):
        """Sends the body. The daemon may refuse it and close the connection before all of it is sent."""
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def answer(self):
        """(status, head and body)"""
        data = b""
        try:
            while part := self.socket.recv(65_536):
                data += part
                head, found, body = data.partition(b"\r\n\r\n")
                length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                if found and length and len(body) >= int(length[0].split(b":")[1]):
                    break
        except OSError:
            pass
        return (int(data.split()[1]), data.decode(errors="replace")) if data else (None, "")

    def close(self):
        self.socket.close()


@pytest.fixture(scope="module")
def text():
    """text(size) -> a JSON document of `size` bytes, most of them words"""
    words = " ".join(f"word{i % 7919} runs{i % 104729}" for i in range(1_200_000))
    return lambda size: json.dumps({"text": words[: size - 12]}).encode()


@pytest.fixture
def seend(topics, daemon, topic_name):
    topics.create(topic_name)
    for suffix in ("items", "groups"):
        topics.create(f"{topic_name}-{suffix}", partitions=1)
    started = daemon(
        topic_name,
        {
            "store": {"memory_mib": 64},
            "items": {"topic": f"{topic_name}-items", "groups_topic": f"{topic_name}-groups"},
        },
    ).start()

    def similar_works():
        answer = started.http.post("/v1/similar", {"text": "one two three"})
        return answer.status == 200

    wait_until(similar_works, "/v1/similar answers", 60)
    return started


def storm(seend, target, body):
    """CLIENTS connections send `body` at once and retry after a 503. Returns (statuses, growth of RSS in
    bytes)."""
    statuses, lock, before = [], threading.Lock(), seend.rss_bytes()

    def send():
        for _ in range(300):
            client = Client(seend.address)
            client.head(target, len(body))
            client.body(body)
            status, said = client.answer()
            client.close()
            with lock:
                statuses.append(status)
            if status not in (503, None):
                break
            time.sleep(0.2)
        else:
            raise AssertionError(f"never answered: {said[:500]}")

    clients = [threading.Thread(target=send) for _ in range(CLIENTS)]
    with seend.peak_rss() as peak:
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    print(
        f"{CLIENTS} x {len(body) / MIB:.1f} MiB to {target}: RSS {before >> 20} -> {peak[0] >> 20} MiB;",
        {status: statuses.count(status) for status in set(statuses)},
    )
    return statuses, peak[0] - before


def test_forty_texts_at_once_stay_within_the_memory_of_bodies(seend, text):
    # A text takes three times its length, so 15 MiB can never fit into 16 MiB.
    statuses, grown = storm(seend, "/v1/similar", text(15 * MIB))
    assert set(statuses) == {413}, statuses
    assert grown < BUDGET + SLACK
    client = Client(seend.address)
    client.head("/v1/similar", 15 * MIB)
    status, said = client.answer()
    assert status == 413 and "raise store.memory_mib" in said, said
    # 5 MiB fit, one at a time.
    statuses, grown = storm(seend, "/v1/similar", text(5 * MIB))
    assert statuses.count(200) == CLIENTS and 503 in statuses, statuses
    assert grown < BUDGET + SLACK
    assert seend.metrics()['seen_http_requests_total{code="503",route="/v1/similar"}'] > 0
    assert "there is no room for its body" in seend.log() and "store.memory_mib" in seend.log()


def test_forty_lists_of_candidates_at_once_stay_within_the_memory_of_bodies(seend):
    body = json.dumps({"items": [f"item-{i:0150}" for i in range(20_000)]}).encode()
    statuses, grown = storm(seend, user_path("u") + "/unseen", body)
    assert statuses.count(200) == CLIENTS, statuses
    assert grown < BUDGET + SLACK


def test_a_request_that_is_refused_anyway_is_answered_before_its_body(seend):
    for target, expected in (
        ("/nowhere", 404),
        ("/v1/filters/other/users/u/unseen", 404),
        ("/v1/status", 405),
        (user_path("u") + "/unseen?max_age_ms=x", 400),
    ):
        client = Client(seend.address)
        client.head(target, 15 * MIB)
        started = time.monotonic()
        status, said = client.answer()  # no byte of the body is sent
        assert status == expected, said
        assert time.monotonic() - started < 5
        client.close()
