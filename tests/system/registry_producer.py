"""Produces events with the serializers of a schema registry. Its own process, because it needs a newer client than
the other tests: build/schema-tools/bin/python3 registry_producer.py < QUESTION, which is one JSON object."""

import json
import sys

import confluent_kafka
from confluent_kafka import schema_registry
from confluent_kafka.schema_registry import avro, json_schema, protobuf
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory


def serializer(question, client):
    kind, schema = question["kind"], question["schema"]
    if kind == "avro":
        return avro.AvroSerializer(client, json.dumps(schema), conf={"auto.register.schemas": True})
    if kind == "json":
        return json_schema.JSONSerializer(json.dumps(schema), client)
    pool = descriptor_pool.DescriptorPool()
    for file in schema["files"]:
        pool.Add(json_format.ParseDict(file, descriptor_pb2.FileDescriptorProto()))
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema["message"]))
    serialize = protobuf.ProtobufSerializer(message, client, {"use.deprecated.format": False})
    return lambda event, context: serialize(json_format.ParseDict(event, message()), context)


def main():
    question = json.load(sys.stdin)
    client = schema_registry.SchemaRegistryClient({"url": question["registry"]})
    serialize = serializer(question, client)
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": question["brokers"], "partitioner": "murmur2_random", "linger.ms": 5}
    )
    for key, event in question["events"]:
        value = serialize(event, SerializationContext(question["topic"], MessageField.VALUE))
        producer.produce(question["topic"], value, key)
        producer.poll(0)
    left = producer.flush(60)
    sys.exit(f"{left} events were not sent" if left else 0)


main()
