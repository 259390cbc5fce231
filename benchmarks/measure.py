"""The three measurements that every contender goes through."""

import shutil
import time

import latency_join
import oracle_sample
import paths
from bystanders import Bystanders
from contenders.process import Run, cpu_s
from places import now_ms

POLL_S = 0.02
SAMPLE = "sample-users.txt"
WARM_SHARE = 0.4  # share of the topic after which a JVM has compiled its code


def fresh_run(bench, contender, topic, **more):
    name = bench.name(contender.name)
    directory = paths.WORK / "run" / name
    shutil.rmtree(paths.WORK / "run", ignore_errors=True)  # the previous contender's
    directory.mkdir(parents=True)
    output = bench.output_topic(contender.output_name(name)) if contender.publishes else None
    return Run(brokers=bench.brokers, input=topic, group=name, directory=directory, output=output, **more)


def follow(session, records, timeout_s, every_s=POLL_S, started=None):
    """Polls until `records` are applied and published. Returns, among others: first: (time, applied, cpu)
    when anything was applied; warm: the same when two fifths of the records were applied; applied_at: the
    time when all were applied."""
    begun = time.monotonic() if started is None else started
    first, warm, applied_at = None, None, None
    while True:
        session.check_alive()
        applied = session.applied() or 0
        now, cpu = time.monotonic(), session.cpu_s()
        session.peak_bytes()
        if first is None and applied > 0:
            first = (now, applied, cpu)
        if warm is None and applied >= WARM_SHARE * records:
            warm = (now, applied, cpu)
        if applied_at is None and applied >= records:
            applied_at = now
        if applied >= records and session.finished(records):
            ended = getattr(session, "ended_at", None) or time.monotonic()
            return {
                "begun": begun,
                "first": first,
                "warm": warm,
                "applied_at": applied_at,
                "ended": ended,
                "cpu": session.cpu_s(),
            }
        if now - begun > timeout_s:
            raise RuntimeError(f"only {applied} of {records} records within {timeout_s:.0f} s")
        time.sleep(every_s)


def ingest(bench, contender, workload, closely):
    """From an empty state to the end of the topic. `closely`: also looks at answers and state, which one of
    several runs does."""
    oracle = None
    run = fresh_run(bench, contender, workload.topic)
    if closely and not contender.limit:
        oracle = oracle_sample.sample(bench, workload)
        run.sample = paths.WORK / SAMPLE
        run.sample.write_text("".join(f"{user}\n" for user in oracle))
    bystanders = Bystanders(bench.cpu_s)
    session = contender.start(run)
    try:
        seen = follow(session, workload.events, 120 + workload.events / 5_000)
        others, stolen = bystanders.cores()
        others -= session.cpu_s() / max(1e-3, time.monotonic() - bystanders.begun)
        began, before, cpu_before = seen["first"]
        records, seconds = workload.events - before, max(seen["ended"] - began, 1e-3)
        if records < workload.events / 2:  # too quick: the first sample came late
            records, seconds, cpu_before = workload.events, seen["ended"] - seen["begun"], 0
        warm_at, warm, cpu_warm = seen["warm"]
        warm_records = workload.events - warm
        seen_late = warm_records > workload.events / 4
        result = {
            "rate_warm": warm_records / max(seen["ended"] - warm_at, 1e-3) if seen_late else None,
            "cpu_us_warm": (seen["cpu"] - cpu_warm) / warm_records * 1e6 if seen_late else None,
            "records": workload.events,
            "seconds": seconds,
            "rate": records / seconds,
            "cpu_us": (seen["cpu"] - cpu_before) / records * 1e6,
            "cpu_total_us": seen["cpu"] / workload.events * 1e6,
            "start_s": began - seen["begun"],
            "peak_bytes": session.peak_bytes(),
            "cpu_by_process": session.cpu_by_process(),
            "others_cores": others,
            "stolen_cores": stolen,
        }
        if run.output:
            result["published"] = sum(end for _, end in bench.topics.ends(run.output).values())
        if closely:
            result["state_bytes"] = contender.state_bytes(run)
            result.update(contender.more(run) if hasattr(contender, "more") else {})
        if oracle is not None:
            result["answers"] = oracle_sample.check(contender.answers(run, list(oracle)), oracle)
        return result
    finally:
        session.stop()
        if run.output:
            bench.drop(run.output)


def wait_ready(session, timeout_s=120):
    deadline = time.monotonic() + timeout_s
    while not session.ready():
        session.check_alive()
        if time.monotonic() > deadline:
            raise RuntimeError(f"not ready within {timeout_s} s")
        time.sleep(0.05)


def live_arguments(rate, users=1_000_000):
    """As many sessions as events a second, so that each user in session is shown an item a second."""
    return ["--users", users, "--rate", rate, "--sessions", rate]


def latency(bench, contender, rate, seconds, warm_s=10):
    """Event to published at a steady rate, after `warm_s` seconds at the same rate."""
    topic = bench.scratch_topic(bench.name("live"))
    bystanders = Bystanders(bench.cpu_s)
    run = fresh_run(bench, contender, topic, bounded=False)
    session = contender.start(run)
    try:
        wait_ready(session)
        load = bench.generate(topic, *live_arguments(rate), "--seconds", warm_s + seconds)
        time.sleep(warm_s)
        from_ms, cpu, begun, before = now_ms(), session.cpu_s(), time.monotonic(), session.applied() or 0
        while load.process.poll() is None:
            session.check_alive()
            session.peak_bytes()
            time.sleep(0.2)
        others, stolen = bystanders.cores()
        others -= (session.cpu_s() + cpu_s(load.process.pid)) / (time.monotonic() - bystanders.begun)
        until_ms, cpu, took = now_ms(), session.cpu_s() - cpu, time.monotonic() - begun
        applied = session.applied() or 0
        sent = load.result()["events"]
        result = {
            "rate": rate,
            "seconds": took,
            "sent": sent,
            "applied_rate": (applied - before) / took,
            "cpu_cores": cpu / took,
            "others_cores": others,
            "stolen_cores": stolen,
            "peak_bytes": session.peak_bytes(),
            "sent_rate": sent / (warm_s + seconds),
            "keeps_up": sent - applied < rate,
        }
        if result["keeps_up"]:
            time.sleep(4)
            result.update(
                latency_join.join(bench.topics, topic, run.output, contender.covered, from_ms, until_ms)
            )
        return result
    finally:
        session.stop()
        bench.drop(topic, *([run.output] if run.output else []))


def caught_up_s(bench, session, topic, since, timeout_s, settle_s=0.3):
    """Seconds from `since` until all events are applied that were in the topic `settle_s` earlier. None:
    timed out."""
    ends = []
    while True:
        session.check_alive()
        ends.append((time.monotonic(), sum(end for _, end in bench.topics.ends(topic).values())))
        applied, now = session.applied() or 0, time.monotonic()
        past = [end for at, end in ends if at <= now - settle_s]
        if past and applied >= past[-1]:
            return now - since
        if now - since > timeout_s:
            return None
        time.sleep(0.02)


def restart(bench, contender, rate=20_000, loaded=1_000_000, before_s=12):
    """kill -9 at a live rate, with the state of `loaded` events. The contender is started again at once."""
    topic = bench.scratch_topic(bench.name("restart"))
    bench.generate(topic, "--users", 1_000_000, "--events", loaded).result()
    run = fresh_run(bench, contender, topic, bounded=False)
    session, load = contender.start(run), None
    try:
        follow_applied(session, loaded, 60 + loaded / 5_000)
        load = bench.generate(topic, *live_arguments(rate), "--seconds", before_s + 120)
        time.sleep(before_s)
        behind = sum(end for _, end in bench.topics.ends(topic).values()) - (session.applied() or 0)
        killed = time.monotonic()
        session.kill9()
        run.resume = True
        session = contender.start(run)
        seconds = caught_up_s(bench, session, topic, killed, 100)
        return {"seconds": seconds, "behind_before": behind, "rate": rate, "loaded": loaded}
    finally:
        if load:
            load.process.terminate()
            load.process.wait()
        session.stop()
        bench.drop(topic, *([run.output] if run.output else []))


def follow_applied(session, records, timeout_s):
    deadline = time.monotonic() + timeout_s
    while (session.applied() or 0) < records:
        session.check_alive()
        if time.monotonic() > deadline:
            raise RuntimeError(f"{session.applied()} of {records} records within {timeout_s:.0f} s")
        time.sleep(0.05)
