"""A thousand hostile connections harm nobody else. How much slower others are: the benchmark `hostile`."""

import time

import pytest

from certificates import Authority
from hostile_clients import Crowd
from http_json import user_path
from oracle import event
from places import now_ms, wait_until
from test_access import Client, TOKENS, write_tokens


@pytest.mark.heavy
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_good_connections_are_answered_among_a_thousand_hostile_ones(tls, topics, daemon, topic_name, tmp_path):
    topics.create(topic_name, partitions=1)
    topics.produce(topic_name, [("u1", event("u1", "i1", now_ms()))])
    access, ca, token = {}, None, None
    if tls:
        authority = Authority(tmp_path)
        certificate, key = authority.sign("seend")
        ca, token = authority.certificate, TOKENS["read"]
        access = {"certificate": str(certificate), "key": str(key), "tokens": str(write_tokens(tmp_path / "tokens"))}
    seend = daemon(topic_name, {"access": access, "http": {"client_connections_max": 1_100}}).start(ready=False)
    good = Client(seend.address, token, ca)
    wait_until(lambda: good.status("GET", "/readyz") == 200, "it is ready")

    def rss():
        line, = [x for x in good.ask("GET", "/metrics").text.splitlines() if x.startswith("process_resident_memory_bytes")]
        return float(line.split()[1])
    before = rss()
    with Crowd(seend.address, 1_000, tls) as crowd:
        until = time.monotonic() + 14  # beyond the 10 s that a request has to arrive
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
