"""What a daemon costs while nothing happens. One daemon owns many partitions, and a replica follows all of
them."""

import shutil
import time

import alone
from contenders.process import cpu_s
from places import wait_until
from scenarios.group import SESSION, Member


def run(bench, settings, say):
    s = alone.numbers(settings, partitions=64, history=1_000_000, seconds=60)
    topic = bench.scratch_topic(bench.name("idle"), s["partitions"], retention_ms=-1)
    directory = bench.kafka.directory.parent / "idle"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    bench.generate(topic, "--events", s["history"]).result()
    own = f"seend-{topic}"
    roles = {"owner": ({}, own), "replica": ({"role": "replica", "replica_of": own}, f"{own}-b")}
    members = {
        role: Member(
            directory,
            bench.topics,
            topic,
            {
                **more,
                "kafka": {"group_id": group, "instance_id": role, "client": SESSION},
                "state": {"topic": f"{topic}-state"},
                "watermarks": {"topic": f"{topic}-beats"},
                "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
            },
            role,
        )
        for role, (more, group) in roles.items()
    }
    try:
        for member in members.values():
            member.start(ready=False)
        wait_until(
            lambda: all(len(m.owned()) == s["partitions"] for m in members.values()),
            "both have read all",
            300,
        )
        time.sleep(70)  # until after the first run of the state topic and the first checkpoints
        rows = [{"role": role, **over(members[role], s["seconds"])} for role in members]
        for row in rows:
            say(str(row))
        return {"partitions": s["partitions"], "rows": rows}
    finally:
        for member in members.values():
            member.kill9()
        for suffix in ("-state", "-beats", "-filters", "-dead", "-beats-cluster"):
            if bench.topics.partitions(topic + suffix):
                bench.topics.delete(topic + suffix)


def over(member, seconds):
    before = cpu_s(member.process.pid)
    time.sleep(seconds)
    return {"percent_of_a_core": round((cpu_s(member.process.pid) - before) / seconds * 100, 2)}
