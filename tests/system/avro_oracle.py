"""Compares this project's reader of Avro with fastavro, on random schemas, data and changed bytes. Needs the
packages of scripts/packages/convert-python.txt.

    avro_oracle.py READ_AVRO [--first-seed N] [--seeds N] [--seconds N]

A seed makes a writer's schema, a reader's schema that grew from it, and data. Prints a summary as JSON, or the
first disagreement with its seed, and then exits with 1."""

import argparse
import collections
import datetime
import decimal
import io
import json
import random
import re
import struct
import subprocess
import sys
import time
import uuid

import fastavro
from fastavro.logical_readers import LOGICAL_READERS

# In JSON a time of day is the number that it is, and a UUID the text, even if it is none.
for name in ("int-time-millis", "long-time-micros", "string-uuid"):
    LOGICAL_READERS.pop(name)

EPOCH = datetime.datetime(1970, 1, 1)
DAY_MS = 86_400_000
DURATION_BYTES, UUID_BYTES = 12, 16
PROMOTIONS = {
    "int": ["long", "float", "double"],
    "long": ["float", "double"],
    "float": ["double"],
    "string": ["bytes"],
    "bytes": ["string"],
}
PRIMITIVES = ["boolean", "int", "long", "float", "double", "bytes", "string"]
TEXTS = ["", "a", "x", "u1", "S0", "曝光", 'a"b\\c', "exposed", '{"item_id":"z"}', "\0\n"]

# What this project rejects and fastavro reads: rules of the specification that fastavro doesn't check, and limits.
STRICTER = re.compile(
    r"bytes behind its end|a boolean that is neither|of more than (32|64) bits|a block says that it has"
    r"|nested too deeply|too many values|a length of -|cut off after|symbol -?\d+ of an enum of|branch -?\d+ of a union of"
)

# What the reader's schema has no value for. The short way doesn't look at it in a field that it skips.
UNREADABLE = re.compile(r"which the reader's schema lacks|isn't the reader's")


def kind_of(schema):
    """What a union may have once."""
    return schema if isinstance(schema, str) else schema.get("name", schema["type"])


class Schemas:
    """A writer's schema and a reader's, and values of the writer's."""

    def __init__(self, rng):
        self.rng = rng
        self.has_reader = not self.chance(4)
        self.names = 0
        self.open_records = []  # (the writer's name, the reader's), while their fields are made
        self.has_mismatch = False  # the two are not to be read in all cases
        self.writer, self.reader = self.root()

    def chance(self, one_in):
        return self.rng.randrange(one_in) == 0

    def named(self):
        """Names of one type in both schemas, with what the reader's needs to know the writer's."""
        self.names += 1
        name = f"T{self.names}"
        if self.chance(6):  # another namespace: the last part of a name counts
            return {"name": f"old.{name}"}, {"name": f"shop.{name}"}
        if self.chance(6):
            alias = self.rng.choice(["Before", "shop.Before"]) + name
            return {"name": f"shop.Before{name}"}, {"name": f"shop.{name}", "aliases": [alias]}
        return {"name": f"shop.{name}"}, {"name": f"shop.{name}"}

    def pair(self, depth):
        """(what is written, what is wanted)"""
        kind = self.rng.randrange(16 if depth > 0 else 10)
        if self.chance(150):
            self.has_mismatch = True
            return "string", "int"
        if kind < 4:
            written = self.rng.choice(PRIMITIVES)
            wanted = written
            if self.chance(4):
                wanted = self.rng.choice(PROMOTIONS.get(written, [written]))
            return written, wanted
        if kind < 7:
            return self.logical()
        if kind == 7:
            return self.enum()
        if kind == 8:
            return self.both({"type": "fixed", "size": self.rng.choice([1, 2, 5])})
        if kind == 9 and self.open_records:
            return tuple(["null", name] for name in self.rng.choice(self.open_records))
        if kind in (10, 11):
            member = self.rng.choice(["items", "values"])
            written, wanted = self.pair(depth - 1)
            kind = {"items": "array", "values": "map"}[member]
            return {"type": kind, member: written}, {"type": kind, member: wanted}
        if kind in (12, 13):
            return self.record([], depth)
        return self.union(depth)

    def both(self, what):
        written, wanted = self.named()
        return {**what, **written}, {**what, **wanted}

    def logical(self):
        kind = self.rng.randrange(9)
        if kind == 0:
            return self.both({"type": "fixed", "size": DURATION_BYTES, "logicalType": "duration"})
        if kind == 1:
            return self.both(
                {"type": "fixed", "size": 8, "logicalType": "decimal", "precision": 12, "scale": 3}
            )
        if kind == 2:
            scale = self.rng.choice([0, 2])
            decimal_type = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": scale}
            return decimal_type, decimal_type
        if kind == 3:
            text = {"type": "string", "logicalType": "uuid"}
            return text, text
        if kind == 4:
            day = {"type": "int", "logicalType": self.rng.choice(["date", "time-millis"])}
            return day, day
        return self.time()

    def time(self):
        kinds = ["timestamp-millis", "timestamp-micros", "local-timestamp-millis", "local-timestamp-micros"]
        kind = {"type": "long", "logicalType": self.rng.choice([*kinds, "time-micros"])}
        return kind, kind

    def enum(self):
        written, wanted = self.named()
        symbols = [f"S{i}" for i in range(self.rng.randrange(1, 5))]
        known = list(symbols)
        self.rng.shuffle(known)
        default = {}
        if self.chance(3):
            known = [*known[1:], "other"]
            default = {"default": "other"} if self.chance(2) else {}
        return (
            {"type": "enum", "symbols": symbols, **written},
            {"type": "enum", "symbols": known, **default, **wanted},
        )

    def union(self, depth):
        branches = {}
        for _ in range(self.rng.randrange(1, 4)):
            written, wanted = self.pair(depth - 1)
            is_date = isinstance(written, dict) and written.get("logicalType") == "date"
            if isinstance(written, list) or is_date:  # fastavro takes texts for dates
                continue
            kind = written if isinstance(written, str) else written["type"]
            # fastavro takes the first branch that the value can be promoted to, and this project, as Java, the
            # branch of the same type. So a union has one number, and one of string, bytes, fixed and enum.
            alike = {"int": "long", "float": "long", "double": "long"}
            kind = {**alike, "bytes": "string", "fixed": "string", "enum": "string"}.get(kind, kind)
            if kind in ("record", "map"):
                kind = "object"
            if not isinstance(wanted, list):
                branches.setdefault(kind, (written, wanted))
        pairs = list(branches.values()) or [("string", "string")]
        if self.chance(2):
            pairs.append(("null", "null"))
        self.rng.shuffle(pairs)
        written, wanted = [list(branches) for branches in zip(*pairs)]
        if len({kind_of(each) for each in wanted}) < len(wanted):  # a promotion has made two one
            wanted = [ours if isinstance(ours, str) else theirs for ours, theirs in zip(written, wanted)]
        if len(written) == 1 and self.chance(2):
            return (written[0], wanted) if self.chance(2) else (written, wanted[0])
        return written, wanted

    def record(self, needed, depth):
        """`needed`: fields that both schemas have."""
        written_name, wanted_name = (
            self.named() if not needed else ({"name": "shop.Event"}, {"name": "shop.Event"})
        )
        self.open_records.append((written_name["name"], wanted_name["name"]))
        written, wanted = [list(fields) for fields in zip(*needed)] if needed else ([], [])
        for i in range(self.rng.randrange(1, 5)):
            ours, theirs = self.pair(depth - 1)
            name = f"f{i}"
            written.append({"name": name, "type": ours})
            if self.chance(6):
                wanted.append({"name": f"new{i}", "aliases": ["gone", name], "type": theirs})
            elif not self.chance(6):
                wanted.append({"name": name, "type": theirs})
        written.append({"name": "n", "type": "int"})  # no record is without bytes
        if self.chance(3):
            wanted.append(self.added())
        if self.chance(100):
            self.has_mismatch = True
            wanted.append({"name": "lacking", "type": "int"})
        self.rng.shuffle(wanted)
        self.open_records.pop()
        return {"type": "record", "fields": written, **written_name}, {
            "type": "record",
            "fields": wanted,
            **wanted_name,
        }

    def added(self):
        """A field of the reader's with a default that fastavro takes as it stands."""
        inner = {"type": "record", "name": f"shop.D{self.names}", "fields": [{"name": "a", "type": "int"}]}
        self.names += 1
        kind, value = self.rng.choice(
            [
                ("int", -7),
                ("string", "a"),
                ("double", 1.5),
                ("boolean", True),
                ("bytes", "a"),
                (["null", "string"], None),
                (["string", "null"], "x"),
                ({"type": "array", "items": "long"}, [1, 2**40]),
                ({"type": "map", "values": ["null", "string"]}, {}),
                ({"type": "long", "logicalType": "timestamp-millis"}, 1_763_700_000_000),
                ({"type": "enum", "name": f"shop.E{self.names}", "symbols": ["S0", "S1"]}, "S1"),
                (inner, {"a": 5}),
            ]
        )
        return {"name": "added", "type": kind, "default": value}

    def root(self):
        def id_pair():
            kind = self.rng.choice(["string", "long", "int"])
            wanted = "long" if kind == "int" and self.chance(2) else kind
            if self.chance(6):
                return ["null", kind], ["null", wanted]
            return kind, wanted

        def fields(name, kinds):
            written, wanted = kinds
            if self.has_reader and self.chance(4):
                return {"name": "old_" + name, "type": written}, {
                    "name": name,
                    "aliases": ["old_" + name],
                    "type": wanted,
                }
            return {"name": name, "type": written}, {"name": name, "type": wanted}

        kind = self.rng.choice(["timestamp-millis", "timestamp-micros"])
        at = {"type": "long", "logicalType": kind}
        needed = [fields("user_id", id_pair()), fields("exposed_at", (at, at))]
        if self.chance(2):
            needed.append(fields("item_id", id_pair()))
        else:
            item = self.record_of_items(fields("item_id", id_pair()))
            needed.append(fields("items", [{"type": "array", "items": each} for each in item]))
        if self.chance(2):
            needed.append(fields("scene", ("string", self.rng.choice(["string", "bytes"]))))
        self.rng.shuffle(needed)
        return self.record(needed, 3)

    def record_of_items(self, id_fields):
        written, wanted = self.record([], 2)
        written["fields"].insert(self.rng.randrange(len(written["fields"])), id_fields[0])
        wanted["fields"].append(id_fields[1])
        if self.chance(3):
            return [written, "string"], [wanted, "string"]
        return written, wanted


class Data:
    """Random values of a schema, as fastavro's writer takes them."""

    def __init__(self, rng, schema):
        self.rng = rng
        self.named = {}
        self.collect(schema)

    def collect(self, schema):
        for each in schema if isinstance(schema, list) else [schema]:
            if isinstance(each, dict):
                if "name" in each:
                    self.named[each["name"]] = each
                for within in [*each.get("fields", []), each]:
                    self.collect(
                        within.get("type") if within is not each else each.get("items", each.get("values"))
                    )

    def value(self, schema, depth=6):
        rng = self.rng
        if isinstance(schema, list):
            if depth <= 0 and "null" in schema:
                return None
            return self.value(rng.choice(schema), depth)
        if isinstance(schema, str) and schema in self.named:
            schema = self.named[schema]
        kind = schema if isinstance(schema, str) else schema["type"]
        logical = "" if isinstance(schema, str) else schema.get("logicalType", "")
        if logical == "decimal":
            number = rng.randrange(-(10**11), 10**11) if rng.randrange(3) else rng.randrange(-200, 200)
            return decimal.Decimal(number).scaleb(-schema["scale"])
        if logical == "uuid":
            return str(uuid.UUID(int=rng.getrandbits(128)))
        if logical == "date":
            return rng.randrange(-700_000, 2_900_000)
        if logical.startswith("time-"):
            return rng.randrange(DAY_MS)
        if logical:
            if logical == "duration":
                return rng.randbytes(DURATION_BYTES)
            far = rng.randrange(-60_000_000_000_000, 250_000_000_000_000)
            at = rng.choice([1_763_700_000_000] * 7 + [far])
            return (at * 1000 if "micros" in logical else at) + rng.randrange(1000)
        if kind == "null":
            return None
        if kind == "boolean":
            return rng.randrange(2) == 0
        if kind in ("int", "long"):
            bits = 31 if kind == "int" else 63
            bits = bits if rng.randrange(3) == 0 else 6
            return rng.randrange(-(2**bits), 2**bits)
        if kind in ("float", "double"):
            if rng.randrange(12) == 0:
                return rng.choice([float("nan"), float("inf"), -float("inf"), -0.0])
            number = rng.choice(
                [rng.uniform(-1000, 1000), float(rng.randrange(-100, 100)), rng.uniform(-1, 1) * 1e30]
            )
            return single(number) if kind == "float" else number
        if kind == "string":
            return rng.choice(TEXTS)
        if kind == "bytes":
            return rng.choice([b"", b"a", b"x", rng.randbytes(rng.randrange(1, 8)), "曝".encode()])
        if kind == "fixed":
            return rng.randbytes(schema["size"]) if rng.randrange(2) else b"z" * schema["size"]
        if kind == "enum":
            return rng.choice(schema["symbols"])
        if kind == "array":
            return [
                self.value(schema["items"], depth - 1)
                for _ in range(rng.choice([0, 1, 1, 2, 3]) if depth > 0 else 0)
            ]
        if kind == "map":
            return {
                "k" * (1 + 2 * i): self.value(schema["values"], depth - 1)
                for i in range(rng.randrange(3) if depth > 0 else 0)
            }
        return {field["name"]: self.value(field["type"], depth - 1) for field in schema["fields"]}


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def shown(value):
    """What the JSON has to hold for a value that fastavro has read. None: it is left out."""
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(milliseconds=1)
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days * DAY_MS
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, bytes):
        if len(value) == DURATION_BYTES:
            return None
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, list):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        members = {key: shown(each) for key, each in value.items()}
        return {key: each for key, each in members.items() if each is not None}
    return value


def equal(expected, got):
    if isinstance(expected, dict):
        return (
            isinstance(got, dict)
            and expected.keys() == got.keys()
            and all(equal(expected[key], got[key]) for key in got)
        )
    if isinstance(expected, list):
        return isinstance(got, list) and len(expected) == len(got) and all(map(equal, expected, got))
    if isinstance(expected, float):
        if not isinstance(got, (int, decimal.Decimal)) or isinstance(got, bool):
            return False
        digits = len(decimal.Decimal(got).normalize().as_tuple().digits)
        # A float is written with as few digits as tell it from the next one. An integer that is read as a float
        # loses digits, as in Java; fastavro's has those of a double.
        is_float = digits <= 9 or single(float(got)) == float(got)
        return float(got) == expected or (is_float and single(float(got)) == single(expected))
    if isinstance(expected, decimal.Decimal):  # which fastavro rounds to the schema's precision
        digits = decimal.Context(max(1, len(expected.as_tuple().digits)))
        is_number = isinstance(got, (int, decimal.Decimal))
        return is_number and expected in (got, digits.create_decimal(got))
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    return expected == got


def changed(rng, payload):
    data = bytearray(payload)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data))
        data[at] = rng.choice([data[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0, 0xFF])
    if rng.randrange(4) == 0:
        del data[rng.randrange(len(data)) :]
    return bytes(data)


class Disagreement(Exception):
    pass


class Comparison:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.counts = collections.Counter()

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise Disagreement("the program ended")
        return json.loads(answer)

    def compare(self, seed, data=4, changes=12):
        rng = random.Random(seed)
        schemas = Schemas(rng)
        writer_text, reader_text = json.dumps(schemas.writer), json.dumps(schemas.reader)
        has_reader = schemas.has_reader
        make = Data(rng, schemas.writer)
        writer = fastavro.parse_schema(json.loads(writer_text))
        reader = fastavro.parse_schema(json.loads(reader_text)) if has_reader else None
        payloads = []
        for _ in range(data):
            out = io.BytesIO()
            fastavro.schemaless_writer(out, writer, make.value(schemas.writer))
            payloads.append(out.getvalue())
        whole = len(payloads)
        payloads += [changed(rng, rng.choice(payloads[:whole])) for _ in range(changes)]
        request = {
            "writer": writer_text,
            "reader": reader_text if has_reader else None,
            "looks_at": [
                pointer
                for pointer in ("/f0", "/f1", "/f1/f0", "/f2/n", "/added", "/new0")
                if rng.randrange(3)
            ],
            "payloads": [payload.hex() for payload in payloads],
        }
        where = f"seed {seed}\nwriter {writer_text}\nreader {request['reader']}"
        answer = self.ask(request)
        self.counts["schemas"] += 1
        if "error" in answer:
            self.counts["schemas refused"] += 1
            names = not has_reader or not schemas.has_mismatch
            if names and "leads nowhere" not in answer["error"]:
                raise Disagreement(f"{answer['error']}\n{where}")
            return
        for i, (payload, event) in enumerate(zip(payloads, answer["events"])):
            self.counts["payloads" if i < whole else "changed payloads"] += 1
            problem = self.judge(payload, event, writer, reader, i >= whole)
            if problem:
                raise Disagreement(f"{problem}\npayload {payload.hex()}\n{event}\n{where}")

    def judge(self, payload, event, writer, reader, is_changed):
        """What is wrong, or None."""
        if "short" in event:
            self.counts["read the short way"] += 1
            if "event" in event and event["short"] != event["event"] and "UTF-8" not in event["event"]:
                return "the two ways differ"
            if "rejected" in event and not is_changed and not UNREADABLE.search(event["rejected"]):
                return "the short way reads what the long way rejects"
        if is_changed and STRICTER.search(event.get("rejected", "")):  # for which fastavro may take hours
            self.counts["rejected by a rule that fastavro lacks"] += 1
            return None
        try:
            value, error = fastavro.schemaless_reader(io.BytesIO(payload), writer, reader), None
        except Exception as caught:  # noqa: BLE001
            value, error = None, caught
        if "rejected" in event:
            if error is not None:
                self.counts["rejected by both"] += 1
                return None
            return "rejected, and fastavro reads it"
        if error is not None:
            if isinstance(error, UnicodeDecodeError) and "UTF-8" in event["event"]:
                self.counts["rejected by both"] += 1
                return None
            # Python has no such day or time, or a text isn't UTF-8 and the reader's schema has bytes.
            beyond = isinstance(error, (OverflowError, decimal.InvalidOperation, UnicodeDecodeError))
            if is_changed and (beyond or re.search("ordinal must be|out of range", str(error))):
                self.counts["rejected by fastavro alone"] += 1
                return None
            return f"read, and fastavro says {error!r}"
        self.counts["read by both"] += 1
        try:
            got = json.loads(event["json"], parse_float=decimal.Decimal)
        except json.JSONDecodeError as caught:
            return f"no JSON: {caught}"
        # Of a key that is there twice, the second time with null, this project keeps the first value.
        may_repeat_keys = is_changed and "'map'" in str(writer)
        return None if may_repeat_keys or equal(shown(value), got) else f"fastavro reads {shown(value)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=0, help="how many; 0: until the time is over")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    comparison = Comparison(arguments.program)
    start, seed = time.monotonic(), arguments.first_seed
    while time.monotonic() - start < arguments.seconds:
        if arguments.seeds and seed == arguments.first_seed + arguments.seeds:
            break
        try:
            comparison.compare(seed)
        except Disagreement as found:
            print(found)
            return 1
        seed += 1
    print(json.dumps({**comparison.counts, "seconds": round(time.monotonic() - start, 1)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
