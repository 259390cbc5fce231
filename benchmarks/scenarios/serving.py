"""HTTP with wrk: `unseen` with many candidates, and filters by GET, for users of 3,000 items and of 100, idle
and while ingesting."""

import re
import shutil
import subprocess
import time

import alone
import measure
from broker import Workload
from contenders.process import Missing
from oracle_sample import sample

UNSEEN = """
local paths, n = {paths}, 0
local items = {{}}
for i = 1, {candidates} do items[i] = string.format('"n%08x"', (i * 2654435761) % 4294967296) end
local body = '{{"items":[' .. table.concat(items, ",") .. ']}}'
request = function()
  n = n % #paths + 1
  return wrk.format("POST", paths[n] .. "/unseen", {{["Content-Type"] = "application/json"}}, body)
end
"""
PACE = """
delay = function() return {every_ms} end
"""
SNAPSHOT = """
local paths, n = {paths}, 0
request = function()
  n = n % #paths + 1
  return wrk.format("GET", paths[n])
end
"""


def run(bench, settings, say):
    need_wrk()
    s = alone.numbers(
        settings,
        users=1000,
        items=3000,
        few_items=100,
        seconds=8,
        connections=8,
        ingest_rate=300_000,
        paced=1_000,
    )
    rows = [
        {"items_a_user": s["few_items"], **row}
        for row in serve(bench, s, say, s["few_items"], [("snapshot", 0)], [])
    ]
    rows += [
        {"items_a_user": s["items"], **row}
        for row in serve(
            bench,
            s,
            say,
            s["items"],
            [("unseen", 2_000), ("unseen", 10_000), ("snapshot", 0)],
            [("unseen", 2_000), ("snapshot", 0)],
        )
    ]
    return {"users": s["users"], "connections": s["connections"], "rows": rows}


def serve(bench, s, say, items, idle, ingesting):
    # There are a tenth more events than items, because some items come to a user twice.
    workload = bench.fill(
        Workload(
            "busy",
            s["users"] * items * 11 // 10,
            users=s["users"],
            days=29,
            more=["--items", "1000000", "--user-skew", "0.01", "--item-skew", "0.01"],
        )
    )
    users = list(sample(bench, workload, 200))
    with alone.Seend(bench, workload.topic, publishing=False) as seend:
        seend.wait_applied(workload.events, 300)
        seend.session.stop()  # a stop writes all state to the store
        seend.again()
        measure.wait_ready(seend.session)
        rows = [wrk(seend, users, s, what, candidates, 0) for what, candidates in idle]
        if ingesting:
            load = bench.generate(
                workload.topic,
                *measure.live_arguments(s["ingest_rate"]),
                "--seconds",
                2 * len(ingesting) * (s["seconds"] + 2) + 6,
            )
            time.sleep(2)
            rows += [
                {**wrk(seend, users, s, what, candidates, pace), "ingesting": True}
                for what, candidates in ingesting
                for pace in (s["paced"], 0)
            ]
            load.process.terminate()
            load.process.wait()
    bench.topics.delete(workload.topic)  # the topic now has more events than its name says
    for row in rows:
        say(str(row))
    return rows


def need_wrk():
    if not shutil.which("wrk"):
        raise Missing("wrk isn't installed (scripts/setup.sh --bench)")


def wrk(seend, users, s, what, candidates, pace):
    """Sends as many requests as are answered, or about `pace` a second."""
    paths = "{" + ",".join(f'"/v1/filters/default/users/{user}"' for user in users) + "}"
    script = seend.run.directory / f"{what}.lua"
    text = (UNSEEN if candidates else SNAPSHOT).format(paths=paths, candidates=candidates)
    script.write_text(text + (PACE.format(every_ms=1000 * s["connections"] // pace) if pace else ""))
    cpu, begun = seend.session.cpu_s(), time.monotonic()
    said = subprocess.run(
        [
            "wrk",
            "-t1",
            f"-c{s['connections']}",
            f"-d{s['seconds']}s",
            "--latency",
            "-s",
            str(script),
            f"{seend.scheme()}://{seend.address()}",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    cpu, took = seend.session.cpu_s() - cpu, time.monotonic() - begun
    requests = int(re.search(r"(\d+) requests in", said)[1])
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    return {
        "what": what,
        "candidates": candidates or None,
        "ingesting": False,
        "paced": bool(pace),
        "requests_per_s": requests / took,
        "server_cpu_us_a_request": cpu / requests * 1e6,
        "cores": cpu / took,
        "p50_ms": milliseconds(said, "50%"),
        "p99_ms": milliseconds(said, "99%"),
        "not_answered_with_200": int(wrong[1]) if wrong else 0,
    }


def milliseconds(said, share):
    value, unit = re.search(rf"^\s*{share}\s+([\d.]+)(us|ms|s)$", said, re.M).groups()
    return float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
