"""The daemon reads its configuration again while it runs."""

import json
import signal

import pytest

from load import Load
from places import wait_until
from seenctl_tool import run


def rewrite(seend, change):
    change(seend.config)
    seend.write_config()


def reload(seend):
    return json.loads(run("config", "reload", "--http", seend.url, "--json")[0])


def formats(topics, topic):
    """{user: format of the newest snapshot}"""
    newest = {}
    for message in topics.read_all(topic):
        newest[message.key().decode()] = message.value()
    return {
        user: value[5] for user, value in newest.items() if value
    }  # the byte after magic and version: schemas/snapshot.md


def test_a_filters_format_changes_for_all_users(topics, started, topic_name, chance):
    seend = started(partitions=2)
    load = Load(chance, users=200)
    load.send(topics, topic_name, 4_000)
    seend.wait_at_rest()
    before = formats(topics, f"{topic_name}-filters")
    assert len(before) == len(load.oracle.users()) and len(set(before.values())) == 1
    rewrite(seend, lambda c: c["filters"][0]["snapshot"].update(format="bloom", debounce_ms=100))
    report = reload(seend)
    assert sorted(report["applied"]) == ["filters[0].snapshot.debounce_ms", "filters[0].snapshot.format"]
    assert report["waits_for_restart"] == []
    wait_until(
        lambda: (
            (f := formats(topics, f"{topic_name}-filters")).keys() == before.keys()
            and len(set(f.values())) == 1
            and set(f.values()).isdisjoint(before.values())
        ),
        "all have the new format",
        60,
    )
    load.send(topics, topic_name, 1_000)
    seend.wait_at_rest()
    assert reload(seend) == {"applied": [], "waits_for_restart": []}
    sent = seend.metric_sum("seen_snapshots_total")
    seend.kill9()  # the next start has nothing to re-render
    seend.start()
    seend.wait_at_rest()
    assert seend.metric_sum("seen_snapshots_total") < sent / 2
    assert set(formats(topics, f"{topic_name}-filters").values()).isdisjoint(before.values())


def test_what_can_change_does_and_what_cannot_waits(started):
    seend = started(partitions=1)

    def change(config):
        config["log"] = {"level": "error"}
        config["http"]["client_requests_per_s_max"] = 5
        config["store"]["memory_mib"] = 300
        config["filters"].append({"name": "another", "snapshot": None})

    rewrite(seend, change)
    seend.process.send_signal(signal.SIGHUP)
    line = wait_until(
        lambda: (
            [
                x
                for x in seend.log().splitlines()
                if "configuration reloaded" in x or "client asks too often" in x
            ]
            or statuses(seend).count(429)
        ),
        "it is reloaded",
    )
    assert line
    wait_until(lambda: statuses(seend).count(429) > 0, "the limit counts")
    wait_until(lambda: seend.http.get("/healthz").status == 200, "later it may ask again", every_s=0.5)
    rewrite(seend, lambda c: c["http"].pop("client_requests_per_s_max"))
    report = wait_until(lambda: post_reload(seend), "the limit is gone", every_s=0.5)
    assert report["applied"] == ["http.client_requests_per_s_max"]
    assert report["waits_for_restart"] == ["filters", "store.memory_mib"]
    text = run("config", "reload", "--http", seend.url)[0]
    assert "waits for a restart  store.memory_mib" in text and "nothing to apply" in text
    assert statuses(seend).count(429) == 0
    assert seend.status()["ready"]


def statuses(seend):
    return [seend.http.get("/healthz").status for _ in range(40)]


def post_reload(seend):
    answer = seend.http.post("/v1/reload")
    return answer.json() if answer.status == 200 else None


@pytest.mark.parametrize(
    "text, said",
    [
        ('{"log": {"level": "debug"}, "stor": {}}', 'did you mean \\"store\\"'),
        ("{", "line 1"),
        ('{"filters": [{"name": "default", "snapshot": {"topic": "t", "debounce_ms": -1}}]}', "debounce_ms"),
    ],
)
def test_a_mistake_anywhere_refuses_the_whole_file(text, said, started):
    seend = started(partitions=1)
    seend.config_path.write_text(text)
    answer = seend.http.post("/v1/reload")
    assert answer.status == 400 and said in answer.text
    said_by_tool = run("config", "reload", "--http", seend.url, status=2)[1]
    assert "seenctl:" in said_by_tool
    seend.process.send_signal(signal.SIGHUP)
    wait_until(
        lambda: "configuration not reloaded: the daemon keeps the old one" in seend.log(), "it is logged"
    )
    assert " debug " not in seend.log() and seend.status()["ready"]
    seend.config_path.unlink()
    assert seend.http.post("/v1/reload").status == 400
    seend.write_config()
    assert reload(seend) == {"applied": [], "waits_for_restart": []}
