"""docker-compose.yml can't be run where images can't be pulled: its files exist, and its commands run natively."""

import json
import shlex
import subprocess

import pytest
import yaml

from places import SEENCTL, SEEND, SOURCE, free_port, wait_until
from http_json import Http
from prometheus_server import Prometheus

COMPOSE = SOURCE / "docker-compose.yml"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load(COMPOSE.read_text())


def command_of(service):
    command = service.get("command", [])
    return shlex.split(command) if isinstance(command, str) else [str(word) for word in command]


def mounts_of(service):
    """(path in the project, path in the container) of each bind mount."""
    for volume in service.get("volumes", []):
        if isinstance(volume, dict):
            if volume.get("type") == "bind":
                yield volume["source"], volume["target"]
        elif volume.startswith((".", "/")):
            source, target, *_ = volume.split(":")
            yield source, target


def test_the_services_of_the_readme_are_there(compose):
    assert {"kafka", "seend", "prometheus", "grafana"} <= set(compose["services"])
    assert any("generate" in command_of(s) for s in compose["services"].values()), "a generator of events"


def test_every_file_that_is_referred_to_exists(compose):
    checked = 0
    for name, service in compose["services"].items():
        for source, _ in mounts_of(service):
            assert (SOURCE / source).exists(), f"{name}: {source}"
            checked += 1
        build = service.get("build")
        if build:
            build = {"context": build} if isinstance(build, str) else build
            dockerfile = SOURCE / build.get("context", ".") / build.get("dockerfile", "Dockerfile")
            assert dockerfile.exists(), f"{name}: {dockerfile}"
            checked += 1
        for other in service.get("depends_on", []):
            assert other in compose["services"], f"{name} depends on {other}"
    assert checked >= 4


def test_ports_are_published_on_loopback_alone(compose):
    for name, service in compose["services"].items():
        for port in service.get("ports", []):
            assert str(port).startswith("127.0.0.1:"), f"{name}: {port}"


def test_what_names_another_service_names_one_that_exists(compose):
    services = set(compose["services"])
    prometheus = yaml.safe_load((SOURCE / "deploy/prometheus/prometheus.yml").read_text())
    for target in prometheus["scrape_configs"][0]["static_configs"][0]["targets"]:
        assert target.split(":")[0] in services
    datasource = yaml.safe_load((SOURCE / "deploy/grafana/provisioning/datasources/prometheus.yml").read_text())
    assert datasource["datasources"][0]["url"].split("//")[1].split(":")[0] in services
    uid = datasource["datasources"][0]["uid"]
    dashboard = json.loads((SOURCE / "deploy/grafana/dashboards/seend.json").read_text())
    assert {p["datasource"]["uid"] for p in dashboard["panels"] if "datasource" in p} == {uid}
    provider = yaml.safe_load((SOURCE / "deploy/grafana/provisioning/dashboards/seend.yml").read_text())
    targets = [target for _, target in mounts_of(compose["services"]["grafana"])]
    assert any(provider["providers"][0]["options"]["path"].startswith(t) for t in targets), targets


def test_the_commands_run_natively(compose, kafka, topics, tmp_path):
    """The same command lines, with host names and paths mapped: topic, daemon, generator, Prometheus."""
    def mapped(text):
        return text.replace("kafka:19092", kafka.bootstrap)

    def words(service):
        paths = {target: SOURCE / source for source, target in mounts_of(compose["services"][service])}
        return [str(paths.get(word, mapped(word))) for word in command_of(compose["services"][service])]

    script, *create = words("topics")
    assert script.endswith("kafka-topics.sh")
    kafka.tool("org.apache.kafka.tools.TopicCommand", *create)
    assert topics.partitions("exposures") == 8

    address = f"127.0.0.1:{free_port()}"
    (config,) = words("seend")
    own_config = tmp_path / "compose.json"
    own_config.write_text(mapped(open(config).read()))
    generator, log = None, open(tmp_path / "log", "wb")
    seend = subprocess.Popen([str(SEEND), str(own_config), "--set", f"http.listen={address}", "--set",
                              f"store.directory={tmp_path}/state"], stdout=log, stderr=log)
    prometheus = None
    try:
        assert compose["services"]["generator"]["entrypoint"] == ["seenctl"]
        generator = subprocess.Popen([str(SEENCTL), *words("generator")], stdout=log, stderr=log)
        prometheus = Prometheus(tmp_path, address)
        prometheus.wait_scraped(3)
        wait_until(lambda: float(prometheus.query("seen_events_total")[0]["value"][1]) > 2_000,
                   "Prometheus sees the generator's events", timeout_s=60)
        http = Http(address)
        assert http.get("/healthz").status == 200 and http.get("/readyz").status == 200
        http.close()
        assert generator.poll() is None
    except BaseException:
        print((tmp_path / "log").read_text()[-4000:])
        raise
    finally:
        for process in (generator, seend):
            if process is not None:
                process.terminate()
                process.wait(20)
        if prometheus:
            prometheus.close()
        log.close()
        topics.delete("exposures")
