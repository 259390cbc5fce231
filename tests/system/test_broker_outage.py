"""Brokers go away and come back; the daemon waits, says so, and loses nothing."""

import time

from load import Load
from places import wait_until


def test_a_broker_restart_during_load_loses_nothing(kafka, topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=3)
    load = Load(chance, users=1_000)
    seend = daemon(topic_name).start()
    producing = load.send_aside(topics, topic_name, 150_000, rate=25_000)
    wait_until(lambda: seend.metric_sum("seen_events_total") > 25_000, "it is in the middle of the load")
    kafka.stop()
    try:
        wait_until(lambda: seend.status()["brokers_reachable"] is False, "status says that no broker answers")
        assert seend.get("/healthz").status == 200
        known = load.oracle.users()[0]
        assert seend.http.get(f"/v1/filters/default/users/{known}").status in (200, 503)
        log = seend.log().lower()
        assert "broker" in log and ("warning" in log or "error" in log), log[-2000:]
    finally:
        kafka.start()
    producing.join()
    seend.wait_at_rest(timeout_s=120)
    assert seend.status()["brokers_reachable"] is True
    assert seend.get("/readyz").status == 200
    load.oracle.check_http(seend, users=load.oracle.users()[:300])
    load.oracle.check_published(topics, f"{topic_name}-filters", 3)


def test_a_start_without_brokers_waits_for_them(kafka, topics, daemon, topic_name, chance):
    topics.create(topic_name)
    load = Load(chance, users=50)
    load.send(topics, topic_name, 1_000)
    kafka.stop()
    try:
        seend = daemon(topic_name).start(ready=False)
        seend.wait_not_ready()
        wait_until(lambda: "broker" in seend.get("/readyz").json()["detail"].lower(), "the reason names the brokers")
        time.sleep(3)
        assert seend.alive()
        assert seend.get("/healthz").status == 200
        refused = seend.get("/v1/filters/default/users/user-1")
        assert refused.status == 503 and int(refused.headers["Retry-After"]) > 0
    finally:
        kafka.start()
    seend.wait_ready(60)
    seend.wait_at_rest()
    load.oracle.check_http(seend)


def test_a_topic_that_does_not_exist_yet_is_waited_for(topics, daemon, topic_name, chance):
    seend = daemon(topic_name).start(ready=False)
    red = seend.wait_not_ready()
    time.sleep(2)
    assert seend.alive() and topic_name in seend.get("/readyz").text, red.text
    topics.create(topic_name)
    load = Load(chance, users=50)
    load.send(topics, topic_name, 500)
    seend.wait_ready(60)
    seend.wait_at_rest()
    load.oracle.check_http(seend)


def test_sigterm_without_brokers_still_exits_in_time(kafka, topics, daemon, topic_name, chance):
    topics.create(topic_name)
    load = Load(chance, users=50)
    seend = daemon(topic_name).start()
    load.send(topics, topic_name, 2_000)
    seend.wait_caught_up()
    kafka.stop()
    try:
        seend.stop(timeout_s=10)
    finally:
        kafka.start()
    seend.start(timeout_s=60)
    seend.wait_at_rest()
    load.oracle.check_http(seend)
