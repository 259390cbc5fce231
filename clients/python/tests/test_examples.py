"""The parts of the examples that need neither Kafka nor seend; tests/system/test_client_python.py runs them whole."""

import contextlib
import http.server
import json
import socket
import threading

import pytest

from ask_over_http import AskError, SeenHttp, by_request
from encoders import fingerprints, snapshot_of, with_similar
from seen_client import Snapshot, fingerprint
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


@contextlib.contextmanager
def server(answer, kept=100):
    """Answers POST with (status, body) of `answer(path, question)`; ends a connection after `kept` answers."""
    connections = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            super().setup()
            connections.append(0)

        def do_POST(self):
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, body = answer(self.path, question)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            connections[-1] += 1
            self.close_connection = connections[-1] >= kept

        def log_message(self, *_):
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}", connections
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def close(seen):
    seen._kept.connection and seen._kept.connection.close()


@pytest.mark.parametrize("kept, expected", [(100, [6]), (2, [2, 2, 2])])
def test_a_connection_is_kept_and_one_that_was_closed_is_opened_again(kept, expected):
    def answer(path, question):
        assert path == "/v1/filters/default/users/u%2F1/unseen"
        unseen = [str(item) for item in question["items"] if item not in question["also_seen"]]
        return 200, json.dumps({"unseen": unseen}).encode()

    with server(answer, kept) as (address, connections):
        seen = SeenHttp(address, timeout_s=5)
        for _ in range(6):
            assert seen.unseen("u/1", ["a", 7, "b"], ["b"]) == ["a", "7"]
        close(seen)
    assert connections == expected


@pytest.mark.parametrize("status, body", [(503, b"{}"), (404, b""), (200, b"no JSON"), (200, b"{}"), (200, b"[]")])
def test_without_an_answer_it_shows_what_the_request_does_not_name(status, body):
    with server(lambda *_: (status, body)) as (address, _):
        seen = SeenHttp(address, timeout_s=5)
        with pytest.raises(AskError):
            seen.unseen("u", ["a"])
        assert seen.unseen_or_all("u", ["a", 7, "b", "a"], ["b"]) == (["a", "7"], "request")
        close(seen)


def test_who_does_not_answer_in_time_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seen = SeenHttp(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.05)
        assert seen.unseen_or_all("u", ["a"]) == (["a"], "request")
    assert seen.unseen_or_all("u", ["a"]) == (["a"], "request"), "nobody is there any more"


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ValueError, match="no address"):
        SeenHttp("127.0.0.1:8080")
