"""History built into a daemon's directory (seenctl replay --into-state): one item an event, batches of 100,
and a large one."""

import json
import os
import random
import shutil
import statistics
import subprocess
import time

import alone
from http_json import Http, user_path
from places import SEENCTL, SEEND, free_port, wait_until

DAY_MS = 86_400_000


def run(bench, settings, say):
    s = alone.numbers(
        settings,
        events=5_000_000,
        batches=200_000,
        items=300_000_000,
        repeats=3,
        partitions=12,
        memory_mib=1024,
    )
    folder = bench.kafka.directory.parent / "into-state"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    topic = bench.scratch_topic(bench.name("into-state"), s["partitions"], retention_ms=-1)
    config = folder / "seend.json"
    config.write_text(
        json.dumps(
            {
                "kafka": {"brokers": bench.kafka.bootstrap, "group_id": topic},
                "input": {"topic": topic},
                "filters": [{"name": "default", "items_max": 100_000}],
            }
        )
    )
    try:
        rows = []
        for name, write in (("one item an event", single), ("batches of 100", batches)):
            source = folder / "history.jsonl"
            write(source, s)
            for run in range(s["repeats"]):
                rows.append({"run": run, "history": name, **build(config, folder, s, str(source))})
                say(str(rows[-1]))
            source.unlink()
        users = max(1, s["items"] // 3_000)
        rows.append(
            {
                "history": "piped, 15 items an event, 3,000 a user",
                **piped(config, folder, s, users),
                **first_start(config, folder, users),
            }
        )
        say(str(rows[-1]))
        return {"partitions": s["partitions"], "memory_mib": s["memory_mib"], "rows": rows}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def single(path, s):
    with open(path, "wb") as file:
        generate(
            file, "--events", s["events"], "--users", 300_000, "--items", 200_000, "--days", 30, check=True
        )


def batches(path, s):
    chance, now = random.Random(1), int(time.time() * 1000)
    ids = [f'"n{chance.randrange(2**32):08x}"' for _ in range(500_000)]
    with open(path, "w") as file:
        for i in range(s["batches"]):
            start = chance.randrange(len(ids) - 200)
            items = ",".join(chance.sample(ids[start : start + 200], 100))
            at = now - 30 * DAY_MS + i * (30 * DAY_MS // s["batches"])
            file.write(
                f'{{"user_id":"u{chance.randrange(20_000):06}","items":[{items}],"exposed_at":{at}}}\n'
            )


def piped(config, folder, s, users):
    """Builds the state of about s["items"] items in folder/state. The producer's CPU time is reported
    apart."""
    events = s["items"] // 15  # a session has 10 to 20 items
    producer = subprocess.Popen(
        [
            str(SEENCTL),
            "generate",
            "--stdout",
            "--quiet",
            "--events",
            str(events),
            "--batch",
            "20",
            "--users",
            str(users),
            "--user-skew",
            "0.01",
            "--items",
            "5000000",
            "--item-skew",
            "0.5",
            "--days",
            "30",
        ],
        stdout=subprocess.PIPE,
    )
    try:
        result = build(config, folder, s, "-", stdin=producer.stdout)
    finally:
        producer.stdout.close()
        _, _, usage = os.wait4(producer.pid, 0)
        producer.returncode = 0
    return {**result, "producer_cpu_s": round(usage.ru_utime + usage.ru_stime, 1)}


def first_start(config, folder, users):
    """Times from the daemon's start on the state to ready, and of the first answer about a user, while
    nothing is cached."""
    first = json.loads(config.read_text())
    address = f"127.0.0.1:{free_port()}"
    first |= {"store": {"directory": str(folder / "state")}, "http": {"listen": address}}
    started = folder / "started.json"
    started.write_text(json.dumps(first))
    made = subprocess.run(
        [
            str(SEENCTL),
            "generate",
            "--stdout",
            "--quiet",
            "--events",
            "20",
            "--users",
            str(users),
            "--user-skew",
            "0.01",
        ],
        stdout=subprocess.PIPE,
        check=True,
    )
    asked = sorted({json.loads(line)["user_id"] for line in made.stdout.splitlines()})
    http, begun = Http(address), time.monotonic()
    with open(folder / "seend.log", "wb") as log:
        daemon = subprocess.Popen([str(SEEND), "--config", str(started)], stdout=log, stderr=log)
    try:

        def answers(path):
            try:
                return http.get(path).status == 200
            except OSError:
                return False

        wait_until(lambda: answers("/readyz"), "the daemon is ready", 600, every_s=0.01)
        ready = time.monotonic() - begun
        times = []
        for user in asked:
            before = time.monotonic()
            answer = http.post(user_path(user) + "/unseen", {"items": ["n1"]})
            times.append(1000 * (time.monotonic() - before))
            assert answer.status == 200, answer.body
        return {
            "first_start_s": round(ready, 2),
            "first_answer_ms": round(times[0], 1),
            "next_answers_p50_ms": round(statistics.median(times[1:]), 2),
        }
    finally:
        daemon.kill()
        daemon.wait()


def generate(file, *arguments, check):
    subprocess.run(
        [str(SEENCTL), "generate", "--stdout", "--quiet", *map(str, arguments)], stdout=file, check=check
    )


def build(config, folder, s, source, stdin=None):
    state = folder / "state"
    shutil.rmtree(state, ignore_errors=True)
    process = subprocess.Popen(
        [
            str(SEENCTL),
            "replay",
            source,
            "--config",
            str(config),
            "--into-state",
            str(state),
            "--memory-mib",
            str(s["memory_mib"]),
            "--json",
            "--quiet",
        ],
        stdin=stdin,
        stdout=subprocess.PIPE,
    )
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise RuntimeError(f"the build ended with {status}")
    result = json.loads(out)
    took = result["read_s"] + result["write_s"]
    return {
        "events": result["events"],
        "items": result["items"],
        "events_per_s": round(result["events"] / took),
        "items_per_s": round(result["items"] / took),
        "read_s": round(result["read_s"], 1),
        "write_s": round(result["write_s"], 1),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "bytes_an_item": round(result["state_bytes"] / result["items"], 2),
        "peak_mib": round(usage.ru_maxrss / 1024),
    }
