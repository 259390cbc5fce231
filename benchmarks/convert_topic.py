"""Copies a topic of JSON events into one of Avro or Protobuf, record by record: its partitions, keys and timestamps
stay. For build/schema-tools/bin/python3; the question is one JSON object on standard input."""

import io
import json
import struct
import sys

import confluent_kafka
import fastavro
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELDS = ("user_id", "item_id", "exposed_at", "scene", "position", "request_id")


def avro(schema):
    parsed = fastavro.parse_schema(schema)

    def encode(event):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, event)
        return out.getvalue()

    return encode


def protobuf():
    file = descriptor_pb2.FileDescriptorProto(name="exposure.proto", syntax="proto3")
    message = file.message_type.add(name="Exposure")
    kinds = {"exposed_at": "TYPE_INT64", "position": "TYPE_INT32"}
    for number, name in enumerate(FIELDS, 1):
        message.field.add(
            name=name, number=number, type=kinds.get(name, "TYPE_STRING"), label="LABEL_OPTIONAL"
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    exposure = message_factory.GetMessageClass(pool.FindMessageTypeByName("Exposure"))
    return lambda event: b"\0" + exposure(**event).SerializeToString()


def main():
    question = json.load(sys.stdin)
    encode = avro(question["schema"]) if question["kind"] == "avro" else protobuf()
    prefix = b"\0" + struct.pack(">I", question["schema_id"])
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": question["brokers"],
            "group.id": "convert-topic",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    partitions = range(question["partitions"])
    consumer.assign([confluent_kafka.TopicPartition(question["from"], p, 0) for p in partitions])
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": question["brokers"],
            "compression.type": "lz4",  # as the topic of JSON
            "linger.ms": 500,  # so that batches are full
            "queue.buffering.max.messages": 200_000,
        }
    )
    open_partitions = set(partitions)
    while open_partitions:
        for record in consumer.consume(10_000, 10):
            if record.error():
                open_partitions.discard(record.partition())
                continue
            event = {name: value for name, value in json.loads(record.value()).items() if name in FIELDS}
            at = {"partition": record.partition(), "timestamp": record.timestamp()[1]}
            while True:
                try:
                    producer.produce(question["to"], prefix + encode(event), record.key(), **at)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.poll(0)
    sys.exit(producer.flush(120))


main()
