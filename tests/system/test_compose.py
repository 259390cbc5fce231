"""docker-compose.yml can't be run where images can't be pulled: its files exist, and its commands run natively."""

import json
import shlex

import pytest
import yaml

from places import SOURCE

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
