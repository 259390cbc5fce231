"""Bytes an event in the state topic: a run every minute at a live rate, one filter, three kinds of
traffic."""

import time

import alone

# 1,024 sessions at a time, an item a second each; sparse: 300,000 at a time, an item every 15 s each, users
# change
KINDS = {
    "dense sessions": ["--users", 100_000],
    "sparse users": ["--users", 5_000_000, "--user-skew", 0.01, "--sessions", 300_000],
    "10-item events": ["--users", 100_000, "--batch", 10],
}


def run(bench, settings, say):
    s = alone.numbers(settings, rate=20_000, seconds=240)
    rows = []
    for kind, arguments in KINDS.items():
        rows.append({"kind": kind, **one(bench, s, arguments)})
        say(str(rows[-1]))
    return {"rate": s["rate"], "seconds": s["seconds"], "run_every_s": 60, "rows": rows}


def one(bench, s, arguments):
    topic = bench.scratch_topic(bench.name("state-bytes"), 4, retention_ms=-1)
    state = f"{topic}-state"
    rate = s["rate"] // 10 if "--batch" in arguments else s["rate"]
    with alone.Seend(bench, topic, publishing=False, state={"topic": state, "run_every_s": 60}) as seend:
        sent = bench.generate(topic, *arguments, "--rate", rate, "--seconds", s["seconds"]).result(
            s["seconds"] + 120
        )
        ends = {p: end for p, (_, end) in bench.topics.ends(topic).items()}
        deadline = time.monotonic() + 200
        while any(stream["sent_to"] < ends[stream["partition"]] for stream in streams(seend)):
            if time.monotonic() > deadline:
                raise RuntimeError("the state topic doesn't get the last run")
            time.sleep(1)
        took = seend.metric("seen_state_stream_bytes_total")
        of = streams(seend)
    bench.drop(state)
    return {
        "events": sent["events"],
        "input_bytes_an_event": sent["bytes"] / sent["events"],
        "state_bytes_an_event": took / sent["events"],
        "runs": sum(stream["runs"] for stream in of),
        "bases": sum(stream["bases"] for stream in of),
    }


def streams(seend):
    return seend.http().get("/v1/status").json()["state_topic"]["streams"]
