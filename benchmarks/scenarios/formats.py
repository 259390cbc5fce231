"""The same events as JSON, as Avro and as Protobuf behind a schema registry's bytes, publishing off. The runs
take turns."""

import json
import statistics
import subprocess

import alone
import paths
import places
from broker import Workload
from schema_registry import SchemaRegistry

SCHEMA_TOOLS = places.SOURCE / "build" / "schema-tools" / "bin" / "python3"
AVRO = {
    "type": "record",
    "name": "Exposure",
    "fields": [
        {"name": "user_id", "type": "string"},
        {"name": "item_id", "type": "string"},
        {"name": "exposed_at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "scene", "type": ["null", "string"], "default": None},
        {"name": "position", "type": ["null", "int"], "default": None},
        {"name": "request_id", "type": ["null", "string"], "default": None},
    ],
}
PROTOBUF = """syntax = "proto3";
message Exposure {
  string user_id = 1; string item_id = 2; int64 exposed_at = 3;
  optional string scene = 4; optional int32 position = 5; optional string request_id = 6; }
"""


def run(bench, settings, say):
    s = alone.numbers(settings, events=2_000_000, runs=3, partitions=4)
    workload = bench.warm(bench.fill(Workload("formats", s["events"], partitions=s["partitions"])), 1)
    with SchemaRegistry() as registry:
        formats = {"json": {}}
        for kind, schema, language in (("avro", AVRO, "AVRO"), ("protobuf", PROTOBUF, "PROTOBUF")):
            number = registry.register(schema, language)
            formats[kind] = {
                "format": kind,
                "framing": "confluent",
                "schema_registry": {"url": registry.url},
            }
            convert(bench, workload.topic, kind, number, s["partitions"])
            say(f"the events are there as {kind}")
        rows = []
        for run in range(s["runs"]):
            for kind, config in formats.items():
                topic = workload.topic if kind == "json" else f"{workload.topic}-{kind}"
                with alone.Seend(bench, topic, publishing=False, input=config) as seend:
                    rate, cpu = alone.between(seend.wait_applied(s["events"], 300), 0, s["events"])
                rows.append({"run": run, "format": kind, "events_per_s": rate, "cpu_us_an_event": cpu})
                say(str(rows[-1]))
    of = {kind: [row["events_per_s"] for row in rows if row["format"] == kind] for kind in formats}
    return {
        "events": s["events"],
        "rows": rows,
        "times_json": {
            kind: {
                "min": min(a / b for a, b in zip(rates, of["json"], strict=True)),
                "median": statistics.median(a / b for a, b in zip(rates, of["json"], strict=True)),
            }
            for kind, rates in of.items()
        },
    }


def convert(bench, topic, kind, schema_id, partitions):
    bench.scratch_topic(f"{topic}-{kind}", partitions, retention_ms=-1)
    question = {
        "brokers": bench.brokers,
        "from": topic,
        "to": f"{topic}-{kind}",
        "kind": kind,
        "schema": AVRO if kind == "avro" else None,
        "schema_id": schema_id,
        "partitions": partitions,
    }
    command = [SCHEMA_TOOLS, paths.BENCHMARKS / "convert_topic.py"]
    subprocess.run(command, input=json.dumps(question), text=True, check=True)
