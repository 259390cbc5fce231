"""Makes tests/golden/state-directory again. `tests/check/upgrade.py --store` builds the earlier version and
runs this."""

import gzip
import os
import pathlib
import socket
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import stored_state  # noqa: E402
from kafka_broker import Kafka  # noqa: E402
from places import wait_until  # noqa: E402
from seend import Seend  # noqa: E402
from topics import Topics  # noqa: E402

EARLIER = pathlib.Path(os.environ["SEEN_EARLIER_BUILD_DIR"]).resolve() / "seend"
HOST = "host"  # RocksDB writes the machine's name into its files


def nameless(folder):
    """A script that runs seend as if the machine's name were HOST."""
    script = folder / "seend-on-host"
    script.write_text(
        f'#!/bin/sh\nexec unshare --map-root-user --uts sh -c \'hostname {HOST} && exec "$0" "$@"\' "{EARLIER}" "$@"\n'
    )
    script.chmod(0o755)
    return script


def main():
    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder))


def make(folder):
    broker = Kafka(folder)
    seend = None
    try:
        broker.start()
        topics = Topics(broker.bootstrap)
        topics.create(stored_state.TOPIC, stored_state.PARTITIONS, retention_ms=-1)
        records, expected, before_marks = stored_state.records()
        seend = Seend(
            folder,
            topics,
            stored_state.TOPIC,
            {"filters": stored_state.FILTERS, "store": {"directory": "store"}},
        )
        seend.config["filters"][0]["snapshot"]["debounce_ms"] = (
            3_600_000  # a user's second change waits for the debounce
        )
        del seend.config["state"]
        seend.program = nameless(folder)
        seend.start()
        topics.produce(stored_state.TOPIC, records[:before_marks])
        seend.wait_caught_up()
        wait_until(lambda: published_users(topics) >= set(stored_state.USERS), "everybody's first snapshot")
        topics.produce(stored_state.TOPIC, records[before_marks:])
        ends = seend.wait_caught_up()
        wait_until(
            lambda: all(s["checkpoint_offset"] >= ends[p] for p, s in seend.partition_status().items()),
            "checkpoints",
        )
        stored_state.check(seend, expected)
        marks = sum(s["marks_outstanding"] for s in seend.partition_status().values())
        seend.kill9()  # a normal stop would publish the marked users
        stored_state.pack(folder / "store")
    finally:
        if seend is not None:
            seend.close()
        broker.stop()
    size = stored_state.ARCHIVE.stat().st_size
    leaked = [word for word in (socket.gethostname(), str(folder)) if word.encode() in contents()]
    assert not leaked, f"the archive names {leaked}"
    print(f"{stored_state.ARCHIVE}: {size} bytes, {marks} marks")


def published_users(topics):
    return {message.key().decode() for message in topics.read_all(f"{stored_state.TOPIC}-filters")}


def contents():
    return gzip.decompress(stored_state.ARCHIVE.read_bytes())


if __name__ == "__main__":
    main()
