"""Events that aren't JSON: Avro and Protobuf, with a schema registry and without, through the real daemon."""

import json
import struct
import subprocess
import time

from hashes import partition_of
from places import SOURCE, now_ms, wait_until
from schema_registry import SchemaRegistry
from seenctl_tool import run

SCHEMA_TOOLS = SOURCE / "build" / "schema-tools" / "bin" / "python3"
PRODUCER = SOURCE / "tests" / "system" / "registry_producer.py"

EXPOSURE = {
    "type": "record",
    "name": "Exposure",
    "namespace": "shop",
    "fields": [
        {"name": "user_id", "type": "string"},
        {"name": "item_id", "type": ["null", "string"], "default": None},
        {"name": "exposed_at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
# The same with items, and other fields around.
PAGE = {
    "type": "record",
    "name": "Exposure",
    "namespace": "shop",
    "fields": [
        {"name": "session", "type": ["null", "long"], "default": None},
        {"name": "user_id", "type": "string"},
        {
            "name": "items",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Item",
                    "fields": [
                        {"name": "item_id", "type": "long"},
                        {"name": "price", "type": ["null", "double"]},
                    ],
                },
            },
        },
        {"name": "exposed_at", "type": "long"},
        {"name": "scene", "type": {"type": "enum", "name": "Scene", "symbols": ["home", "search"]}},
    ],
}


def produce(topics, topic, registry, schema, *events, kind="avro", user="u1"):
    """Through the serializers that companies use."""
    question = {
        "brokers": topics.bootstrap,
        "topic": topic,
        "registry": registry.url,
        "kind": kind,
        "schema": schema,
        "events": [(user, event) for event in events],
    }
    subprocess.run([SCHEMA_TOOLS, PRODUCER], input=json.dumps(question), text=True, check=True, timeout=60)


def by_registry(registry, kind="avro", **more):
    return {
        "input": {
            "format": kind,
            "framing": "confluent",
            "schema_registry": {"url": registry.url, "unknown_s": 2, **more},
        }
    }


def zigzag(number):
    return varint((number << 1) ^ (number >> 63))


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def avro_exposure(user, item, at):
    """A datum of EXPOSURE."""
    text = lambda value: zigzag(len(value.encode())) + value.encode()  # noqa: E731
    return text(user) + zigzag(1) + text(item) + zigzag(at)


def framed(schema_id, datum):
    return b"\0" + struct.pack(">I", schema_id) + datum


def exposure(item, user="u1", at=None):
    return {"user_id": user, "item_id": item, "exposed_at": at or now_ms()}


def test_avro_of_a_registry_and_a_new_schema_in_the_stream(topics, daemon, topic_name):
    topics.create(topic_name)
    with SchemaRegistry() as registry:
        seend = daemon(topic_name, by_registry(registry)).start()
        produce(topics, topic_name, registry, EXPOSURE, exposure("a1"), exposure("a2"))
        page = {"session": 7, "user_id": "u1", "exposed_at": now_ms(), "scene": "search"}
        items = [{"item_id": n, "price": 1.5 if n % 2 else None} for n in (11, 12)]
        produce(topics, topic_name, registry, PAGE, page | {"items": items})
        produce(topics, topic_name, registry, EXPOSURE, exposure("a3"))
        seend.wait_at_rest()
        assert seend.unseen("u1", ["a1", "a2", "a3", "a4", "11", "12", "13"]) == ["a4", "13"]
        assert [path for path in registry.asked if "ids" in path] == ["/schemas/ids/1", "/schemas/ids/2"]
        # Changes over HTTP are events of seend's own, in the same topic.
        assert seend.http.post("/v1/users/u1/removed", {"items": ["a1"]}).status == 202
        seend.wait_at_rest()
        assert seend.unseen("u1", ["a1", "a2"]) == ["a1"]
    assert not seend.status()["troubles"]


def test_a_schema_that_refers_to_another(topics, daemon, topic_name):
    topics.create(topic_name)
    page = {**PAGE, "fields": [dict(field) for field in PAGE["fields"]]}
    item = page["fields"][2]["type"]["items"]
    page["fields"][2]["type"] = {"type": "array", "items": "shop.Item"}
    with SchemaRegistry() as registry:
        registry.register({**item, "namespace": "shop"}, subject="an item/1")
        reference = {"name": "shop.Item", "subject": "an item/1", "version": 1}
        number = registry.register(page, references=[reference])
        registry.deleted.add("an item/1")  # softly: schemas that refer to it are still in use
        seend = daemon(topic_name, by_registry(registry)).start()
        datum = zigzag(0) + b"\x04u1" + zigzag(1) + zigzag(77) + zigzag(0) + zigzag(0)
        topics.produce(topic_name, [("u1", framed(number, datum + zigzag(now_ms()) + zigzag(1)))])
        seend.wait_at_rest()
        assert seend.unseen("u1", ["77", "78"]) == ["78"]
    assert not seend.status()["troubles"]


def test_json_behind_a_registrys_bytes(topics, daemon, topic_name):
    topics.create(topic_name)
    seend = daemon(topic_name, {"input": {"framing": "confluent"}}).start()
    schema = {
        "type": "object",
        "title": "Exposure",
        "properties": {"user_id": {"type": "string"}, "item_id": {"type": "string"}},
    }
    with SchemaRegistry() as registry:
        produce(topics, topic_name, registry, schema, exposure("j1"), exposure("j2"), kind="json")
    several = json.dumps([exposure("j3"), exposure("j4")]).encode()
    topics.produce(topic_name, [("u1", framed(1, several)), ("u1", json.dumps(exposure("j5")))])
    seend.wait_at_rest()
    assert seend.unseen("u1", [f"j{i}" for i in range(1, 7)]) == ["j6"]
    assert not topics.read_all(f"{topic_name}-dead")


def test_avro_without_a_registry(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name)
    (tmp_path / "exposure.avsc").write_text(json.dumps(EXPOSURE))
    config = {"input": {"format": "avro", "schema_file": str(tmp_path / "exposure.avsc")}}
    seend = daemon(topic_name, config).start()
    good = [("u1", avro_exposure("u1", item, now_ms())) for item in ("f1", "f2")]
    # A text that no producer checks, and that isn't UTF-8: nothing in it is an event.
    erasure = b'{"seen_event":1,"kind":"erased","user_id":"u1","exposed_at":%d}' % now_ms()
    user = b"\xff\n" + erasure + b"\n"
    injected = zigzag(len(user)) + user + avro_exposure("", "f4", now_ms())[1:]
    topics.produce(topic_name, [*good, ("u1", avro_exposure("u1", "f3", now_ms())[:-3]), ("u1", injected)])
    seend.wait_at_rest()
    assert seend.unseen("u1", ["f1", "f2", "f3", "f4"]) == ["f3", "f4"]
    letters = sorted(topics.letters(f"{topic_name}-dead", count=2).items())
    assert [headers["reason"] for _, (_, headers) in letters] == ["not_decodable"] * 2
    assert "exposed_at" in letters[0][1][1]["message"]
    assert letters[1][1][0].value() == injected


FIELD = {"label": "LABEL_OPTIONAL", "type": "TYPE_STRING"}
ITEM = {
    "name": "Item",
    "field": [
        FIELD | {"name": "item_id", "number": 1, "type": "TYPE_UINT64"},
        FIELD | {"name": "title", "number": 2},
    ],
}
SHOWN = {
    "name": "Shown",
    "field": [
        FIELD | {"name": "user_id", "number": 1},
        FIELD
        | {"name": "items", "number": 2, "label": "LABEL_REPEATED", "type": "TYPE_MESSAGE"}
        | {"typeName": ".shop.Item"},
        FIELD
        | {"name": "exposed_at", "number": 3, "type": "TYPE_MESSAGE"}
        | {"typeName": ".google.protobuf.Timestamp"},
    ],
}
# Serializers register what a message imports.
TIMESTAMP = {
    "name": "google/protobuf/timestamp.proto",
    "package": "google.protobuf",
    "syntax": "proto3",
    "messageType": [
        {
            "name": "Timestamp",
            "field": [
                FIELD | {"name": "seconds", "number": 1, "type": "TYPE_INT64"},
                FIELD | {"name": "nanos", "number": 2, "type": "TYPE_INT32"},
            ],
        }
    ],
}
PROTO = {
    "name": "shown.proto",
    "package": "shop",
    "syntax": "proto3",
    "dependency": ["google/protobuf/timestamp.proto"],
    "messageType": [ITEM, {"name": "Page", "nestedType": [SHOWN]}],
}
PROTO_TEXT = """syntax = "proto3"; package shop;
import "google/protobuf/timestamp.proto";
message Item { uint64 item_id = 1; string title = 2; }
message Page { message Shown {
  string user_id = 1; repeated shop.Item items = 2; google.protobuf.Timestamp exposed_at = 3; } }
"""


def shown(*items):
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"user_id": "u1", "items": [{"item_id": item, "title": "x"} for item in items], "exposed_at": at}


def test_protobuf_of_a_registry(topics, daemon, topic_name):
    topics.create(topic_name)
    schema = {"files": [TIMESTAMP, PROTO], "message": "shop.Page.Shown"}
    with SchemaRegistry() as registry:
        seend = daemon(topic_name, by_registry(registry, "protobuf")).start()
        produce(topics, topic_name, registry, schema, shown(1, 2), shown(2**64 - 1), kind="protobuf")
        seend.wait_at_rest()
        assert seend.unseen("u1", ["1", "2", "3", str(2**64 - 1)]) == ["3"]
        seend.stop()
        # Most registries give the source, not the descriptor that this serializer registers.
        number = max(registry.schemas)
        registry.texts[number] = PROTO_TEXT
        registry.asked.clear()
        seend.start()
        produce(topics, topic_name, registry, schema, shown(3), kind="protobuf")
        seend.wait_at_rest()
        assert seend.unseen("u1", ["1", "3", "4"]) == ["4"]
        assert f"/schemas/ids/{number}" in registry.asked
    assert not topics.read_all(f"{topic_name}-dead")


def test_protobuf_without_a_registry(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name)
    (tmp_path / "shown.proto").write_text(PROTO_TEXT)
    command = ["protoc", "--include_imports", "--descriptor_set_out=shown.pb", "shown.proto"]
    subprocess.run(command, cwd=tmp_path, check=True)
    config = {
        "input": {
            "format": "protobuf",
            "schema_file": str(tmp_path / "shown.pb"),
            "protobuf_message": "shop.Page.Shown",
        }
    }
    seend = daemon(topic_name, config).start()
    seconds = now_ms() // 1000
    time_bytes = b"\x1a\x06\x08" + varint(seconds)
    topics.produce(
        topic_name,
        [
            ("u1", b"\x0a\x02u1\x12\x02\x08\x07\x12\x02\x08\x08" + time_bytes),
            ("u1", b"\x0a\x02u1\x12\x05\x08" + time_bytes),
        ],
    )
    seend.wait_at_rest()
    assert seend.unseen("u1", ["7", "8", "9"]) == ["9"]
    ((_, headers),) = topics.letters(f"{topic_name}-dead").values()
    assert headers["reason"] == "not_decodable"


def test_a_registry_that_is_away_holds_the_partition_and_loses_nothing(topics, daemon, topic_name):
    topics.create(topic_name, partitions=1)
    registry = SchemaRegistry().start()
    number = registry.register(EXPOSURE)
    registry.stop()
    seend = daemon(topic_name, by_registry(registry)).start()
    values = [framed(number, avro_exposure("u1", f"w{i}", now_ms())) for i in range(5)]
    topics.produce(topic_name, [("u1", value) for value in values])
    wait_until(lambda: seend.partition_status()[0]["state"] == "held", "the partition waits")
    assert seend.partition_status()[0]["reason"].startswith("waiting for the schema registry")
    (trouble,) = [text for text in seend.status()["troubles"] if "doesn't answer" in text]
    assert registry.url in trouble and f"schemas {number} wait" in trouble, trouble
    seend.kill9()
    seend.start(ready=False)  # it isn't ready before it has read what there is
    registry.broken = 503
    registry.start()
    wait_until(lambda: "status 503" in str(seend.status()), "it says so")
    registry.broken = None
    seend.wait_at_rest()
    registry.stop()
    assert seend.unseen("u1", [f"w{i}" for i in range(6)]) == ["w5"]
    assert not seend.status()["troubles"]
    assert not topics.read_all(f"{topic_name}-dead")


def test_a_schema_that_is_away_holds_its_partition_alone(topics, daemon, topic_name):
    topics.create(topic_name, partitions=2)
    with SchemaRegistry() as registry:
        number = registry.register(EXPOSURE)
        config = by_registry(registry)
        config["input"]["workers"] = 1
        seend = daemon(topic_name, config).start()
        show = lambda user, item: topics.produce(  # noqa: E731
            topic_name, [(user, framed(number, avro_exposure(user, item, now_ms())))]
        )
        users = [f"u{i}" for i in range(20)]
        for user in users:
            show(user, "first")
        seend.wait_at_rest()
        registry.broken = 503
        topics.produce(topic_name, [("u0", framed(77, b"xyz"))])
        waits = partition_of("u0", 2)
        wait_until(lambda: seend.partition_status()[waits]["state"] == "held", "the partition waits")
        others = [user for user in users if partition_of(user, 2) != waits][:5]
        began = time.monotonic()
        for i in range(4):
            for user in others:
                show(user, f"w{i}")
                wait_until(lambda user=user, i=i: seend.unseen(user, [f"w{i}"]) == [], "it is seen")
        assert time.monotonic() - began < 10, "each waited for the worker"
        assert seend.partition_status()[waits]["state"] == "held"
        registry.broken = None
        seend.wait_at_rest()
        (letter,) = topics.letters(f"{topic_name}-dead", count=1).values()
        assert letter[1]["reason"] == "unknown_schema"


def test_an_unknown_id_is_a_dead_letter_after_a_time(topics, daemon, topic_name):
    topics.create(topic_name, partitions=1)
    with SchemaRegistry(first_id=40) as registry:
        number = registry.register(EXPOSURE)
        seend = daemon(topic_name, by_registry(registry)).start()
        values = [framed(9, b"xyz"), framed(number, avro_exposure("u1", "k1", now_ms()))]
        # Garbage: each has another id, and none of them holds the partition any more.
        values += [framed(1000 + i, b"xyz") for i in range(20)]
        values += [b"\x02", b"{}" * 4, framed(number, avro_exposure("u1", "k2", now_ms()))]
        topics.produce(topic_name, [("u1", value) for value in values])
        seend.wait_at_rest()
        assert seend.unseen("u1", ["k1", "k2", "k3"]) == ["k3"]
        letters = list(topics.letters(f"{topic_name}-dead", count=23).values())
        reasons = [headers["reason"] for _, headers in letters]
        assert reasons.count("unknown_schema") == 21
        assert reasons.count("not_decodable") == 2
        assert any("doesn't know schemas 9, 1000" in text for text in seend.status()["troubles"])


def test_a_schema_that_the_fields_dont_fit(topics, daemon, topic_name):
    topics.create(topic_name, partitions=1)
    other = {
        "type": "record",
        "name": "Click",
        "fields": [
            {"name": "uid", "type": "string"},
            {"name": "user_id", "type": {"type": "map", "values": "int"}},
        ],
    }
    with SchemaRegistry() as registry:
        seend = daemon(topic_name, by_registry(registry)).start()
        produce(topics, topic_name, registry, other, {"uid": "u1", "user_id": {"a": 1}})
        produce(topics, topic_name, registry, EXPOSURE, exposure("s1"))
        seend.wait_at_rest()
        assert seend.unseen("u1", ["s1", "s2"]) == ["s2"]
        ((_, headers),) = topics.letters(f"{topic_name}-dead").values()
        assert (headers["reason"], headers["field"]) == ("wrong_type", "user_id")
        assert headers["message"].startswith("schema 1: input.fields.user_id: ")
        assert any(
            "records of schemas 1 become dead letters. Schema 1: input.fields.user_id: " in text
            for text in seend.status()["troubles"]
        )


def test_history_from_files_and_from_a_topic_of_avro(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name, partitions=1)
    (tmp_path / "history.jsonl").write_text(json.dumps(exposure("h1")) + "\n")
    with SchemaRegistry() as registry:
        number = registry.register(EXPOSURE)
        source = topics.create(f"{topic_name}-archive", partitions=1)
        topics.produce(source, [("u1", framed(number, avro_exposure("u1", "h2", now_ms())))])
        seend = daemon(topic_name, by_registry(registry))
        config = seend.write_config()
        said = run("replay", tmp_path / "history.jsonl", config=config, status=2)[1]
        assert 'input.format isn\'t "json", and files hold JSON. Remedy: ' in said
        into = {"config": config, "into_state": seend.store, "partitions": 1, "quiet": True}
        run("replay", tmp_path / "history.jsonl", **into)
        seend.start()
        run("replay", config=config, from_topic=source, quiet=True)
        seend.wait_at_rest()
        assert seend.unseen("u1", ["h1", "h2", "h3"]) == ["h3"]
        # The state has what isn't in the topic, so only the topic's own part can be verified.
        said = run("verify", config=config, http=seend.url, status=None)[0]
        assert " 1 exposures that count, 0 too old, 0 malformed, " in said, said


def test_a_registry_with_a_user(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name)
    (tmp_path / "password").write_text("s3cret\n")
    with SchemaRegistry(user="key:s3cret") as registry:
        number = registry.register(EXPOSURE)
        secret = {"file": str(tmp_path / "password")}
        seend = daemon(topic_name, by_registry(registry, user="key", password=secret)).start()
        topics.produce(topic_name, [("u1", framed(number, avro_exposure("u1", "p1", now_ms())))])
        seend.wait_at_rest()
        assert seend.unseen("u1", ["p1", "p2"]) == ["p2"]
