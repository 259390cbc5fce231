"""HTTP over real sockets: answers, limits, and answers while the daemon catches up."""

import gzip
import json
import socket

import pytest

from hashes import fingerprint
from http_json import user_path
from load import Load, one_by_one
from oracle import DAY_MS, Oracle
from places import now_ms, wait_until


@pytest.fixture
def asked(topics, started, topic_name):
    """A ready daemon; its user u has seen item a."""
    seend = started()
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "a")]))
    seend.wait_caught_up()
    return seend


def raw(seend, data, wait_s=5):
    """Sends bytes. Returns all bytes until the other side closes the connection or sends nothing for
    `wait_s`."""
    host, port = seend.address.split(":")
    with socket.create_connection((host, int(port)), timeout=wait_s) as connection:
        connection.sendall(data)
        received = b""
        try:
            while chunk := connection.recv(65_536):
                received += chunk
        except TimeoutError:
            pass
        return received


REQUESTS = [
    ("GET", "/healthz", None, 200),
    ("GET", "/nothing", None, 404),
    ("GET", "/v1/filters/nope/users/u", None, 404),
    ("GET", "/v1/filters/default/users/", None, 400),
    ("GET", "/v1/filters/default/users/%zz", None, 400),
    ("GET", "/v1/filters/default/users/" + "x" * 513, None, 400),
    ("DELETE", "/v1/status", None, 405),
    ("GET", user_path("u") + "/unseen", None, 405),
    ("POST", user_path("u") + "/unseen", b"", 400),
    ("POST", user_path("u") + "/unseen", b'{"items":"a"}', 400),
    ("POST", user_path("u") + "/unseen", b'{"itmes":["a"]}', 400),
    ("POST", user_path("u") + "/unseen", json.dumps({"items": [""]}).encode(), 400),
    ("POST", user_path("u") + "/unseen", json.dumps({"items": ["x"] * 20_001}).encode(), 400),
    ("POST", user_path("u") + "/unseen", b'{"items":[{"id":"a","created_at":"now"}]}', 400),
    ("POST", user_path("u") + "/unseen", b" " * (5 << 20), 413),
]


def test_errors_are_problem_documents(asked):
    for method, path, body, status in REQUESTS:
        answer = asked.http.request(method, path, body)
        assert answer.status == status, (method, path, answer.text)
        if status >= 400:
            assert answer.headers["Content-Type"].startswith("application/problem+json")
            assert answer.json()["status"] == status and answer.json()["detail"]


def test_twenty_thousand_items_are_answered_exactly(asked):
    items = [f"i{n}" for n in range(19_999)]
    assert asked.unseen("u", ["a", *items]) == items


def test_what_ended_before_an_item_was_created_is_not_asked(topics, started, topic_name):
    """Two items have one fingerprint. The old one was shown yesterday, the fresh one never."""
    old, fresh = "shown-46453", "fresh-129312"
    assert fingerprint(old) == fingerprint(fresh)
    seend = started()
    now = now_ms()
    today, yesterday = now - now % DAY_MS, now - now % DAY_MS - DAY_MS // 2
    topics.produce(topic_name, one_by_one(Oracle(), [("u", old), ("u", "a"), ("all", old)], yesterday))
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "b")], today))
    topics.produce(topic_name, one_by_one(Oracle(), [("all", fresh)], today))
    for restarted in (False, True):
        seend.wait_caught_up()
        created = {"id": fresh, "created_at": today}
        assert seend.unseen("u", [fresh, "new"]) == ["new"]
        assert seend.unseen("u", [{"id": fresh}, {"id": fresh, "created_at": None}]) == []
        assert seend.unseen("u", ["a", created, "new", 7]) == [fresh, "new", "7"]
        assert seend.unseen("u", [{"id": fresh, "created_at": yesterday}]) == [], "its day hadn't ended"
        assert seend.unseen("u", [fresh, "new", created]) == [fresh, "new"], "an id is one item"
        assert seend.unseen("u", [created], [fresh]) == []
        assert seend.unseen("all", [created]) == [], "it was shown after it was created"
        shown = [
            {"id": "a", "created_at": yesterday},
            {"id": old, "created_at": yesterday - 1},
            "b",
            {"id": "b", "created_at": today},
        ]
        assert seend.unseen("u", shown) == []
        if not restarted:
            seend.stop()
            seend.start()
    refused = seend.http.post(user_path("u") + "/unseen", {"items": ["a", {"id": "b", "made_at": 1}]})
    assert refused.status == 400 and refused.json()["detail"].startswith('$.items[1]: unknown key "made_at"')


def test_pipelined_requests_are_answered_in_order(asked):
    one = f"GET {user_path('u')}/segments HTTP/1.1\r\nHost: x\r\n\r\n"
    two = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    received = raw(asked, (one * 3 + two).encode())
    assert received.count(b"HTTP/1.1 200") == 4
    assert received.index(b'"segments"') < received.rindex(b"alive")


def test_headers_without_end_are_refused(asked):
    received = raw(asked, b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 100_000 + b"\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 431"), received[:100]
    assert asked.get("/healthz").status == 200


def test_what_is_not_http_is_refused(asked):
    received = raw(asked, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10 + b"\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 400"), received[:100]
    assert asked.get("/healthz").status == 200


def test_a_head_request_has_the_length_and_no_body(asked):
    whole = asked.http.get(user_path("u"))
    head = asked.http.request("HEAD", user_path("u"))
    assert head.status == 200 and head.body == b"" and int(head.headers["Content-Length"]) == len(whole.body)


def test_a_body_that_is_encoded_is_refused_by_the_name_of_the_header(asked):
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    body = gzip.compress(b'{"items":["a"]}')
    for path in (user_path("u") + "/unseen", "/v1/users/u/removed"):
        answer = asked.http.request("POST", path, body, headers)
        assert answer.status == 415 and "Content-Encoding: gzip" in answer.json()["detail"], answer.text
    assert asked.unseen("u", ["a", "b"]) == ["b"]


def test_options_are_answered_also_for_a_proxy_that_knows_no_address(asked):
    for path, allowed in ((user_path("u"), "GET, HEAD"), ("/v1/users/u", "DELETE"), ("/", "GET, HEAD")):
        answer = asked.http.request("OPTIONS", path)
        assert (answer.status, answer.headers["Allow"]) == (200, f"{allowed}, OPTIONS"), path
    assert raw(asked, b"OPTIONS / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 OK"), "HAProxy's default"
    assert raw(asked, b"GET /readyz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 OK")


def test_a_web_page_elsewhere_changes_nothing(topics, started, topic_name):
    """It may send text/plain unasked, also to loopback. With DNS rebinding its requests seem to be its own."""
    asked = started({"http": {"hosts": "seend.example.com"}})
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "a")]))
    asked.wait_caught_up()
    json_type = {"Content-Type": "application/json"}
    elsewhere = [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "text/plain", "Origin": "https://evil.example"}, 403),
        (json_type | {"Origin": "https://evil.example"}, 403),
        (json_type | {"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}, 403),
        (json_type | {"Host": "evil.example:8080"}, 403),
    ]
    changes = [
        ("POST", "/v1/lost-ranges/acknowledge"),
        ("POST", "/v1/publish"),
        ("POST", "/v1/reload"),
        ("POST", "/v1/users/u/removed"),
        ("DELETE", "/v1/users/u"),
    ]
    for headers, status in elsewhere:
        for method, path in changes:
            answer = asked.http.request(method, path, b'{"items":["a"]}', headers)
            assert answer.status == status, (method, path, headers, answer.text)
    assert asked.unseen("u", ["a", "b"]) == ["b"]
    port = asked.address.rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "10.9.8.7"):
        answer = asked.http.request("POST", "/v1/publish", b"", json_type | {"Host": host})
        assert answer.status == 202, (host, answer.text)
    named = json_type | {"Host": "seend.example.com"}
    assert asked.http.request("DELETE", "/v1/users/u", None, named).status == 202
    wait_until(lambda: asked.unseen("u", ["a", "b"]) == ["a", "b"], "the user is erased")


def test_users_get_503_with_the_reason_while_their_partition_catches_up(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=1)
    load = Load(chance, users=20_000)
    load.send(topics, topic_name, 400_000)
    seend = daemon(topic_name, {"http": {"ready_lag_messages": 1}})
    user = load.oracle.users()[0]
    refused, retry_after = [], None
    seend.start(ready=False)

    def answered():
        nonlocal retry_after
        answer = seend.get(user_path(user))
        if answer is None:
            return False
        if answer.status == 503:
            retry_after = int(answer.headers["Retry-After"])
            refused.append(answer.json()["detail"])
            assert seend.get("/healthz").status == 200
        return answer.status == 200

    wait_until(answered, "the user is answered", timeout_s=60, every_s=0.02)
    assert refused and retry_after > 0
    assert any("catch" in detail for detail in refused), set(refused)
    seend.wait_caught_up()
    load.oracle.check_http(seend, users=load.oracle.users()[:50])
