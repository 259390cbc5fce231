"""The parts of the examples that need neither Kafka nor seend; tests/system/test_client_python.py runs them
whole."""

import http.server
import json
import socket
import threading
import time

import pytest

from ask_over_http import AskError, SeenHttp, by_request
from encoders import fingerprints, snapshot_of, with_similar
from owners import FETCH_TIMEOUT_S, REFRESH_S_MIN, Routes
from seen_client import Snapshot, fingerprint, partition_of
from seen_client.hashing import NEAR, in_domain
from snapshot_cache import OVERHEAD_BYTES, SnapshotCache

A, B, C = (Snapshot(snapshot_of("bloom", [item])) for item in "abc")


def test_what_is_like_something_seen_goes_last():
    near = fingerprints([in_domain(fingerprint("b"), NEAR)])
    snapshot = Snapshot(with_similar(snapshot_of("fingerprints", ["a"]), near, 11))
    assert by_request(snapshot, ["b", "a", "d", "c", "e", "d"], ["e"]) == ["d", "c", "b"]


def test_the_cache_drops_the_least_recently_used_by_users():
    cache = SnapshotCache(users_max=2, bytes_max=1 << 20)
    cache.put("a", A)
    cache.put("b", B)
    assert cache.get("a") is A
    cache.put("c", C)
    assert cache.get("b") is None and cache.get("a") is A and cache.get("c") is C
    assert len(cache) == 2 and cache.bytes == 2 * OVERHEAD_BYTES + A.nbytes + C.nbytes + 2


def test_the_cache_drops_by_bytes_and_forgets_by_tombstones():
    cache = SnapshotCache(users_max=100, bytes_max=3 * OVERHEAD_BYTES)
    cache.put("a", A)
    cache.put("a", B)
    cache.put("b", C)
    assert len(cache) == 2 and cache.get("a") is B
    cache.put("c", C)
    assert len(cache) == 2 and cache.get("b") is None
    cache.put("huge", Snapshot(snapshot_of("bloom", range(10_000))))
    assert len(cache) == 0 and cache.bytes == 0
    cache.put("a", A)
    cache.forget("a")
    cache.forget("a")
    assert cache.get("a") is None and cache.bytes == 0


def test_what_was_asked_for_after_a_miss_never_replaces_what_the_topic_said_meanwhile():
    cache = SnapshotCache(users_max=10, bytes_max=1 << 20)
    cache.fill("a", A)
    assert cache.get("a") is None, "nobody missed it"
    cache.fill("a", A)
    assert cache.get("a") is A
    assert cache.get("b") is None
    cache.forget("b")
    cache.fill("b", B)
    assert cache.get("b") is None, "the tombstone came later than the question"
    cache.put("b", C)
    cache.fill("b", B)
    assert cache.get("b") is C


class Daemon:
    """Answers POST with (status, body) of `answer(path, question)`, and GET with what `routes` is now.

    `connections`: how many questions came over each. It ends a connection after `kept` answers.
    """

    def __init__(self, answer, kept=100, name=None):
        self.answer, self.routes, self.name = answer, None, name
        self.questions, self.routes_read, self.connections, self.headers = 0, 0, [], []
        daemon = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                self.questions = 0

            def do_GET(self):
                daemon.routes_read += 1
                self.send(200 if daemon.routes else 404, json.dumps(daemon.routes).encode())

            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                daemon.headers.append(self.headers)
                daemon.questions += 1
                self.questions += 1
                if self.questions > 1:
                    daemon.connections.pop()
                daemon.connections.append(self.questions)
                self.send(*daemon.answer(self.path, question))
                self.close_connection = self.questions >= kept

            def send(self, status, body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if daemon.name:
                    self.send_header("Seen-Answered-By", daemon.name)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.listening.daemon_threads = True
        self.address = f"127.0.0.1:{self.listening.server_port}"
        self.thread = threading.Thread(target=self.listening.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        self.listening.shutdown()
        self.listening.server_close()
        self.thread.join()


@pytest.fixture
def daemon():
    """daemon(answer, kept=, name=) -> Daemon"""
    made = []

    def make(*arguments, **named):
        made.append(Daemon(*arguments, **named))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def client():
    """client(addresses, timeout_s=) -> SeenHttp"""
    made = []

    def make(*addresses, timeout_s=5):
        made.append(SeenHttp(",".join(f"http://{address}" for address in addresses), timeout_s=timeout_s))
        return made[-1]

    yield make
    for one in made:
        one.close()
        for connection in vars(one._kept).values():
            connection.close()


@pytest.mark.parametrize("kept, expected", [(100, [6]), (2, [2, 2, 2])])
def test_a_connection_is_kept_and_one_that_was_closed_is_opened_again(daemon, client, kept, expected):
    def answer(path, question):
        assert path == "/v1/filters/default/users/u%2F1/unseen"
        unseen = [str(item) for item in question["items"] if item not in question["also_seen"]]
        return 200, json.dumps({"unseen": unseen}).encode()

    seend = daemon(answer, kept)
    seen = client(seend.address)
    for _ in range(6):
        assert seen.unseen("u/1", ["a", 7, "b"], ["b"]) == (["a", "7"], "http", None)
    assert seend.connections == expected


@pytest.mark.parametrize(
    "status, body", [(503, b"{}"), (404, b""), (200, b"no JSON"), (200, b"{}"), (200, b"[]")]
)
def test_without_an_answer_it_shows_what_the_request_does_not_name(daemon, client, status, body):
    seen = client(daemon(lambda *_: (status, body)).address)
    with pytest.raises(AskError):
        seen.unseen("u", ["a"])
    assert seen.unseen_or_all("u", ["a", 7, "b", "a"], ["b"]) == (["a", "7"], "request", None)


def test_who_does_not_answer_in_time_is_not_waited_for(client):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seen = client(f"127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.05)
        assert seen.unseen_or_all("u", ["a"]) == (["a"], "request", None)
    assert seen.unseen_or_all("u", ["a"]) == (["a"], "request", None), "nobody is there any more"


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ValueError, match="no address"):
        SeenHttp("127.0.0.1:8080")


def route(partition, address, state="ready", **more):
    return {"partition": partition, "instance": f"of-{address}", "address": address, "state": state, **more}


def test_routes_name_the_ready_owner_and_then_ready_replicas():
    users = {partition_of(user, 3): user for user in ("u0", "u1", "u2", "u3", "u4", "u5", "u6")}
    routes = Routes(
        {
            "partitions": 3,
            "partitioner": "murmur2",
            "routes": [
                route(0, "r:1", role="replica"),
                route(0, "o:1", role="owner"),
                route(0, "r:2", "catching_up", role="replica"),
                route(1, "o:2", "catching_up"),
                route(1, "r:1", role="replica"),
                route(2, None),
            ],
        }
    )
    assert [daemon.address for daemon in routes.of(users[0])] == ["http://o:1", "http://r:1"]
    assert [daemon.instance for daemon in routes.of(users[0])] == ["of-o:1", "of-r:1"]
    assert [daemon.address for daemon in routes.of(users[1])] == ["http://r:1"]
    assert routes.of(users[2]) == []
    assert sorted(routes.addresses) == ["http://o:1", "http://o:2", "http://r:1", "http://r:2"]


def test_routes_go_by_the_partitioner_that_they_name():
    answer = {"partitions": 2, "partitioner": "crc32", "routes": [route(0, "o:0"), route(1, "o:1")]}
    for user in ("u1", "u2", "用户"):
        assert Routes(answer).of(user)[0].address == f"http://o:{partition_of(user, 2, 'crc32')}"
    for wrong in ({**answer, "partitioner": "random"}, {**answer, "partitions": 0}):
        with pytest.raises(ValueError):
            Routes(wrong)


def until(condition, timeout_s=10):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def says(name):
    return lambda *_: (200, json.dumps({"unseen": [name]}).encode())


def test_the_owner_is_asked_and_the_others_where_it_is_away_or_has_changed(daemon, client):
    a, b, gone = (
        daemon(says("a"), name="a"),
        daemon(says("b"), name="b"),
        socket.create_server(("127.0.0.1", 0)),
    )
    gone_address = f"127.0.0.1:{gone.getsockname()[1]}"
    gone.close()

    def routes_to(owner, other):
        mine = partition_of("u", 2)
        return {
            "partitions": 2,
            "partitioner": "murmur2",
            "routes": [
                {"partition": p, "instance": one.name, "address": one.address, "state": "ready"}
                for p, one in ((mine, owner), (1 - mine, other))
            ],
        }

    a.routes = b.routes = routes_to(b, a)
    seen = client(gone_address, a.address)  # b is known by the routes alone
    until(lambda: seen.unseen("u", []).by == "b")
    asked = a.questions
    for _ in range(20):
        assert seen.unseen("u", []) == (["b"], "http", "b")
    assert a.questions == asked, "nobody but the owner"
    assert all(0 < int(headers["Seen-Deadline-Ms"]) <= 5_000 for headers in b.headers)

    # The partition moves: b passes questions on.
    a.routes = b.routes = routes_to(a, b)
    b.name = "a"
    until(lambda: seen.unseen("u", []).unseen == ["a"])
    b.name = "b"

    # The owner says that it isn't ready, then it is silent: another one answers, and few routes are read.
    read, began = a.routes_read + b.routes_read, time.monotonic()
    a.answer = lambda *_: (503, b"{}")
    for _ in range(50):
        assert seen.unseen("u", []).by == "b"
    assert a.routes_read + b.routes_read - read <= 1 + (time.monotonic() - began) / REFRESH_S_MIN
    quick = client(a.address, b.address, timeout_s=2)
    until(lambda: quick.unseen("u", []).by == "b")
    a.answer = lambda *_: time.sleep(3) or (200, b"{}")
    took = []
    for _ in range(10):
        began = time.monotonic()
        assert quick.unseen("u", []).by == "b"
        took.append(time.monotonic() - began)
    assert max(took) < 2 and sorted(took)[5] < 0.9, "the one that is silent is asked last for a while"


def test_nobody_waits_for_the_routes(client):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        seen = client(f"127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.1)
        assert seen.unseen_or_all("u", ["a"]).source == "request"
        assert time.monotonic() - began < FETCH_TIMEOUT_S
