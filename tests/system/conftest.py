"""System tests: the real binaries against a real Apache Kafka, driven by real clients.

    /usr/bin/python3 -m pytest tests/system            all (about ten minutes on two cores)
    SEEN_SEED=17 ... -k kill                           the same random choices again
    SEEN_BUILD_DIR=build/dev ...                       other binaries
"""

import itertools
import os
import pathlib
import random
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from kafka_broker import Kafka  # noqa: E402
from places import SEENCTL, SEEND  # noqa: E402
from seend import Seend  # noqa: E402
from topics import Topics  # noqa: E402


def pytest_collection_modifyitems(config, items):
    missing = [str(binary) for binary in (SEEND, SEENCTL) if not binary.exists()]
    if items and missing:
        pytest.exit(f"{' and '.join(missing)} not there: build first, or set SEEN_BUILD_DIR", returncode=2)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows the end of every daemon's log."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        for daemon in getattr(item, "seen_daemons", []):
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
    """A name of this test's own, also where it is run again on one broker."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    return f"{words.removeprefix('test-')[:60]}-{next(numbers)}"


@pytest.fixture
def daemon(request, tmp_path, topics):
    """daemon(topic, config, name=...) -> Seend, not started; gone after the test."""
    request.node.seen_daemons = made = []

    def make(topic, config=None, name="seend", at=topics):
        made.append(Seend(tmp_path, at, topic, config, name))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.fixture
def chance():
    """Seeded randomness; the seed is printed with a failure and taken from SEEN_SEED."""
    seed = int(os.environ.get("SEEN_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"SEEN_SEED={seed}")
    return random.Random(seed)
