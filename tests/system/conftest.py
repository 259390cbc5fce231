"""System tests: the real binaries against a real Apache Kafka, driven by real clients.

    /usr/bin/python3 -m pytest tests/system            all, one after another
    ... -n 5 --dist loadgroup                          five at a time, as tests/run.py does with two processors
    SEEN_SEED=17 ... -k kill                           the same random choices again
    SEEN_BUILD_DIR=build/dev ...                       other binaries

Each worker of pytest-xdist starts one broker, and all tests of the worker share it. A worker runs one test at
a time, so a test may stop the broker. A test marked `heavy` needs most of the machine: only one heavy test
runs at a time."""

import itertools
import json
import os
import pathlib
import random
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from client_example import example, go_examples, java_class_path  # noqa: E402, F401 (fixtures)
from kafka_broker import Kafka  # noqa: E402
from places import SEENCTL, SEEND, SOURCE  # noqa: E402
from seend import Seend, in_group, librdkafka  # noqa: E402
from faults import small_disk  # noqa: E402, F401
from topics import Topics  # noqa: E402


# The tests of upgrade/ need an earlier version's binaries. tests/check/upgrade.py builds them and names their
# folder.
collect_ignore = [] if "SEEN_EARLIER_BUILD_DIR" in os.environ else ["upgrade"]

DURATIONS = SOURCE / "build" / "test-logs" / "system-durations.json"  # seconds by test, of earlier runs


def pytest_configure(config):
    config.addinivalue_line("markers", "heavy: keeps the processors busy for long; one at a time")
    # A thread beside a test that fails makes the test fail.
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(), "seen_durations")


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in this hook
def pytest_collection_modifyitems(config, items):
    missing = [str(binary) for binary in (SEEND, SEENCTL) if not binary.exists()]
    if items and missing:
        pytest.exit(f"{' and '.join(missing)} not there: build first, or set SEEN_BUILD_DIR", returncode=2)
    if not hasattr(config, "workerinput"):
        return  # tests run one after another, in the order of the files
    put_in_order(items, config.workerinput["seen_durations"])


def put_in_order(items, durations):
    """Assigns the groups of pytest-xdist. Heavy tests come first, then the longest, so that no long test is
    left at the end."""

    def group(item):
        if item.get_closest_marker("heavy"):
            return "heavy"
        if any(
            definition[-1].scope == "module" for definition in item._fixtureinfo.name2fixturedefs.values()
        ):
            return item.path.stem  # one worker, so that the module's fixtures are made once
        return item.nodeid

    seconds = {}
    for item in items:
        seconds[group(item)] = seconds.get(group(item), 0) + durations.get(item.nodeid, 0)
    items.sort(key=lambda item: (group(item) != "heavy", -seconds[group(item)]))
    for item in items:
        if group(item) != item.nodeid:
            item.add_marker(pytest.mark.xdist_group(group(item)))


def read_durations():
    try:
        return json.loads(DURATIONS.read_text())
    except (OSError, ValueError):
        return {}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """The controller reads the durations once, because all workers need the same order."""
    node.workerinput["seen_durations"] = node.config.stash.setdefault(known_durations, read_durations())


known_durations = pytest.StashKey()


class Durations:
    """Keeps how long each test took, for the order of the next run."""

    def __init__(self):
        self.seconds = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call":  # a set-up may have waited for the broker
            self.seconds[report.nodeid.split("@")[0]] = round(report.duration, 2)

    def pytest_sessionfinish(self):
        if self.seconds and DURATIONS.parent.is_dir():
            DURATIONS.write_text(json.dumps(read_durations() | self.seconds, indent=0, sort_keys=True))


def a_deleted_topic_crashed(item, daemons):
    name = item.funcargs.get("topic_name")
    return (
        name is not None
        and any(d.has_crashed() and any(t.startswith(name) for t in d.topics.deleted) for d in daemons)
        and (2, 4) <= librdkafka() < (2, 10)
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the end of every daemon's log to the report of a failed test.

    librdkafka 2.4 to 2.8 may end a daemon after a topic was deleted (its issue 4778). The daemon warns of it at its
    start, and no test can prevent it. Such a test counts as skipped."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        daemons = getattr(item, "seen_daemons", [])
        if a_deleted_topic_crashed(item, daemons):
            reason = "Skipped: librdkafka 2.4 to 2.8 ended the daemon after a topic was deleted"
            report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1], reason)
            return
        for daemon in daemons:
            report.sections.append((f"log of {daemon.name} ({daemon.log_path})", daemon.log()[-6000:]))


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    broker = Kafka(tmp_path_factory.mktemp("kafka"))
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


@pytest.fixture(scope="session")
def topics(kafka):
    return Topics(kafka.bootstrap)


numbers = itertools.count(1)


@pytest.fixture
def topic_name(request):
    """A name that is unique to this test and to this run of it on the broker."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    return f"{words.removeprefix('test-')[:60]}-{next(numbers)}"


@pytest.fixture
def daemon(request, tmp_path, topics):
    """daemon(topic, config, name=...) -> Seend, not started. The fixture closes it after the test."""
    request.node.seen_daemons = made = []

    def make(topic, config=None, name="seend", at=topics):
        made.append(Seend(tmp_path, at, topic, config, name))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def started(topics, daemon, topic_name):
    """started(config, ...) -> Seend, ready, with a new topic `topic_name`. More: as Topics.create takes."""

    def start(config=None, **topic):
        topics.create(topic_name, **topic)
        return daemon(topic_name, config).start()

    return start


@pytest.fixture
def member(daemon, topic_name):
    """member(number, ...) -> Seend, a member of one group, not started. State topic, routes and forwarding
    are on. member("name", replica=True): a replica of that group."""

    def make(name, replica=False, at=None, **more):
        name = f"member-{name}" if isinstance(name, int) else name
        at = {"at": at} if at else {}
        return daemon(topic_name, in_group(topic_name, name, replica, **more), name, **at)

    return make


@pytest.fixture
def chance():
    """A seeded random generator. The seed is SEEN_SEED, or a random one. A failure prints it."""
    seed = int(os.environ.get("SEEN_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"SEEN_SEED={seed}")
    return random.Random(seed)
