"""seend's command line: seend names each mistake before anything starts."""

import json
import re
import subprocess

import pytest

from places import SEENCTL, SEEND

GOOD = {"kafka": {"brokers": "127.0.0.1:9092"}}


def seend(*arguments, **environment):
    return subprocess.run(
        [str(SEEND), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=20,
        env={"PATH": "/usr/bin:/bin", **environment},
    )


@pytest.fixture
def config_file(tmp_path):
    def write(config):
        path = tmp_path / "seend.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        return path

    return write


def test_a_misspelt_key_exits_with_2_and_suggests_the_right_one(config_file):
    path = config_file({**GOOD, "store": {"memory_mb": 256}})
    for mode in (["--check-config"], []):
        done = seend("--config", path, *mode)
        assert done.returncode == 2
        said = done.stderr + done.stdout
        assert "store.memory_mb" in said and "memory_mib" in said, said


def test_all_mistakes_are_reported_at_once(config_file):
    path = config_file(
        {
            "kafka": {"brokers": "x:1", "grup_id": "g"},
            "store": {"memory_mib": 1, "directory": 7},
            "filters": [
                {"name": "a", "snapshot": {"topic": "t"}},
                {"name": "b", "snapshot": {"topic": "t"}},
                {"name": "c", "window_days": 0, "snapshot": None},
                {"name": "d", "snapshot": {"topic": "d", "format": "cucko", "size": "double"}},
                {
                    "name": "e",
                    "window_by": "created_at",
                    "exposure_min": 2,
                    "kinds": {"served": {"window_days": 1}, "bought": {"days": 3}},
                    "snapshot": None,
                },
            ],
        }
    )
    done = seend("--config", path, "--check-config")
    said = done.stderr + done.stdout
    assert done.returncode == 2
    group = ["kafka.grup_id", "group_id"]
    store = ["store.memory_mib", "64", "store.directory"]
    formats = ['filters[3].snapshot.format: "cucko"', '"cuckoo"', "filters[3].snapshot.size"]
    policies = ["filters[4].window_by", '"item_created_at"', "exposures_min", "built in"]
    kinds = ["filters[4].kinds.served", "filters[4].kinds.bought", *policies]
    filters = ["filters[2].window_days", "filters[1].snapshot.topic", *formats, *kinds]
    for part in (*group, *store, *filters):
        assert part in said, (part, said)


BAD_BROKERS = [
    "127.0.0.1",
    "k1:9092,k2",
    "k1:9092, k2:9092",
    "k1:port",
    "",
    "h:99999",
    "h:0",
    "h:1:2",
    "::1:9092",
    "SASL_SSL://h:9092",
    "k:9092,PLAINTEXT://h:9092",
]


@pytest.mark.parametrize("brokers", BAD_BROKERS)
def test_brokers_without_a_port_are_a_mistake(brokers, config_file):
    done = seend("--config", config_file({"kafka": {"brokers": brokers}}), "--check-config")
    assert done.returncode == 2 and "kafka.brokers" in done.stderr and "host:port" in done.stderr, done.stderr
    command = [str(SEENCTL), "generate", "--events", "1", "--brokers", brokers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and "--brokers" in done.stderr and "host:port" in done.stderr, done.stderr


@pytest.mark.parametrize("brokers", ["h:1", "[::1]:65535,k:9092"])
def test_brokers_are_hosts_and_ports(brokers, config_file):
    assert seend("--config", config_file({"kafka": {"brokers": brokers}}), "--check-config").returncode == 0


@pytest.mark.parametrize("text, word", [("{", "JSON"), ("[]", "object"), ('{"kafka":{}}', "kafka.brokers")])
def test_a_configuration_that_is_none_exits_with_2(text, word, config_file):
    done = seend("--config", config_file(text), "--check-config")
    assert done.returncode == 2 and word.lower() in (done.stderr + done.stdout).lower(), done.stderr


def test_a_good_configuration_passes_the_check_with_comments_and_overrides(config_file):
    path = config_file('{ // where\n "kafka": {"brokers": "127.0.0.1:9092"} /* that is all */ }')
    done = seend("--config", path, "--check-config")
    assert done.returncode == 0 and done.stdout == f"{path}: ok\n" and not done.stderr, done
    assert seend("--config", path, "--check-config", "--set", "store.memory_mib=256").returncode == 0
    done = seend("--config", path, "--check-config", "--set", "store.memory_mib=-1")
    assert done.returncode == 2 and "store.memory_mib" in done.stderr + done.stdout


def test_the_printed_configuration_is_a_configuration_that_prints_the_same(config_file):
    first = seend(
        "--config",
        config_file({**GOOD, "filters": [{"name": "home", "window_days": 7, "snapshot": None}]}),
        "--set",
        "store.memory_mib=512",
        "--print-config",
    )
    assert first.returncode == 0, first.stderr
    printed = json.loads(first.stdout)
    assert printed["store"]["memory_mib"] == 512 and printed["filters"][0]["window_days"] == 7
    assert printed["input"]["topic"] == "exposures", "defaults are filled in"
    again = seend("--config", config_file(first.stdout), "--print-config")
    assert again.returncode == 0 and again.stdout == first.stdout


def test_a_secret_is_taken_from_the_environment_and_never_printed(config_file):
    path = config_file(
        {"kafka": {"brokers": "127.0.0.1:9092", "client": {"sasl.password": {"env": "SEEN_SECRET"}}}}
    )
    done = seend("--config", path, "--print-config", SEEN_SECRET="tell-nobody")
    assert (
        done.returncode == 0
        and "tell-nobody" not in done.stdout + done.stderr
        and "SEEN_SECRET" in done.stdout
    )
    missing = seend("--config", path, "--check-config")
    assert missing.returncode == 2 and "SEEN_SECRET" in missing.stderr + missing.stdout


def test_a_file_that_is_not_there_is_named(tmp_path):
    done = seend("--config", tmp_path / "nowhere.json")
    assert done.returncode == 2 and "nowhere.json" in done.stderr


def test_an_unknown_option_exits_with_2_and_names_it():
    done = seend("--no-such-option")
    assert done.returncode == 2 and "--no-such-option" in done.stderr + done.stdout


@pytest.mark.parametrize("option", ["--print-config", "--print-config-schema", "--version", "--help"])
def test_what_a_full_disk_cuts_off_exits_with_1(option, config_file):
    command = [str(SEEND), "--config", str(config_file(GOOD)), option]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
    assert done.returncode == 1 and done.stderr == "seend: standard output: No space left on device\n"


@pytest.mark.parametrize("binary", [SEEND, SEENCTL], ids=["seend", "seenctl"])
def test_version_and_help_are_printed(binary):
    version = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=20)
    assert version.returncode == 0 and re.search(r"\d+\.\d+\.\d+", version.stdout), version.stdout
    usage = subprocess.run([str(binary), "--help"], capture_output=True, text=True, timeout=20)
    assert usage.returncode == 0
    for word in (
        ("--check-config", "--embedded-kafka") if binary == SEEND else ("generate", "replay", "verify")
    ):
        assert word in usage.stdout, word


def test_a_port_that_is_taken_is_named(config_file, tmp_path, daemon, started, topic_name):
    first = started()
    second = daemon(topic_name, {"http": {"listen": first.address}}, name="second").start(ready=False)
    assert second.wait_exit() != 0
    assert first.address in second.log() and first.get("/readyz").status == 200
