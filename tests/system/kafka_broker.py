"""A real Apache Kafka on loopback, with one KRaft node or several. Its jars come from Maven
(tests/kafka/pom.xml)."""

import contextlib
import fcntl
import json
import pathlib
import shutil
import signal
import subprocess
import time

import confluent_kafka
from confluent_kafka.admin import AdminClient

from places import KAFKA_LIBS, SOURCE, free_port, wait_until

SERVER_PROPERTIES = """
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor={replicas}
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor={replicas}
default.replication.factor={replicas}
group.initial.rebalance.delay.ms=0
log.retention.check.interval.ms=1000
log.cleaner.threads=1
num.network.threads=2
num.io.threads=4
"""

LOG4J = """
log4j.rootLogger=WARN, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d %p %c %m%n
"""


def fetch_jars():
    """Fetches the jars once per checkout and per version of pom.xml. The stamp is a copy of pom.xml. Of
    several processes, only the first fetches."""
    pom = SOURCE / "tests" / "kafka" / "pom.xml"
    stamp = KAFKA_LIBS / ".pom.xml"
    KAFKA_LIBS.parent.mkdir(parents=True, exist_ok=True)
    with open(KAFKA_LIBS.parent / f"{KAFKA_LIBS.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_bytes() != pom.read_bytes():
            fetch(pom, stamp)
    return KAFKA_LIBS


def fetch(pom, stamp):
    shutil.rmtree(KAFKA_LIBS, ignore_errors=True)
    copy = ["dependency:copy-dependencies", f"-DoutputDirectory={KAFKA_LIBS}"]
    subprocess.run(["mvn", "-q", "-B", "-f", str(pom), *copy], check=True, timeout=600)
    shutil.copyfile(pom, stamp)


class Kafka:
    """One broker. `stop` sends SIGTERM, `kill` sends SIGKILL. `start` uses the same port and data again."""

    def __init__(self, directory, node=1, controllers=None, heap="512m"):
        """`controllers`: {node: controller port} of all nodes. None: this is the only node."""
        self.directory = pathlib.Path(directory)
        self.libs = fetch_jars()
        self.node, self.heap = node, heap
        controllers = controllers or {node: free_port()}
        self.port, self.controller_port = free_port(), controllers[node]
        voters = ",".join(f"{number}@127.0.0.1:{port}" for number, port in controllers.items())
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.process = None
        data = self.directory / "data"
        self.log_path = self.directory / "kafka.log"
        (self.directory / "server.properties").write_text(
            SERVER_PROPERTIES.format(
                port=self.port,
                controller_port=self.controller_port,
                data=data,
                node=node,
                voters=voters,
                replicas=len(controllers),
            )
            + self.more_properties()
        )
        (self.directory / "log4j.properties").write_text(LOG4J)
        if not (data / "meta.properties").exists():
            config = ["-c", str(self.directory / "server.properties")]
            cluster = ["-t", "MkU3OEVBNTcwNTJENDM2Qg"]
            self.tool("kafka.tools.StorageTool", "format", *cluster, *config, *self.format_arguments())

    def more_properties(self):
        """Further lines of server.properties. If a name occurs twice, its last line counts."""
        return ""

    def format_arguments(self):
        """Further arguments of kafka-storage.sh format."""
        return []

    def _java(self, heap="256m"):
        return [
            "java",
            f"-Xmx{heap}",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Dlog4j.configuration=file:{self.directory}/log4j.properties",
            "-cp",
            f"{self.libs}/*",
        ]

    def tool(self, main_class, *arguments, stdin=None, check=True):
        """Runs one of Kafka's own command-line tools (a Java client)."""
        done = subprocess.run(
            [*self._java(), main_class, *arguments], input=stdin, text=True, capture_output=True, timeout=120
        )
        assert not check or done.returncode == 0, f"{main_class}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def java_program(self, file, *arguments):
        """Starts a program of tests/kafka with Kafka's jars. Its input and output are pipes."""
        return subprocess.Popen(
            [*self._java(), str(SOURCE / "tests" / "kafka" / file), *arguments],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def kcat(self, topic, lines, *more):
        """Produces with kcat. It chooses partitions by crc32 of the key, which is librdkafka's default."""
        command = ["kcat", "-b", self.bootstrap, "-t", topic, "-P", *more]
        subprocess.run(
            command, input="".join(f"{line}\n" for line in lines), text=True, check=True, timeout=60
        )

    def console_producer(self, topic, lines, *properties):
        """Produces with Kafka's own tool."""
        more = [word for name in properties for word in ("--property", name)]
        into = ["--bootstrap-server", self.bootstrap, "--topic", topic]
        self.tool("kafka.tools.ConsoleProducer", *into, *more, stdin="".join(f"{line}\n" for line in lines))

    def start(self, wait=True):
        assert self.process is None
        log = open(self.log_path, "ab")
        java = self._java(self.heap)
        java.remove("-XX:TieredStopAtLevel=1")
        self.process = subprocess.Popen(
            [*java, "kafka.Kafka", str(self.directory / "server.properties")],
            stdout=log,
            stderr=log,
            cwd=self.directory,
        )
        if wait:
            self.wait_ready()

    def wait_ready(self):
        def answers():
            assert self.process.poll() is None, self.log_path.read_text()[-4000:]
            try:
                return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0}).list_topics(
                    timeout=1
                )
            except confluent_kafka.KafkaException:
                return None

        wait_until(answers, f"Kafka answers on {self.bootstrap}", timeout_s=180)

    def _end(self, number):
        if self.process is not None:
            self.process.send_signal(number)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def stop(self):
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    @contextlib.contextmanager
    def away(self):
        """The broker doesn't run inside the `with` block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def restart(self, down_s=0.0):
        with self.away():
            time.sleep(down_s)

    @contextlib.contextmanager
    def quota(self, client_id, **bytes_a_second):
        """Limits the clients of this id inside the `with` block. `bytes_a_second`: consumer=.. to read,
        producer=.. to write."""
        rates = {f"{direction}_byte_rate": rate for direction, rate in bytes_a_second.items()}

        def alter(*change):
            client = ["--entity-type", "clients", "--entity-name", client_id]
            at = ["--bootstrap-server", self.bootstrap]
            self.tool("kafka.admin.ConfigCommand", *at, *client, "--alter", *change)

        alter("--add-config", ",".join(f"{name}={rate}" for name, rate in rates.items()))
        try:
            yield
        finally:
            alter("--delete-config", ",".join(rates))

    def delete_records(self, topic, below):
        """`below`: {partition: first offset that stays}"""
        path = self.directory / "delete-records.json"
        rows = [{"topic": topic, "partition": p, "offset": offset} for p, offset in below.items()]
        path.write_text(json.dumps({"version": 1, "partitions": rows}))
        at = ["--bootstrap-server", self.bootstrap]
        self.tool("org.apache.kafka.tools.DeleteRecordsCommand", *at, "--offset-json-file", str(path))
