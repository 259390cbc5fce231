"""Checks that the files of docker-compose.yml exist and that its commands run natively. Compose itself
doesn't run: it would have to pull images."""

import contextlib
import json
import shlex
import subprocess

import pytest
import yaml

from http_json import Http, user_path
from places import SEENCTL, SEEND, SOURCE, free_port, wait_until
from prometheus_server import DEPLOYED, Prometheus

COMPOSE = SOURCE / "docker-compose.yml"
DASHBOARDS = SOURCE / "deploy/grafana/dashboards"
OWNERS = ["owner-1", "owner-2", "owner-3"]
REPLICAS = ["replica-1", "replica-2"]
MEMBERS = OWNERS + REPLICAS


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


def words_of(compose, service, mapped):
    """The service's command, with paths of the project, and with `mapped` applied to each word."""
    paths = {target: SOURCE / source for source, target in mounts_of(compose["services"][service])}
    return [str(paths.get(word, mapped(word))) for word in command_of(compose["services"][service])]


def create_topic(compose, service, kafka):
    script, *create = words_of(compose, service, lambda text: text.replace("kafka:19092", kafka.bootstrap))
    assert script.endswith("kafka-topics.sh")
    kafka.tool("org.apache.kafka.tools.TopicCommand", *create)


def in_profile(compose, profile):
    """The services that `docker compose --profile` adds. None: those that a plain `docker compose up`
    starts."""
    return {
        name
        for name, service in compose["services"].items()
        if service.get("profiles", []) == ([profile] if profile else [])
    }


def test_the_services_of_the_readme_are_there(compose):
    default = in_profile(compose, None)
    assert default == {"kafka", "topics", "seend", "generator", "prometheus", "grafana"}
    assert any("generate" in command_of(compose["services"][name]) for name in default), (
        "a generator of events"
    )


def test_the_cluster_is_a_profile_beside_the_single_daemon(compose):
    names = in_profile(compose, "cluster")
    assert names == set(compose["services"]) - in_profile(compose, None)
    assert set(MEMBERS) < names
    for name in in_profile(compose, None):
        assert not set(compose["services"][name].get("depends_on", [])) & names, (
            f"{name} starts without the profile"
        )
    published = [str(p).rpartition(":")[0] for s in compose["services"].values() for p in s.get("ports", [])]
    assert len(published) == len(set(published)), "both run at the same time"


def test_each_daemon_has_a_volume_of_its_own(compose):
    volumes = [
        volume.split(":")[0]
        for service in compose["services"].values()
        for volume in service.get("volumes", [])
        if volume.endswith(":/var/lib/seend")
    ]
    assert len(volumes) == len(set(volumes)) == 1 + len(MEMBERS)
    assert set(volumes) < set(compose["volumes"])


def configured(compose, service):
    """The whole configuration of a daemon, with its defaults."""
    words = words_of(compose, service, str)
    for option in ("--check-config", "--print-config"):
        done = subprocess.run(
            [SEEND, option, *words], capture_output=True, text=True, timeout=20, check=False
        )
        assert done.returncode == 0, f"{service}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def test_each_configuration_of_the_cluster_is_sound(compose):
    shared, own = {}, {}
    for name in MEMBERS:
        own[name] = config = configured(compose, name)
        assert config["cluster"]["address"] == f"{name}:8080"
        assert config["cluster"]["address"] in config["cluster"]["peers"].split(",")
        assert config["http"]["listen"] == "0.0.0.0:8080" and config["store"]["directory"] == "/var/lib/seend"
        assert config["kafka"]["client"]["session.timeout.ms"] == "6000"
        cluster = {**config["cluster"], "address": None}
        shared[name] = {**config, "kafka": None, "role": None, "replica_of": None, "cluster": cluster}
    assert all(config == shared["owner-1"] for config in shared.values()), (
        "names, addresses and roles differ, no more"
    )
    assert {config["kafka"]["instance_id"] for config in own.values()} == set(MEMBERS)
    assert len({own[name]["kafka"]["group_id"] for name in OWNERS}) == 1
    assert len({own[name]["kafka"]["group_id"] for name in REPLICAS}) == 1
    group = own["owner-1"]["kafka"]["group_id"]
    assert {(own[name]["role"], own[name]["replica_of"]) for name in OWNERS} == {("owner", None)}
    assert {(own[name]["role"], own[name]["replica_of"]) for name in REPLICAS} == {("replica", group)}


def test_the_cluster_shares_no_topic_and_no_group_with_the_single_daemon(compose):
    def names_of(service):
        config = configured(compose, service)
        return {
            config["input"]["topic"],
            config["input"]["dead_letter_topic"],
            config["watermarks"]["topic"],
            config["state"]["topic"],
            config["kafka"]["group_id"],
            *(entry["snapshot"]["topic"] for entry in config["filters"]),
        }

    single = names_of("seend")
    assert all(single.isdisjoint(names_of(name)) for name in MEMBERS)


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


def check_runbook_is_served(compose, url):
    """Grafana serves /public from a folder of its image. docs/ must be mounted there."""
    (docs,) = [target for source, target in mounts_of(compose["services"]["grafana"]) if source == "./docs"]
    assert url.replace("/public", "/usr/share/grafana/public", 1) == f"{docs}/RUNBOOK.md"


def test_what_names_another_service_names_one_that_exists(compose):
    services = set(compose["services"])
    for name in ("prometheus", "cluster-prometheus"):
        (deployed,) = [
            SOURCE / source
            for source, target in mounts_of(compose["services"][name])
            if target == "/etc/prometheus"
        ]
        file = next(
            (
                word.rpartition("/")[2]
                for word in command_of(compose["services"][name])
                if word.startswith("--config.file=/etc/prometheus/")
            ),
            "prometheus.yml",
        )
        config = yaml.safe_load((deployed / file).read_text())
        (job,) = config["scrape_configs"]
        assert job["job_name"] == "seend", "alerts name this job"
        targets = {target.split(":")[0] for target in job["static_configs"][0]["targets"]}
        assert targets == ({"seend"} if name == "prometheus" else set(MEMBERS))
        assert config["rule_files"] == ["alerts.yml"]
    datasources = yaml.safe_load(
        (SOURCE / "deploy/grafana/provisioning/datasources/prometheus.yml").read_text()
    )
    assert {source["url"] for source in datasources["datasources"]} == {
        "http://prometheus:9090",
        "http://cluster-prometheus:9090",
    }
    assert services >= {source["url"].split("//")[1].split(":")[0] for source in datasources["datasources"]}
    assert [source["isDefault"] for source in datasources["datasources"] if "isDefault" in source] == [True]
    for path in DASHBOARDS.glob("*.json"):
        variables = {
            variable["name"]: variable for variable in json.loads(path.read_text())["templating"]["list"]
        }
        assert variables["datasource"]["query"] == "prometheus"
        assert variables["datasource"]["current"]["value"] in {
            source["uid"] for source in datasources["datasources"]
        }
        check_runbook_is_served(compose, variables["runbook"]["query"])
    home = compose["services"]["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (DASHBOARDS / home.rpartition("/")[2]).exists()
    provider = yaml.safe_load((SOURCE / "deploy/grafana/provisioning/dashboards/seend.yml").read_text())
    targets = [target for _, target in mounts_of(compose["services"]["grafana"])]
    assert any(provider["providers"][0]["options"]["path"].startswith(t) for t in targets), targets


def test_the_commands_run_natively(compose, kafka, topics, topic_name, tmp_path):
    """Runs the same command lines, with other host names and paths: topic, daemon, generator, Prometheus."""

    def mapped(text):
        return text.replace("kafka:19092", kafka.bootstrap)

    create_topic(compose, "topics", kafka)
    assert topics.partitions("exposures") == 8

    address = f"127.0.0.1:{free_port()}"
    (config,) = words_of(compose, "seend", mapped)
    own_config = tmp_path / "compose.json"
    own_config.write_text(mapped(open(config).read()))
    generator, log = None, open(tmp_path / "log", "wb")
    # Other tests use the default name of the state topic.
    own = {
        "http.listen": address,
        "store.directory": f"{tmp_path}/state",
        "state.topic": f"{topic_name}-state",
    }
    options = [word for name, value in own.items() for word in ("--set", f"{name}={value}")]
    seend = subprocess.Popen([str(SEEND), str(own_config), *options], stdout=log, stderr=log)
    prometheus = None
    try:
        assert compose["services"]["generator"]["entrypoint"] == ["seenctl"]
        generator = subprocess.Popen(
            [str(SEENCTL), *words_of(compose, "generator", mapped)], stdout=log, stderr=log
        )
        prometheus = Prometheus(tmp_path, {"seend:8080": address})
        prometheus.wait_scraped(3)
        wait_until(
            lambda: float(prometheus.query("seen_events_total")[0]["value"][1]) > 2_000,
            "Prometheus sees the generator's events",
            timeout_s=60,
        )
        http = Http(address)
        assert http.get("/healthz").status == 200
        wait_until(lambda: http.get("/readyz").status == 200, "the daemon is ready")
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


class Cluster:
    """The daemons and the generator of the profile. Their command lines are the same, with other addresses
    and paths."""

    def __init__(self, compose, kafka, directory):
        self.compose, self.kafka, self.directory = compose, kafka, directory
        self.addresses = {f"{name}:8080": f"127.0.0.1:{free_port()}" for name in MEMBERS}
        self.http = {name: Http(self.addresses[f"{name}:8080"]) for name in MEMBERS}
        self.config = directory / "cluster.json"
        self.config.write_text(self.mapped((SOURCE / "config/cluster.json").read_text()))
        self.processes = {}

    def mapped(self, text):
        for name, address in {"kafka:19092": self.kafka.bootstrap, **self.addresses}.items():
            text = text.replace(name, address)
        return text

    def start(self, name, program):
        words = words_of(self.compose, name, self.mapped)
        if program == SEEND:
            assert words[0] == str(SOURCE / "config/cluster.json")
            words = [
                str(self.config),
                *words[1:],
                "--set",
                f"http.listen={self.addresses[f'{name}:8080']}",
                "--set",
                f"store.directory={self.directory}/{name}",
            ]
        with open(self.directory / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen([str(program), *words], stdout=log, stderr=log)

    def routes(self, name):
        """{(role, instance): its partitions}: the routes that this daemon knows and that answer."""
        found = {}
        for route in self.http[name].get("/v1/routes").json()["routes"]:
            if route["state"] == "ready":
                found.setdefault((route["role"], route["instance"]), set()).add(route["partition"])
        return found

    def open_partitions(self, name):
        return [
            p["partition"] for p in self.http[name].get("/v1/status").json()["partitions"] if p["answers"]
        ]

    def stop(self, names):
        for name in names:
            self.processes[name].terminate()
        for name in names:
            self.processes.pop(name).wait(30)

    def logs(self):
        return "\n".join(
            f"{name}:\n{(self.directory / f'{name}.log').read_text()[-3000:]}" for name in self.processes
        )


@contextlib.contextmanager
def running_cluster(compose, kafka, directory):
    cluster, prometheus = Cluster(compose, kafka, directory), None
    try:
        for name in MEMBERS:
            cluster.start(name, SEEND)
        cluster.start("cluster-generator", SEENCTL)
        prometheus = Prometheus(directory, cluster.addresses, "cluster.yml")
        yield cluster, prometheus
    except BaseException:
        print(cluster.logs())
        raise
    finally:
        cluster.stop(list(cluster.processes))
        for http in cluster.http.values():
            http.close()
        if prometheus:
            prometheus.close()


@pytest.mark.heavy
def test_the_cluster_runs_natively(compose, kafka, topics, tmp_path):
    """Three daemons share 12 partitions, and two replicas share them, too. Each answers for all users.
    Prometheus sees it."""
    create_topic(compose, "cluster-topics", kafka)
    assert topics.partitions("cluster-exposures") == 12
    with running_cluster(compose, kafka, tmp_path) as (cluster, prometheus):

        def shared():
            assert all(process.poll() is None for process in cluster.processes.values())
            # A former owner answers until the new owner has been ready for a second.
            return all(
                {key: len(partitions) for key, partitions in cluster.routes(name).items()}
                == {**{("owner", name): 4 for name in OWNERS}, **{("replica", name): 6 for name in REPLICAS}}
                and len(cluster.open_partitions(name)) == (4 if name in OWNERS else 6)
                for name in MEMBERS
            )

        wait_until(
            shared, "each daemon knows who answers for what, and has only its own", timeout_s=120, every_s=0.1
        )
        check_answers(cluster)
        prometheus.wait_scraped(10)
        check_dashboard(prometheus)
        check_change_of_owner(cluster, prometheus)
    for topic in [
        name for name in topics.admin().list_topics(timeout=10).topics if name.startswith("cluster-")
    ]:
        topics.delete(topic)


def check_answers(cluster):
    """Checks that every daemon answers for every user. The owner or a replica of the user's partition gives
    the answer."""
    assert {name: cluster.http[name].get("/v1/status").json()["role"] for name in MEMBERS} == {
        **dict.fromkeys(OWNERS, "owner"),
        **dict.fromkeys(REPLICAS, "replica"),
    }
    for name in MEMBERS:
        assert cluster.http[name].get("/healthz").status == 200
        wait_until(lambda name=name: cluster.http[name].get("/readyz").status == 200, f"{name} is ready")
        answers = [cluster.http[name].get(user_path(f"user-{number}")) for number in range(40)]
        assert {answer.status for answer in answers} == {200}
        assert len({answer.headers["Seen-Answered-By"] for answer in answers}) > 1, "it passes requests on"


def check_dashboard(prometheus):
    """The dashboard "Is it working" shows owners and replicas, and no alert fires."""
    panels = {
        panel["title"]: panel
        for panel in json.loads((DASHBOARDS / "is-it-working.json").read_text())["panels"]
        if "targets" in panel
    }
    wait_until(
        lambda: not prometheus.empty_panels(panels.values(), {"seen_certificate_not_after_seconds"}),
        "each panel shows something",
        timeout_s=60,
        every_s=0.5,
    )
    table, passed_on = "Owner, epoch and role of each partition", "Requests passed on"

    def shown(title, refid="A"):
        (expression,) = [t["expr"] for t in panels[title]["targets"] if t["refId"] == refid]
        return {
            tuple(
                s["metric"].get(label)
                for label in ("instance", "partition", "result", "topic")
                if label in s["metric"]
            ): float(s["value"][1])
            for s in prometheus.query(expression.replace("$instance", ".*").replace("$__rate_interval", "8s"))
        }

    def figures():
        return {
            "instances up, missing": [list(shown("Instances up", refid).values()) for refid in "AB"],
            "partitions owned, of the topic, without owner": [
                list(shown("Partitions owned", refid).values()) for refid in "ABC"
            ],
            "roles by partition": sorted(shown(table).values()),
            "answers": len(shown(table, "B")),
            "ready": sum(shown(table, "C").values()),
            "epochs, at owners alone": len(shown(table, "D")),
            "ages": len(shown(table, "E")),
            "roles by daemon": sorted(shown("Role").values()),
            "unowned and refused": {
                *shown("Unowned and refused partitions").values(),
                *shown("Unowned and refused partitions", "B").values(),
            },
            "passed on": {result for _, result in shown(passed_on)},
        }

    expected = {
        "instances up, missing": [[5], [0]],
        "partitions owned, of the topic, without owner": [[12], [12], [0]],
        "roles by partition": [1] * 12 + [2] * 12,
        "answers": 24,
        "ready": 24,
        "epochs, at owners alone": 12,
        "ages": 24,
        "roles by daemon": [0, 0, 0, 1, 1],
        "unowned and refused": {0},
        "passed on": {"answered", "failed", "refused"},
    }

    def as_expected():
        found = figures()
        if found != expected:  # a failure shows the last of these
            raise ValueError({name: value for name, value in found.items() if value != expected[name]})
        return True

    wait_until(as_expected, "the panels show owners and replicas", timeout_s=60, every_s=0.5)
    assert prometheus.value("count(up == 1)") == 5 and prometheus.value("sum(seen_events_total)") > 2_000
    assert [series["metric"] for series in prometheus.query('ALERTS{alertstate="firing"}')] == []


def check_change_of_owner(cluster, prometheus):
    """Without owners the alert's expression is true, until the group of the replicas is promoted."""
    groups = yaml.safe_load((DEPLOYED / "alerts.yml").read_text())["groups"]
    (expression,) = [
        rule["expr"] for group in groups for rule in group["rules"] if rule.get("alert") == "SeendNoOwner"
    ]
    assert prometheus.query(expression) == []
    cluster.stop(OWNERS)
    wait_until(lambda: prometheus.query(expression), "nobody owns", every_s=0.3)
    assert prometheus.value(expression) == 2
    assert cluster.http["replica-1"].post("/v1/promote").status == 202
    wait_until(lambda: prometheus.query(expression) == [], "a replica owns", every_s=0.3)
    wait_until(lambda: prometheus.value("count(seen_replica == 0)") == 2, "both own", every_s=0.3)
