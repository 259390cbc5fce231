"""Topics through librdkafka's Python client: create, fill, read completely, query offsets."""

import contextlib
import time

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource, NewPartitions, NewTopic
from places import wait_until

NOT_YET = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)


def patiently(ask):
    """What `ask` returns. A new topic may have no leader yet, or not be known to each broker."""
    for wait_s in (0.2, 0.5, 1, 2):
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in NOT_YET:
                raise
        time.sleep(wait_s)
    return ask()


def headers_of(message):
    return {name: value.decode() for name, value in message.headers()}


class Topics:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        self.deleted = set()  # topics
        self._admin = None

    def admin(self):
        if self._admin is None:  # kept alive: its futures end with it
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        return self._admin

    def create(self, topic, partitions=2, replicas=1, assignment=None, **config):
        """`assignment`: the brokers of each partition. It replaces `partitions` and `replicas`."""
        config = {k.replace("_", "."): str(v) for k, v in config.items()}
        new = (
            NewTopic(topic, len(assignment), replica_assignment=assignment, config=config)
            if assignment
            else NewTopic(topic, partitions, replicas, config=config)
        )
        self.admin().create_topics([new])[topic].result(30)
        wait_until(lambda: self.partitions(topic) == new.num_partitions, f"{topic} is known")
        return topic

    def delete(self, topic):
        self.deleted.add(topic)
        self.admin().delete_topics([topic])[topic].result(30)
        wait_until(lambda: self.partitions(topic) == 0, f"{topic} is gone")

    def alter(self, topic, config):
        """Sets these properties and keeps the topic's others. AlterConfigs alone resets each property that it
        doesn't get."""
        kept = {
            name: entry.value
            for name, entry in self._config(topic).items()
            if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        }
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, set_config=kept | config)
        self.admin().alter_configs([resource])[resource].result(30)

    def add_partitions(self, topic, total):
        self.admin().create_partitions([NewPartitions(topic, total)])[topic].result(30)
        wait_until(lambda: self.partitions(topic) == total, f"{topic} has {total} partitions")

    def partitions(self, topic):
        metadata = self.admin().list_topics(timeout=10).topics.get(topic)
        return 0 if metadata is None or metadata.error else len(metadata.partitions)

    def config(self, topic):
        return {name: entry.value for name, entry in self._config(topic).items()}

    def _config(self, topic):
        resource = ConfigResource(confluent_kafka.admin.RESOURCE_TOPIC, topic)
        return self.admin().describe_configs([resource])[resource].result(30)

    def producer(self, partitioner="murmur2_random", **more):
        return Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "partitioner": partitioner,
                "linger.ms": 5,
                "enable.idempotence": True,
                "queue.buffering.max.messages": 1_000_000,
                **more,
            }
        )

    @contextlib.contextmanager
    def open_transaction(self, topic, records):
        """A producer has written the records, and leaves its transaction open until the block ends. Then it
        commits. If the block fails, it aborts, so that no reader of the topic waits for the time-out."""
        name = {"transactional.id": f"{topic}-open", "transaction.timeout.ms": 600_000}
        producer = self.producer(**name)
        producer.init_transactions(60)
        producer.begin_transaction()
        try:
            for key, value, *more in records:
                producer.produce(topic, value, key, **(more[0] if more else {}))
            assert producer.flush(60) == 0
            yield
        except BaseException:
            producer.abort_transaction(60)
            raise
        producer.commit_transaction(60)

    def send(self, topic, records, partitioner="murmur2_random", rate=None, report=None):
        """Sends the records, (key, value) or (key, value, {"partition": .., "timestamp": ..}), and waits for
        delivery. Yields the number of each record after it was sent. `rate`: records/s; None: as fast as
        possible. `report(number, message)`: called when Kafka has the record."""
        producer, failed, start = self.producer(partitioner), [], time.monotonic()

        def reporter(number):
            def delivered(error, message):
                if error:
                    failed.append(error)
                elif report:
                    report(number, message)

            return delivered

        for number, (key, value, *more) in enumerate(records):
            while True:
                try:
                    producer.produce(
                        topic, value, key, on_delivery=reporter(number), **(more[0] if more else {})
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
            if number % 1000 == 0:
                producer.poll(0)
                if rate:
                    time.sleep(max(0.0, number / rate - (time.monotonic() - start)))
            yield number
        assert producer.flush(120) == 0 and not failed, failed[:3]

    def produce(self, topic, records, partitioner="murmur2_random", rate=None):
        """As `send`, to the end. Returns [(partition, offset)], in the order of the records."""
        places = {}

        def report(number, message):
            places[number] = (message.partition(), message.offset())

        for _ in self.send(topic, records, partitioner, rate, report):
            pass
        return [places[number] for number in sorted(places)]

    def ends(self, topic):
        """{partition: (first offset, end offset)}"""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "system-tests-ends"})

        def of(partition):
            return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)

        try:
            return {p: patiently(lambda p=p: of(p)) for p in range(self.partitions(topic))}
        finally:
            consumer.close()

    def end_offsets(self, topic):
        return {partition: end for partition, (_, end) in self.ends(topic).items()}

    def total(self, topic):
        """The sum of the end offsets."""
        return sum(self.end_offsets(topic).values())

    def newest(self, topic):
        """{key: value of its newest record}; the value of a tombstone is None."""
        return {m.key().decode(): m.value() for m in self.read_all(topic)}

    def letters(self, topic, count=1):
        """{(partition, offset) of the source: (dead letter, its headers)}. Waits for `count` letters."""
        found = wait_until(
            lambda: len(m := self.read_all(topic)) >= count and m, f"{count} dead letters are there", 120
        )
        letters = [(letter, headers_of(letter)) for letter in found]
        return {(int(h["source-partition"]), int(h["source-offset"])): (m, h) for m, h in letters}

    def read_all(self, topic, timeout_s=60):
        """Every record that the topic has now, as confluent_kafka.Message. Within a partition they are in
        offset order."""
        ends = {p: end for p, (low, end) in self.ends(topic).items() if end > low}
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "system-tests-read",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
            }
        )
        messages, open_partitions = [], set(ends)
        try:
            consumer.assign([TopicPartition(topic, p, confluent_kafka.OFFSET_BEGINNING) for p in ends])
            deadline = time.monotonic() + timeout_s
            while open_partitions:
                batch = consumer.consume(5_000, timeout=0.2)
                assert time.monotonic() < deadline, (
                    f"{topic}: only {len(messages)} records within {timeout_s} s"
                )
                for message in batch:
                    if message.error() is None:
                        messages.append(message)
                    elif message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF:
                        if message.offset() >= ends[message.partition()]:
                            open_partitions.discard(message.partition())
                    else:
                        raise KafkaException(message.error())
            return messages
        finally:
            consumer.close()

    def commit(self, group, topic, offsets):
        """Commits `offsets`, {partition: next offset}, for a group that has no members."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": group})
        try:
            places = [TopicPartition(topic, p, offset) for p, offset in offsets.items()]
            patiently(lambda: consumer.commit(offsets=places, asynchronous=False))
        finally:
            consumer.close()

    def committed(self, group, topic):
        """{partition: committed offset}, without the partitions that have none."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": group})
        try:
            places = consumer.committed(
                [TopicPartition(topic, p) for p in range(self.partitions(topic))], timeout=10
            )
            return {place.partition: place.offset for place in places if place.offset >= 0}
        finally:
            consumer.close()

    def leaders(self, topic):
        """(leader, preferred leader) by partition."""
        found = self.admin().list_topics(topic, timeout=10).topics[topic].partitions
        return {number: (one.leader, one.replicas[0]) for number, one in found.items()}

    def out_of_sync(self):
        """{topic and partition: (replicas, those in sync)} where a replica lags behind its leader or is away."""
        topics = self.admin().list_topics(timeout=10).topics
        return {
            f"{topic}/{number}": (sorted(one.replicas), sorted(one.isrs))
            for topic, metadata in topics.items()
            for number, one in metadata.partitions.items()
            if len(one.isrs) < len(one.replicas)
        }

    def coordinator(self, group):
        """The id of the broker that coordinates a group that has committed an offset."""
        return self.admin().list_groups(group, timeout=10)[0].broker.id
