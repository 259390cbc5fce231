#!/usr/bin/env python3
"""How many items a second one core groups. The daemon reads texts of about 500 characters from a real broker,
and takes them all the way to the topic of groups.

    SEEN_BUILD_DIR=build/release benchmarks/similar/items_speed.py            60,000 items, from the machine's package texts
    benchmarks/similar/items_speed.py --smoke                                 2,000 items; a test, its figures mean nothing

CPU seconds are those of all threads of the daemon's process, from /proc/PID/stat, from its start to the last
checkpoint."""

import argparse
import json
import pathlib
import random
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "system")]

import descriptions  # noqa: E402
from kafka_broker import Kafka  # noqa: E402
from places import wait_until  # noqa: E402
from seend import Seend  # noqa: E402
from topics import Topics  # noqa: E402

CHARACTERS = 500
TICKS = 100  # of /proc, a second


def texts(count, own):
    """Texts of about CHARACTERS characters, joined from shorter descriptions of the apt mirror. `own`: from
    random words, for a smoke run."""
    chance = random.Random(1)
    if own:
        words = [
            "".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(chance.randint(2, 9)))
            for _ in range(5000)
        ]
        sentences = [" ".join(chance.choice(words) for _ in range(60)) for _ in range(count)]
    else:
        path = descriptions.FOLDER / "long.jsonl"
        if not path.exists():
            sys.exit(f"{path} isn't there: run benchmarks/similar/descriptions.py first")
        sentences = [json.loads(line)["text"] for line in open(path, encoding="utf-8")]
    made, parts = [], iter(chance.sample(sentences, len(sentences)))
    for _ in range(count):
        text = ""
        while len(text) < CHARACTERS:
            part = next(parts, None)
            if part is None:
                parts = iter(chance.sample(sentences, len(sentences)))
                part = next(parts)
            text += part + " "
        made.append(text[:CHARACTERS])
    return made


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(folder, items):
    kafka = Kafka(folder)
    try:
        kafka.start()
        topics = Topics(kafka.bootstrap)
        topics.create("exposures", partitions=1)
        topics.create("items", partitions=1)
        now = int(time.time() * 1000)
        topics.produce(
            "items",
            [
                (str(i), json.dumps({"item_id": str(i), "created_at": now, "text": text, "lang": "en"}))
                for i, text in enumerate(items)
            ],
        )
        seend = Seend(folder, topics, "exposures", {"items": {}, "store": {"checkpoint_interval_s": 10}})
        try:
            started = time.monotonic()
            seend.start(ready=False)

            def done():
                status = (seend.status() or {}).get("items")
                return (
                    status
                    and status["partitions"]
                    and status["partitions"][0]["checkpoint_offset"] >= len(items)
                    and status
                )

            status = wait_until(done, "all items are grouped and durable", timeout_s=600, every_s=0.1)
            wall = time.monotonic() - started
            cpu = cpu_s(seend.process.pid)
            partition = status["partitions"][0]
            return {
                "items": len(items),
                "characters": CHARACTERS,
                "wall_s": round(wall, 2),
                "cpu_s": round(cpu, 2),
                "items_per_cpu_s": round(len(items) / cpu),
                "items_per_s": round(len(items) / wall),
                "index_bytes_per_item": round(partition["bytes"] / max(1, partition["items"])),
                "grouped": partition["grouped"],
                "compared_per_item": round(partition["compared"] / len(items), 1),
                "candidates_per_item": round(partition["candidates"] / len(items), 2),
            }
        finally:
            seend.close()
    finally:
        kafka.stop()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=60_000)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    count = 2_000 if options.smoke else options.items
    items = texts(count, own=options.smoke)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(pathlib.Path(folder), items)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
