"""Access to seend: two listeners, TLS, tokens, the audit log, limits for a client."""

import json
import os
import re
import socket
import ssl
import subprocess
import time
import warnings

import pytest

from certificates import Authority
from http_json import Http, user_path
from load import Load
from oracle import event
from places import SEEND, free_port, now_ms, wait_until
from seenctl_tool import fails, run
from seend import in_group

TOKENS = {
    "read": "read-token-of-the-recall-stage",
    "write": "write-token-of-moderation",
    "admin": "admin-token-of-ops",
}
CHANGES = [
    ("DELETE", "/v1/users/u1"),
    ("POST", "/v1/users/u1/removed"),
    ("POST", "/v1/publish"),
    ("POST", "/v1/promote"),
    ("POST", "/v1/lost-ranges/acknowledge"),
    ("POST", "/v1/copies"),
    ("DELETE", "/v1/copies/c"),
    ("POST", "/v1/filters/default/fill"),
    ("DELETE", "/v1/fills/default"),
]
QUERIES = [
    ("GET", user_path("u1")),
    ("POST", user_path("u1") + "/unseen"),
    ("GET", user_path("u1") + "/segments"),
    ("GET", "/v1/routes"),
]
STATUS = [("GET", "/v1/status"), ("GET", "/metrics"), ("GET", "/v1/digest?partition=0"), ("GET", "/v1/fills")]
OPEN = [("GET", "/"), ("GET", "/healthz"), ("GET", "/readyz")]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


class Client(Http):
    """Sends each request on a connection of its own, with or without TLS, with or without a token."""

    def __init__(self, address, token=None, ca=None, source=None):
        super().__init__(address, 20, ca, source)
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method, path, body=None):
        try:
            return self.request(
                method, path, None if body is None else json.dumps(body).encode(), self.headers
            )
        finally:
            self.close()

    def status(self, method, path):
        return self.ask(method, path, {"items": ["i1"]} if method == "POST" else None).status


def write_tokens(path, tokens=None):
    path.write_text(
        "# role name token\n\n"
        + "".join(f"{role} {role}er {token}\n" for role, token in (tokens or TOKENS).items())
    )
    return path


@pytest.fixture
def locked(topics, daemon, topic_name, tmp_path, authority):
    """A daemon with TLS, tokens and two listeners; one user has seen one item."""
    topics.create(topic_name, partitions=1)
    topics.produce(topic_name, [("u1", event("u1", "i1", now_ms()))])
    admin = f"127.0.0.1:{free_port()}"
    seend = daemon(
        topic_name,
        {
            "admin": {"listen": admin},
            "access": {**authority.access(topic_name), "tokens": str(write_tokens(tmp_path / "tokens"))},
        },
    )
    seend.admin = admin
    seend.start(ready=False)
    client = Client(admin, TOKENS["admin"], authority.certificate)
    wait_until(
        lambda: (
            client.status("GET", "/readyz") == 200
            and client.ask("POST", user_path("u1") + "/unseen", {"items": ["i1"]}).json()["unseen"] == []
        ),
        "it is ready",
    )
    return seend


def audit(seend):
    """Audit lines as [{field: value}], oldest first."""
    lines = [line for line in seend.log().splitlines() if line.split()[1:2] == ["audit"]]
    return [dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line)) | {"line": line} for line in lines]


def test_each_role_may_do_what_it_is_for_and_no_more(locked, authority):
    ca = authority.certificate
    for role in (None, "read", "write", "admin"):
        client = Client(locked.admin, TOKENS.get(role), ca)
        for method, path in OPEN:
            assert client.status(method, path) == 200, (role, path)
        for method, path in QUERIES + STATUS:
            status = client.status(method, path)
            assert status == 401 if role is None else status in (200, 202, 404, 503), (
                role,
                method,
                path,
                status,
            )
        for method, path in CHANGES:
            writes = path.startswith("/v1/users/")
            allowed = role == "admin" or (role == "write" and writes)
            status = client.status(method, path) if not allowed else None
            assert status == (None if allowed else 401 if role is None else 403), (role, method, path, status)
    assert Client(locked.admin, TOKENS["write"], ca).status("DELETE", "/v1/users/nobody") == 202
    assert Client(locked.admin, TOKENS["admin"], ca).status("POST", "/v1/publish") == 202
    refused = Client(locked.admin, TOKENS["read"], ca).ask("DELETE", "/v1/users/u1")
    assert "reader" in refused.json()["detail"] and "write" in refused.json()["detail"]
    asked = Client(locked.admin, None, ca).ask("GET", "/v1/status")
    assert (
        asked.headers["WWW-Authenticate"].startswith("Bearer") and "access.tokens" in asked.json()["detail"]
    )
    for wrong in ("x", TOKENS["read"] + "x", TOKENS["read"][:-1], "ä" * 20):
        headers = {"Authorization": f"Bearer {wrong}".encode()}
        connection = Client(locked.admin, None, ca).connect()
        connection.request("GET", "/v1/status", headers=headers)
        assert connection.getresponse().status == 401, wrong
        connection.close()


def test_look_ups_have_one_port_and_all_else_the_other(locked, authority):
    client = Client(locked.address, TOKENS["admin"], authority.certificate)
    for method, path in QUERIES + OPEN:
        assert client.status(method, path) == 200, path
    for method, path in CHANGES + STATUS:
        answer = client.ask(method, path, {"items": ["i1"]} if method == "POST" else None)
        assert answer.status == 404 and "admin.listen" in answer.json()["detail"], path


def test_changes_and_refusals_are_in_the_audit_log(locked, authority):
    ca = authority.certificate
    Client(locked.admin, TOKENS["write"], ca).ask("DELETE", "/v1/users/u%2F1")
    Client(locked.admin, TOKENS["read"], ca).ask("DELETE", "/v1/users/u%2F1")
    Client(locked.admin, None, ca).ask("POST", "/v1/publish")
    Client(locked.admin, TOKENS["admin"], ca).ask("DELETE", "/v1/copies/a-copy")
    lines = wait_until(lambda: (a := audit(locked)) and len(a) >= 4 and a, "four audit lines")
    made, forbidden, unknown, copy = lines[:4]
    assert (made["who"], made["method"], made["page"], made["status"]) == (
        "writeer",
        "DELETE",
        "/v1/users/{user}",
        "202",
    )
    assert re.fullmatch(r"127\.0\.0\.1:\d+", made["from"]) and re.fullmatch(r"[0-9a-f]{32}", made["user"])
    assert (forbidden["who"], forbidden["status"], forbidden["user"]) == ("reader", "403", made["user"])
    assert (unknown["who"], unknown["status"]) == ("anonymous", "401")
    assert copy["subject"] == "a-copy"
    for line in lines:
        assert line["line"].startswith("20") and "u/1" not in line["line"]
    for token in TOKENS.values():
        assert token not in locked.log()


def test_users_are_named_plainly_where_the_operator_wants_it(started):
    seend = started({"access": {"audit_users": "plain"}, "log": {"level": "error"}}, partitions=1)
    assert seend.http.delete("/v1/users/u%2F1").status == 202
    line = wait_until(lambda: (a := audit(seend)) and a[0], "an audit line, whatever the log's level")
    assert (line["user"], line["who"], line["status"]) == ("u/1", "anonymous", "202")


def test_tokens_rotate_without_a_restart(locked, authority, tmp_path):
    ca, path = authority.certificate, tmp_path / "tokens"
    old, new = Client(locked.admin, TOKENS["read"], ca), Client(locked.admin, "the-next-token-of-recall", ca)
    path.write_text(path.read_text() + "read reader the-next-token-of-recall\n")
    wait_until(lambda: new.status("GET", "/v1/status") == 200, "the new token counts")
    assert old.status("GET", "/v1/status") == 200
    replacement = path.with_name("tokens.new")  # replaces the file, as `mv` and mounted secrets do
    replacement.write_text("read reader the-next-token-of-recall\n")
    os.replace(replacement, path)
    wait_until(lambda: old.status("GET", "/v1/status") == 401, "the old token counts no more")
    assert new.status("GET", "/v1/status") == 200
    path.write_text("read reader short\n")
    wait_until(lambda: "access files can't be read" in locked.log(), "the mistake is logged")
    assert "line 1: the token must be 16 to 256 characters" in locked.log() and "short" not in audit(locked)
    assert new.status("GET", "/v1/status") == 200
    failed = re.search(r"seen_access_reloads_failed_total (\d+)", new.ask("GET", "/metrics").text)
    assert int(failed[1]) >= 1


def test_a_certificate_is_replaced_without_a_restart(locked, authority, tmp_path):
    def shown():
        pem = ssl.get_server_certificate(tuple(locked.admin.split(":")))
        return ssl.PEM_cert_to_DER_cert(pem)

    client = Client(locked.admin, TOKENS["admin"], authority.certificate)
    connection = client.connect()
    connection.connect()
    before = shown()
    certificate, key = authority.sign("the-next")
    access = locked.config["access"]
    open(access["certificate"], "w").write(certificate.read_text())
    wait_until(lambda: "key values mismatch" in locked.log(), "half of the pair is refused")
    assert shown() == before
    open(access["key"], "w").write(key.read_text())
    wait_until(lambda: shown() != before, "new connections get the new certificate")
    connection.request("GET", "/v1/status", headers={"Authorization": f"Bearer {TOKENS['read']}"})
    assert connection.getresponse().status == 200, "a connection that was open goes on"
    connection.close()
    not_after = re.search(
        r"^seen_certificate_not_after_seconds (\S+)", client.ask("GET", "/metrics").text, re.M
    )
    assert 29 * 86_400 < float(not_after[1]) - time.time() < 31 * 86_400


def test_tls_says_what_is_wrong(locked, authority):
    host, port = locked.admin.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"400 Bad Request" in plain.recv(4096)
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        with pytest.raises(ssl.SSLError):
            old.wrap_socket(raw)
    strangers = Authority(locked.directory, "strangers")
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        Client(locked.admin, TOKENS["admin"], strangers.certificate).ask("GET", "/")
    # Renegotiation must be off: with it, one connection could cause many handshakes.
    client = ["openssl", "s_client", "-connect", locked.admin, "-tls1_2"]
    asked = subprocess.run(client, input="R\n", text=True, capture_output=True, timeout=60, check=False)
    assert "no renegotiation" in asked.stderr or asked.returncode != 0
    assert Client(locked.admin, TOKENS["admin"], authority.certificate).status("GET", "/v1/status") == 200


def test_large_bodies_and_many_requests_of_one_connection_go_through_tls(locked, authority):
    client = Client(locked.address, TOKENS["read"], authority.certificate)
    items = [f"item-{i:060}" for i in range(20_000)]
    assert (
        client.ask("POST", user_path("u1") + "/unseen", {"items": items + ["i1"][:0]}).json()["unseen"]
        == items
    )
    connection = client.connect()
    headers = {"Authorization": f"Bearer {TOKENS['read']}", "Content-Type": "application/json"}
    for i in range(200):
        connection.request(
            "POST", user_path("u1") + "/unseen", json.dumps({"items": ["i1", f"i{i + 2}"]}), headers
        )
        assert json.loads(connection.getresponse().read())["unseen"] == [f"i{i + 2}"]
    connection.close()
    # The daemon reads a refused body to its end, so that the client gets the reason.
    connection = client.connect()
    connection.request("POST", user_path("u1") + "/unseen", b"x" * 6_000_000, headers)
    answer = connection.getresponse()
    assert answer.status == 413 and b"longer than" in answer.read()
    connection.close()


def test_seenctl_brings_a_token_and_trusts_a_ca(locked, authority, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKENS["admin"] + "\n")
    there = ("--http", f"https://{locked.admin}", "--ca", authority.certificate, "--token-file", token)
    wait_until(lambda: not fails("status", *there), "status is good")
    assert "READY" in run("status", *there)[0]
    assert run("unseen", "u1", "i1", "i2", *there)[0].split() == ["i2"]
    said = run("status", "--http", f"https://{locked.admin}", "--token-file", token, status=1)[1]
    assert "--ca" in said and "certificate" in said
    said = run("status", "--http", f"https://{locked.admin}", "--ca", authority.certificate, status=2)[1]
    assert "Bearer TOKEN" in said
    said = run("status", *there[:4], "--token-file", tmp_path / "none", status=2)[1]
    assert "--token-file" in said
    said = run("status", "--http", f"http://{locked.admin}", "--token-file", token, status=2)[1]
    assert "TLS" in said
    token.write_text(TOKENS["read"])
    said = run("erase", "u1", "--yes", *there, status=2)[1]
    assert "needs write" in said and TOKENS["read"] not in said
    environment = {"SEEN_HTTP": there[1], "SEEN_CA": str(there[3]), "SEEN_TOKEN_FILE": str(token)}
    assert run("unseen", "u1", "i1", environment=environment) == ("", "")


def test_daemons_pass_requests_on_by_tls(topics, daemon, topic_name, tmp_path, authority, chance):
    topics.create(topic_name, partitions=4)
    access = {**authority.access(topic_name), "tokens": str(write_tokens(tmp_path / "tokens"))}
    members = [
        daemon(
            topic_name,
            in_group(topic_name, f"member-{i}", state={"topic": None}, access=access),
            name=f"member-{i}",
        )
        for i in range(2)
    ]
    for member in members:
        member.start(ready=False)
    load = Load(chance, users=40, items=200)
    topics.produce(topic_name, [(user, value) for user, value in load.events(400)])
    clients = [Client(m.address, TOKENS["read"], authority.certificate) for m in members]

    def all_answer():
        for user in load.oracle.users():
            items = sorted(load.oracle.items(user))
            for client in clients:
                answer = client.ask("POST", user_path(user) + "/unseen", {"items": items})
                if answer.status != 200 or answer.json()["unseen"]:
                    return False
        return True

    wait_until(all_answer, "each daemon answers for every user", timeout_s=60)
    forwarded = [
        re.search(r'seen_forwarded_requests_total\{result="answered"\} (\d+)', c.ask("GET", "/metrics").text)
        for c in clients
    ]
    assert sum(int(f[1]) for f in forwarded) > 0
    # A request with Seen-Hop needs the cluster's token.
    connection = clients[0].connect()
    connection.request("GET", "/v1/status", headers={"Seen-Hop": "member-9", "Seen-Token": "another-token"})
    assert connection.getresponse().status == 403
    connection.close()


def check_config(tmp_path, changes):
    """seend's check of a small configuration with `changes`, and the configuration's path."""
    path = tmp_path / "seend.json"
    path.write_text(
        json.dumps(
            {
                "kafka": {"brokers": "127.0.0.1:1"},
                "filters": [{"name": "f", "snapshot": {"topic": "f"}}],
                **changes,
            }
        )
    )
    done = subprocess.run([SEEND, "--check-config", path], capture_output=True, text=True, timeout=60)
    return done, path


@pytest.mark.parametrize(
    "changes, said",
    [
        (
            {"http": {"listen": "0.0.0.0:0"}},
            ["http.listen", "anybody may read and change everything", '"insecure": true'],
        ),
        ({"admin": {"listen": "[::]:0"}}, ["admin.listen", '"insecure": true']),
        ({"http": {"listen": "0.0.0.0:0"}, "access": {"tokens": "/t"}}, ["http.listen", "unencrypted"]),
        ({"access": {"certificate": "/c"}}, ["access.key", "missing"]),
        ({"access": {"ca": "/c"}}, ["access.ca", "access.certificate"]),
    ],
)
def test_what_is_open_to_strangers_is_refused(changes, said, tmp_path):
    done, _ = check_config(tmp_path, changes)
    assert done.returncode == 2
    for words in said:
        assert words in done.stderr, done.stderr
    for listener in ("http", "admin"):
        if "listen" in changes.get(listener, {}):
            changes = {**changes, listener: {**changes[listener], "insecure": True}}
            if "access" in changes:  # from here on the file is read
                (tmp_path / "tokens").write_text(f"read recall {TOKENS['read']}\n")
                changes = {**changes, "access": {"tokens": str(tmp_path / "tokens")}}
            done, _ = check_config(tmp_path, changes)
            assert done.returncode == 0, done.stderr


def test_a_bad_file_of_tokens_names_the_line_and_never_the_token(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name, partitions=1)
    path, said = tmp_path / "tokens", "line 2: the token must be 16"
    path.write_text("# one\nread recall 0123456789abcde\n")
    seend = daemon(topic_name, {"access": {"tokens": str(path)}})
    seend.start(ready=False)
    assert seend.wait_exit() == 1
    assert said in seend.log() and str(path) in seend.log() and "0123456789abcde" not in seend.log()
    done = subprocess.run([SEEND, "--check-config", seend.config_path], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith(f"{seend.config_path}: access.tokens: "), done
    assert said in done.stderr and str(path) in done.stderr and "0123456789abcde" not in done.stderr


def test_the_check_of_a_configuration_reads_the_files_that_it_names(tmp_path):
    (tmp_path / "idf").write_text("no table")
    done, config = check_config(
        tmp_path,
        {
            "items": {"topic": "items", "groups_topic": "groups", "idf_file": str(tmp_path / "idf")},
            "access": {key: str(tmp_path / key) for key in ("certificate", "key", "tokens")},
        },
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and not done.stdout, done
    for line, (key, name) in zip(
        lines,
        (("access.certificate", "certificate"), ("access.tokens", "tokens"), ("items.idf_file", "idf")),
        strict=True,
    ):
        assert line.startswith(f"{config}: {key}: ") and str(tmp_path / name) in line, line


def test_a_client_has_limits_and_harms_only_itself(started):
    seend = started({"http": {"client_connections_max": 3, "client_requests_per_s_max": 20}}, partitions=1)
    greedy, other = Client(seend.address, source="127.0.0.2"), Client(seend.address, source="127.0.0.3")
    held = [greedy.connect() for _ in range(3)]
    for connection in held:
        connection.connect()
    wait_until(lambda: greedy.status("GET", "/healthz") == 503, "a fourth connection is refused")
    assert other.status("GET", "/healthz") == 200
    for connection in held:
        connection.close()
    wait_until(lambda: greedy.status("GET", "/healthz") == 200, "connections are given back")
    connection = greedy.connect()
    statuses = []
    for _ in range(200):
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
        if answer.status == 429:
            assert answer.headers["Retry-After"] == "1"
    connection.close()
    assert statuses.count(429) >= 100 and statuses[0] in (200, 429)
    assert other.status("GET", "/healthz") == 200
    wait_until(lambda: greedy.status("GET", "/healthz") == 200, "after a while it may ask again")
    assert "a client asks too often" in seend.log() and "from=127.0.0.2:" in seend.log()
