"""Brokers go away and come back. The daemon waits, reports it, and loses nothing."""

import re
import time

from http_json import user_path
from load import Load
from oracle import event
from places import now_ms, wait_until


def as_of(answer):
    """(lag, age_ms); None: unknown"""
    lag, age_ms = re.fullmatch(
        r"\d+; lag=(\d+|unknown); age_ms=(\d+|unknown)", answer.headers["Seen-As-Of"]
    ).groups()
    return tuple(None if number == "unknown" else int(number) for number in (lag, age_ms))


def test_answers_go_on_while_brokers_are_away_and_state_their_age(kafka, topics, started, topic_name, chance):
    load = Load(chance, users=50)
    seend = started()
    load.send(topics, topic_name, 1_000)
    seend.wait_at_rest()
    page = user_path(load.oracle.users()[0])
    fresh = wait_until(
        lambda: (a := seend.get(page + "?max_age_ms=2000")).status == 200 and a, "the answer is fresh"
    )
    assert as_of(fresh)[0] == 0 and as_of(fresh)[1] <= 2_000
    before = now_ms()
    with kafka.away():
        stopped = now_ms()
        wait_until(lambda: as_of(seend.get(page))[0] is None, "the lag is unknown")
        time.sleep(2)
        old = seend.get(page)
        assert old.status == 200
        lag, age_ms = as_of(old)
        assert lag is None and now_ms() - stopped <= age_ms <= now_ms() - before + 2_000, (
            age_ms,
            now_ms() - stopped,
        )
        refused = seend.get(page + "?max_age_ms=1000")
        assert refused.status == 503 and "max_age_ms = 1000" in refused.json()["detail"], refused.body
        assert int(refused.headers["Retry-After"]) > 0 and as_of(refused)[0] is None
        for path in (page + "/segments", page + "/why?item=a"):
            joint = "&" if "?" in path else "?"
            assert (
                seend.get(path).status == 200 and seend.get(f"{path}{joint}max_age_ms=1000").status == 503
            ), path
        load.oracle.check_http(seend)
        ready = seend.get("/readyz")
        assert ready.status == 200 and "brokers don't answer" in ready.text, ready.text
        assert all(
            s["lag_messages"] is None and s["age_ms"] >= 1_000 for s in seend.partition_status().values()
        )
    wait_until(lambda: seend.get(page + "?max_age_ms=2000").status == 200, "the answer is fresh again", 60)


def test_answers_after_a_stop_of_the_process_do_not_claim_to_be_fresh(topics, started, topic_name):
    seend = started(partitions=1)
    topics.produce(topic_name, [("u", event("u", "before", now_ms()))])
    seend.wait_caught_up()
    wait_until(lambda: as_of(seend.get(user_path("u")))[0] == 0, "the end is known")
    for round_ in range(3):
        item = f"during-{round_}"
        with seend.standing_still():
            topics.produce(topic_name, [("u", event("u", item, now_ms()))])
            produced = now_ms()
            time.sleep(3)
        stale = 0
        while True:
            asked = now_ms()
            answer = seend.http.post(user_path("u") + "/unseen", {"items": [item]})
            assert answer.status == 200
            if not answer.json()["unseen"]:
                break
            stale += 1
            lag, age_ms = as_of(answer)
            assert age_ms is not None and age_ms >= asked - produced, (
                f"{stale}: {answer.headers['Seen-As-Of']}"
            )
            assert lag != 0
            assert asked - produced < 20_000
        print(f"{stale} answers without the item after the stop")


def test_a_broker_restart_during_load_loses_nothing(kafka, topics, started, topic_name, chance):
    load = Load(chance, users=1_000)
    seend = started(partitions=3)
    producing = load.send_aside(topics, topic_name, 150_000, rate=25_000)
    wait_until(lambda: seend.metric_sum("seen_events_total") > 25_000, "it is in the middle of the load")
    with kafka.away():
        wait_until(lambda: seend.status()["brokers_reachable"] is False, "status says that no broker answers")
        assert seend.get("/healthz").status == 200
        known = load.oracle.users()[0]
        assert seend.http.get(f"/v1/filters/default/users/{known}").status in (200, 503)
        log = seend.log().lower()
        assert "broker" in log and ("warning" in log or "error" in log), log[-2000:]
    producing.join()
    seend.wait_at_rest(timeout_s=120)
    wait_until(lambda: seend.status()["brokers_reachable"], "the brokers are reached")
    wait_until(lambda: seend.get("/readyz").status == 200, "it is ready")
    load.oracle.check_http(seend, users=load.oracle.users()[:300])
    load.oracle.check_published(topics, f"{topic_name}-filters", 3)


def test_a_start_without_brokers_waits_for_them(kafka, topics, daemon, topic_name, chance):
    topics.create(topic_name)
    load = Load(chance, users=50)
    load.send(topics, topic_name, 1_000)
    with kafka.away():
        seend = daemon(topic_name).start(ready=False)
        seend.wait_not_ready()
        wait_until(
            lambda: "broker" in seend.get("/readyz").json()["detail"].lower(), "the reason names the brokers"
        )
        time.sleep(3)
        assert seend.alive()
        assert seend.get("/healthz").status == 200
        refused = seend.get("/v1/filters/default/users/user-1")
        assert refused.status == 503 and int(refused.headers["Retry-After"]) > 0
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


def test_sigterm_without_brokers_still_exits_in_time(kafka, topics, started, topic_name, chance):
    load = Load(chance, users=50)
    seend = started()
    load.send(topics, topic_name, 2_000)
    seend.wait_caught_up()
    with kafka.away():
        seend.stop(timeout_s=10)
    seend.start(timeout_s=60)
    seend.wait_at_rest()
    load.oracle.check_http(seend)
