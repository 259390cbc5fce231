"""Events of Protobuf: random messages that Python's protobuf wrote, against what this program reads."""

import json
import math
import random
import struct
import subprocess

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2, wrappers_pb2

from places import BUILD

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = [
    kind for kind in range(1, 19) if kind not in (Field.TYPE_GROUP, Field.TYPE_MESSAGE, Field.TYPE_ENUM)
]
WELL_KNOWN = [
    ".google.protobuf.Timestamp",
    *(f".google.protobuf.{name}Value" for name in ("String", "Int64", "UInt32", "Bool", "Double", "Bytes")),
]
KEYS = [Field.TYPE_STRING, Field.TYPE_INT32, Field.TYPE_UINT64, Field.TYPE_BOOL, Field.TYPE_SINT64]
INTEGERS = {
    Field.TYPE_INT32: (32, True),
    Field.TYPE_SINT32: (32, True),
    Field.TYPE_SFIXED32: (32, True),
    Field.TYPE_UINT32: (32, False),
    Field.TYPE_FIXED32: (32, False),
    Field.TYPE_INT64: (64, True),
    Field.TYPE_SINT64: (64, True),
    Field.TYPE_SFIXED64: (64, True),
    Field.TYPE_UINT64: (64, False),
    Field.TYPE_FIXED64: (64, False),
}
TEXTS = ["", "u1", "曝光", 'a"b\\c\n', "\0"]


def set_type(field, rng, kinds=None):
    kind = rng.choice(kinds or [*SCALARS, Field.TYPE_ENUM, Field.TYPE_MESSAGE, Field.TYPE_MESSAGE])
    field.type = kind
    if kind == Field.TYPE_ENUM:
        field.type_name = ".t.Page"
    elif kind == Field.TYPE_MESSAGE:
        field.type_name = rng.choice([".t.Inner", *WELL_KNOWN])


def add_fields(message, full_name, rng, count):
    for number in rng.sample(range(1, 3000), count):
        field = message.field.add(name=f"f{number}", number=number, label=Field.LABEL_OPTIONAL)
        form = rng.randrange(6)
        if form == 0:
            entry = message.nested_type.add(name=f"F{number}Entry")
            entry.options.map_entry = True
            set_type(entry.field.add(name="key", number=1, label=Field.LABEL_OPTIONAL), rng, KEYS)
            set_type(entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL), rng)
            field.label = Field.LABEL_REPEATED
            field.type, field.type_name = Field.TYPE_MESSAGE, f"{full_name}.F{number}Entry"
            continue
        set_type(field, rng)
        if form == 1:
            field.label = Field.LABEL_REPEATED
        elif form == 2:
            message.oneof_decl.add(name=f"one{number}")
            field.oneof_index = len(message.oneof_decl) - 1
            other = message.field.add(name=f"o{number}", number=number + 10_000, label=Field.LABEL_OPTIONAL)
            set_type(other, rng)
            other.oneof_index = field.oneof_index


def random_schema(rng):
    """(FileDescriptorSet, class of the message t.Exposure)"""
    file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t", syntax="proto3")
    for known in (timestamp_pb2, wrappers_pb2):
        file.dependency.append(known.DESCRIPTOR.name)
    page = file.enum_type.add(name="Page")
    for name, number in (("NONE", 0), ("HOME", 1), ("BELOW", -1)):
        page.value.add(name=name, number=number)
    exposure = file.message_type.add(name="Exposure")
    add_fields(exposure, ".t.Exposure", rng, 8)
    add_fields(file.message_type.add(name="Inner"), ".t.Inner", rng, 4)
    for at, (name, kind) in enumerate(
        [
            ("user_id", rng.choice([Field.TYPE_STRING, Field.TYPE_FIXED64, Field.TYPE_SINT32])),
            ("items", rng.choice([Field.TYPE_STRING, Field.TYPE_INT64, Field.TYPE_SFIXED32])),
            ("exposed_at", rng.choice([Field.TYPE_INT64, Field.TYPE_MESSAGE])),
        ]
    ):
        label = Field.LABEL_REPEATED if name == "items" else Field.LABEL_OPTIONAL
        field = exposure.field.add(name=name, number=3000 + at, label=label, type=kind)
        if kind == Field.TYPE_MESSAGE:
            field.type_name = WELL_KNOWN[0]
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet()
    for known in (timestamp_pb2, wrappers_pb2):
        known.DESCRIPTOR.CopyToProto(files.file.add())
    files.file.append(file)
    for each in files.file:
        pool.Add(each)
    message = pool.FindMessageTypeByName("t.Exposure")
    if hasattr(message_factory, "GetMessageClass"):
        return files, message_factory.GetMessageClass(message)
    return files, message_factory.MessageFactory(pool).GetPrototype(message)


def random_value(field, rng):
    if field.type in INTEGERS:
        bits, signed = INTEGERS[field.type]
        low = -(1 << (bits - 1)) if signed else 0
        return rng.choice([0, 1, low, low + (1 << bits) - 1, rng.randrange(low, low + (1 << bits))])
    if field.type == Field.TYPE_BOOL:
        return rng.random() < 0.5
    if field.type == Field.TYPE_ENUM:
        return rng.choice([0, 1, -1, 77])
    if field.type == Field.TYPE_STRING:
        return rng.choice(TEXTS)
    if field.type == Field.TYPE_BYTES:
        return rng.choice([b"", b"ab", "曝".encode(), b"\xff\x01"])
    return rng.choice([0.0, 0.25, -3.0, 1e10, math.nan, math.inf])


def fill(message, rng, depth):
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.2:
            continue
        here = getattr(message, field.name)
        if field.message_type and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields
            for _ in range(rng.randrange(4)):
                at = random_value(key, rng)
                if value.message_type:
                    fill_message(here[at], rng, depth)
                else:
                    here[at] = random_value(value, rng)
        elif field.label == Field.LABEL_REPEATED:
            for _ in range(rng.randrange(4)):
                if field.message_type:
                    fill_message(here.add(), rng, depth)
                else:
                    here.append(random_value(field, rng))
        elif field.message_type:
            here.SetInParent()
            fill_message(here, rng, depth)
        else:
            setattr(message, field.name, random_value(field, rng))


def fill_message(message, rng, depth):
    if message.DESCRIPTOR.full_name == "google.protobuf.Timestamp":
        message.seconds, message.nanos = rng.randrange(-(10**9), 2 * 10**9), rng.randrange(10**9)
    elif depth > 0:
        fill(message, rng, depth - 1)


def expected_value(field, value):
    if field.message_type:
        name = field.message_type.full_name
        if name == "google.protobuf.Timestamp":
            return value.seconds * 1000 + value.nanos // 1_000_000
        if name.startswith("google.protobuf."):
            return expected_value(value.DESCRIPTOR.fields[0], value.value)
        return expected(value)
    if field.type == Field.TYPE_ENUM:
        named = field.enum_type.values_by_number.get(value)
        return named.name if named else value
    if field.type == Field.TYPE_BYTES:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def expected_key(key):
    return str(key).lower() if isinstance(key, bool) else str(key)


def expected(message):
    members = {}
    for field, value in message.ListFields():
        if field.message_type and field.message_type.GetOptions().map_entry:
            of = field.message_type.fields_by_name["value"]
            members[field.name] = {expected_key(key): expected_value(of, value[key]) for key in value}
        elif field.label == Field.LABEL_REPEATED:
            members[field.name] = [expected_value(field, each) for each in value]
        elif (one := expected_value(field, value)) is not None:
            members[field.name] = one
    return members


def frame(data):
    return struct.pack("<I", len(data)) + data


def test_messages_of_random_schemas_are_read_as_python_wrote_them():
    short_ones = 0
    for seed in range(60):
        rng = random.Random(seed)
        files, exposure = random_schema(rng)
        messages = []
        for _ in range(20):
            message = exposure()
            fill(message, rng, 3)
            if rng.random() < 0.8:
                of_text = message.DESCRIPTOR.fields_by_name["user_id"].type == Field.TYPE_STRING
                message.user_id = "u" if of_text else 5
                if message.DESCRIPTOR.fields_by_name["exposed_at"].message_type:
                    message.exposed_at.FromMilliseconds(1763700000123)
                else:
                    message.exposed_at = 1763700000123
            messages.append(message)
        frames = [files.SerializeToString(), b"t.Exposure", *(each.SerializeToString() for each in messages)]
        done = subprocess.run(
            [BUILD / "seen_read_protobuf"],
            input=b"".join(map(frame, frames)),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        lines = done.stdout.decode().split("\n")
        for message, text, event in zip(messages, lines[::2], lines[1::2], strict=False):
            members = expected(message)
            assert json.loads(text) == members, f"seed {seed}"
            if event == "null":
                continue
            short_ones += 1
            ids = [members["user_id"], *members["items"]]
            assert json.loads(event) == [members["exposed_at"], *map(str, ids)], f"seed {seed}"
    assert short_ones > 200
