"""A cluster that authenticates and authorizes its clients: SASL_SSL (SCRAM, OAUTHBEARER), mutual TLS, and an
authorizer.

The ways to connect and the ACLs come from docs/OPERATIONS.md, "Access to Kafka". So readers copy what these
tests run."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from certificates import Authority
from oracle import event
from places import SEEND, SOURCE, now_ms, wait_until
from secure_kafka import SecureKafka, acls_of, page_commands

from seenctl_tool import command
from topics import Topics

PAGE = (
    (SOURCE / "docs" / "OPERATIONS.md")
    .read_text()
    .partition("\n## Access to Kafka\n")[2]
    .partition("\n## ")[0]
)
SETTINGS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.S)]
PASSWORDS = {"seend": "the-password-of-seend", "operator": "the-password-of-operator"}
KEY_PASSWORD = "the-password-of-the-key"
ACL = re.compile(r"--operation (\w+) --(topic|group) ([\w.-]+)")


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    broker = SecureKafka(tmp_path_factory.mktemp("secure-kafka"), PASSWORDS)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


@pytest.fixture(scope="module")
def topics(secure):
    return Topics(secure.bootstrap)


@pytest.fixture(scope="module")
def ways(secure):
    """ways[way](user) -> (brokers, kafka.client): the page's settings, with the paths of files of this
    test."""
    certificates = {user: secure.authority.sign(user, password=KEY_PASSWORD) for user in PASSWORDS}
    secrets = secure.directory / "secrets"
    secrets.mkdir()
    for name, text in {**PASSWORDS, "key-password": KEY_PASSWORD}.items():
        (secrets / name).write_text(text + "\n")

    def of(brokers, names):
        def settings(user):
            found = [block for block in SETTINGS if all(name in json.dumps(block) for name in names)]
            assert len(found) == 1, f"one block of the page has {names}"
            certificate, key = certificates[user]
            text = json.dumps(found[0])
            for there, here in {
                "/etc/seend/ca.crt": secure.authority.certificate,
                "/etc/seend/seend.crt": certificate,
                "/etc/seend/seend.key": key,
                "/run/secrets/key-password": secrets / "key-password",
                "/run/secrets/kafka-password": secrets / user,
                "principal=seend": f"principal={user}",
                '"sasl.username": "seend"': f'"sasl.username": "{user}"',
            }.items():
                text = text.replace(there, str(here))
            return brokers, json.loads(text)

        return settings

    return {
        "scram": of(secure.sasl, ["SCRAM-SHA-512"]),
        "oauthbearer": of(secure.sasl, ["unsecure.jwt"]),
        "mtls": of(secure.mtls, ["ssl.key.location"]),
    }


def options(way, user, tmp_path):
    """A way to connect, as options of seenctl. The secrets are in files."""
    brokers, client = way(user)
    words = ["--brokers", brokers]
    for name, value in client.items():
        if isinstance(value, dict):
            value = f"@{value['file']}"
        elif "oauthbearer.config" in name:
            (tmp_path / "oauth").write_text(value)
            value = f"@{tmp_path / 'oauth'}"
        words += ["--client", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return words


def seenctl(*arguments, status=0, tries=8, **options):
    """Runs seenctl and returns both outputs. On a busy machine a handshake may take longer than seenctl waits
    for a broker: then it runs again."""
    for _ in range(tries):
        done = subprocess.run(command(*arguments, **options), capture_output=True, text=True, timeout=120)
        if "no broker answers within" not in done.stderr:
            break
    assert done.returncode == status, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout + done.stderr


def documented(principal, but=()):
    """The commands of the page for this principal, without those that contain a name of `but`."""
    commands = [words for words in page_commands(PAGE) if f"User:{principal}" in words]
    return [words for words in commands if not set(words) & set(but)]


CONFIG = {
    "kafka": {"group_id": "seend", "instance_id": "seend-1"},
    "input": {"topic": "exposures", "dead_letter_topic": "exposures-dead-letters"},
    "filters": [{"name": "default", "snapshot": {"topic": "seen-filters", "debounce_ms": 100}}],
    "watermarks": {"topic": "seen-watermarks"},
    "state": {"topic": "seen-state", "run_every_s": 1},
}


def secured(config, way, user="seend", **more):
    brokers, client = way(user)
    return {**config, "kafka": {**config["kafka"], "brokers": brokers, "client": {**client, **more}}}


@pytest.fixture(scope="module")
def granted(secure, topics):
    """Adds the ACLs of the page, and creates the topics that seend doesn't create."""
    for principal in PASSWORDS:
        for words in documented(principal):
            secure.acls(words)
    topics.create("exposures", partitions=2)
    topics.create("exposures-archive", partitions=1)


def said_acls(text):
    return set(ACL.findall(text))


def test_the_documented_acls_are_enough_in_each_way_to_connect(
    secure, topics, ways, granted, daemon, tmp_path
):
    """One daemon restarts with another way to connect each time. It continues where it was."""
    topics.produce("exposures-archive", [("a", event("a", "archived", now_ms()))])
    seend = daemon("exposures", secured(CONFIG, ways["scram"]))
    for number, way in enumerate(ways):
        seend.config["kafka"].update(secured(CONFIG, ways[way])["kafka"])
        seend.start(timeout_s=60)
        topics.produce(
            "exposures",
            [(f"u{i}", event(f"u{i}", f"{way}-n{i}", now_ms())) for i in range(20)]
            + [("u", f"not json {way}")],
        )
        seend.wait_at_rest()
        assert all(
            seend.unseen(f"u{i}", [f"{earlier}-n{i}" for earlier in ways] + ["x"])
            == [f"{later}-n{i}" for later in list(ways)[number + 1 :]] + ["x"]
            for i in range(20)
        ), way
        assert seend.http.post("/v1/users/gone/removed", {"items": ["x"]}).status in (200, 202)
        assert not said_acls(json.dumps(seend.status()) + seend.log()), way
        wait_until(lambda: seend.status()["state_topic"]["problem"] == "", f"{way}: state is sent")
        if way != list(ways)[-1]:
            seend.stop()
    assert {m.key().decode() for m in topics.read_all("seen-filters")} >= {f"u{i}" for i in range(20)}
    assert len(topics.read_all("exposures-dead-letters")) == len(ways)

    source = tmp_path / "history.jsonl"
    source.write_text("".join(event(f"h{i}", f"n{i}", now_ms() - i) + "\n" for i in range(50)))
    for way in ways:
        into = options(ways[way], "operator", tmp_path)
        assert json.loads(seenctl("replay", source, *into, "--quiet", "--json"))["sent"] == 50, way
    into = options(ways["scram"], "operator", tmp_path)
    http = ["--http", seend.url]
    archive = {"from_topic": "exposures-archive", "max_lag": "5s", "config": seend.config_path}
    seenctl("replay", *into, quiet=True, **archive)
    seend.wait_at_rest()
    seenctl("verify", "--config", seend.config_path, *into, *http, "--snapshots", "--quiet")
    seenctl("dead-letters", "--config", seend.config_path, *into, "--quiet")
    seenctl("generate", *into, "--events", "10", "--quiet")
    for name in ("seen-filters", "exposures"):
        secure.acl("remove", "operator", "Read", "topic", name)
        said = seenctl(
            "verify", "--config", seend.config_path, *into, *http, "--snapshots", "--quiet", status=1
        )
        assert said_acls(said) == {("Read", "topic", name)}, said
        secure.acl("add", "operator", "Read", "topic", name)


WHOLE = {  # every feature that uses a topic
    "kafka": {"group_id": "seend", "instance_id": "seend-1"},
    "input": {"topic": "exposures", "dead_letter_topic": "exposures-dead-letters", "keyed_by_user": False},
    "filters": [
        {"name": "default", "snapshot": {"topic": "seen-filters", "debounce_ms": 100}, "served_ttl_s": 60}
    ],
    "watermarks": {"topic": "seen-watermarks"},
    "state": {"topic": "seen-state", "run_every_s": 1, "trim_after_s": 1},
    "unexposed": {"topic": "seen-unexposed", "grace_s": 1},
    "items": {"topic": "items", "groups_topic": "item-groups"},
}


def renamed(config, prefix):
    """The same configuration, with `prefix` before the names of topics and groups."""
    text = json.dumps(config)
    for name in ("exposures", "seen-", "items", "item-groups", "seend"):
        text = re.sub(
            rf'"((?:topic|groups_topic|dead_letter_topic|group_id)": ")({name}[\w-]*")',
            rf'"\1{prefix}\2',
            text,
        )
    return json.loads(text)


class Trial:
    """A daemon whose ACLs a test adds and removes."""

    def __init__(self, secure, topics, seend, prefix):
        self.secure, self.topics, self.seend, self.prefix = secure, topics, seend, prefix
        self.asked, self.number, self.sent_at = set(), 0, 0

    def acl(self, what, *acls):
        for operation, resource, name in sorted(acls):
            self.secure.acl(what, "seend", operation, resource, name)

    def told(self):
        """The missing ACLs that /v1/status names."""
        return said_acls(json.dumps(self.seend.status() or {}))

    def traffic(self):
        """Sends exposures, an event of an item served and never shown, an invalid event, and items. At most
        once a second."""
        if time.monotonic() - self.sent_at < 1:
            return
        self.number, self.sent_at, now = self.number + 1, time.monotonic(), now_ms()
        hours_ago = now - 7_200_000
        served = event("served", f"n{self.number}", hours_ago, kind="served")
        shown = [(f"k{i}", event(f"u{i}", f"n{self.number}", now)) for i in range(4)]
        records = [*shown, ("k", served, {"timestamp": hours_ago}), ("k", "none")]
        self.topics.produce(f"{self.prefix}exposures", records)
        item = {"item_id": f"i{self.number}", "created_at": now, "text": "some words here"}
        self.topics.produce(f"{self.prefix}items", [(item["item_id"], json.dumps(item))])

    def grant_what_is_asked_until(self, done, what, but=(), timeout_s=120):
        """Adds each ACL that the daemon names, until `done()` is true."""
        deadline = time.monotonic() + timeout_s
        while not done():
            new = (self.told() | said_acls(self.seend.log())) - self.asked - set(but)
            self.acl("add", *new)
            self.asked |= new
            assert time.monotonic() < deadline, (
                what,
                sorted(self.asked),
                self.seend.status(),
                self.seend.log()[-3000:],
            )
            time.sleep(0.1)


def test_each_acl_that_is_missing_is_named(secure, topics, ways, daemon):
    """The daemon begins without ACLs and gets those that it names. Then it loses them, and continues when
    they are back."""
    only_replicas = {"seend-zone-b", "seen-watermarks-cluster"}
    prefix = "t-"
    page = {
        (operation, resource, prefix + name)
        for words in documented("seend", but=only_replicas)
        for operation, resource, name in acls_of(words)
    } | {("Read", "topic", "t-seen-watermarks-cluster")}
    for name, partitions in (("exposures", 2), ("items", 2)):
        topics.create(prefix + name, partitions=partitions)
    config = renamed(secured(WHOLE, ways["scram"], **{"topic.metadata.refresh.interval.ms": "1000"}), prefix)
    seend = daemon(f"{prefix}exposures", config)
    trial = Trial(secure, topics, seend, prefix)

    # Without the state topic the daemon runs, and it needs a restart to use it. It waits for the other ACLs.
    state = {acl for acl in page if acl[2] == "t-seen-state"}
    seend.start(ready=False)
    trial.grant_what_is_asked_until(
        lambda: (a := seend.get("/readyz")) and a.status == 200, "it is ready", but=state
    )
    assert trial.told() & state == {("Read", "topic", "t-seen-state")}
    trial.acl("add", ("Read", "topic", "t-seen-state"))
    seend.stop()
    seend.start(timeout_s=60)
    wait_until(
        lambda: ("Create", "topic", "t-seen-state") in trial.told(), "Create on the state topic is named"
    )
    trial.acl("add", ("Create", "topic", "t-seen-state"))
    trial.asked |= {("Read", "topic", "t-seen-state"), ("Create", "topic", "t-seen-state")}
    seend.stop()
    seend.start(timeout_s=60)

    def all_asked():
        trial.traffic()
        return page - trial.asked <= optional

    # A daemon needs these only if a topic doesn't exist, or if no other ACL lets it see the topic.
    optional = {("Write", "topic", "t-exposures")}
    trial.grant_what_is_asked_until(all_asked, "everything is asked for")
    assert trial.asked <= page, "the page has all of them"
    seend.wait_at_rest()

    # Each group holds ACLs that can be lost together: the loss of one doesn't stop requests that need
    # another.
    between = {prefix + name for name in ("exposures-by-user", "items-in-order")}
    for lost in (
        {acl for acl in page - optional if acl[0] == "Write" and acl[2] not in between},
        {(operation, "topic", name) for operation in ("Read", "Write") for name in between},
        {acl for acl in page if acl[:2] == ("Read", "group")},
        {("Read", "topic", prefix + name) for name in ("exposures", "items")},
    ):
        trial.acl("remove", *lost)

        def named():
            trial.traffic()
            return lost <= trial.told()

        wait_until(named, f"each of {sorted(lost)} is named in /v1/status", timeout_s=90, every_s=0.3)
        assert lost <= said_acls(seend.log()) and cpu_share(seend.process.pid) < 0.9
        trial.acl("add", *lost)

        def forgotten():
            trial.traffic()
            return not trial.told() & lost  # an ACL that only the start needs stays listed for ten minutes

        wait_until(forgotten, f"none of {sorted(lost)} is missing any more", timeout_s=90, every_s=0.3)
        seend.wait_at_rest(timeout_s=120)
        assert all(
            seend.unseen(f"u{i}", [f"n{n}" for n in range(1, trial.number + 1)]) == [] for i in range(4)
        ), lost
    published = {m.key().decode() for m in topics.read_all(f"{prefix}seen-filters")}
    assert {f"u{i}" for i in range(4)} <= published


def cpu_share(pid, seconds=2.0):
    """The share of one processor that the process uses, over `seconds`."""

    def ticks():
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            words = stat.read().rpartition(")")[2].split()
        return int(words[11]) + int(words[12])

    before, begun = ticks(), time.monotonic()
    time.sleep(seconds)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - begun)


def test_seenctl_names_each_acl_that_is_missing(secure, topics, ways, tmp_path):
    prefix, user = "c-", "operator"
    acls = {acl for words in documented(user) for acl in acls_of(words)}
    for operation, resource, name in acls:
        secure.acl("add", user, operation, resource, prefix + name)
    for name in (
        "exposures",
        "exposures-archive",
        "exposures-dead-letters",
        "seen-filters",
        "seen-watermarks",
    ):
        topics.create(prefix + name, partitions=1)
        topics.produce(prefix + name, [("a", event("a", "n", now_ms()))])
    config = renamed(secured(CONFIG, ways["scram"], user), prefix)
    path, source = tmp_path / "seend.json", tmp_path / "history.jsonl"
    path.write_text(json.dumps({**config, "store": {"directory": str(tmp_path / "none")}}))
    source.write_text(event("h", "n", now_ms()) + "\n")
    send = ["replay", source, "--config", path, "--quiet"]
    archive = ["replay", "--from-topic", f"{prefix}exposures-archive", "--config", path, "--quiet"]
    state = ["replay", source, "--config", path, "--quiet", "--into-state-topic", "--replace"]
    letters = ["dead-letters", "--config", path, "--quiet"]
    for command, acl, status in (
        (send, ("Write", "topic", "exposures"), 1),
        (send, ("Read", "topic", "exposures"), 1),
        (send, ("DescribeConfigs", "topic", "exposures"), 0),
        (archive, ("Read", "topic", "exposures-archive"), 1),
        ([*send, "--max-lag", "2s"], ("Read", "topic", "seen-watermarks"), 1),
        (state, ("Create", "topic", "seen-state"), 1),
        (state, ("Describe", "group", "seend"), 1),
        (state, ("Write", "topic", "seen-state"), 1),
        (state, ("Read", "topic", "seen-state"), 1),
        (state, ("DescribeConfigs", "topic", "seen-state"), 0),
        (letters, ("Read", "topic", "exposures-dead-letters"), 1),
    ):
        missing = (acl[0], acl[1], prefix + acl[2])
        secure.acl("remove", user, *missing)
        said = seenctl(*command, status=status)
        assert said_acls(said) == {missing}, said
        secure.acl("add", user, *missing)
        if acl[0] in ("Create", "Write"):
            seenctl(*command)


WRONG = {  # mistake -> setting that the message names
    "password": "sasl.password",
    "user": "sasl.username",
    "token": "sasl.oauthbearer",
    "ca": "ssl.ca.location",
    "no certificate": "ssl.certificate.location",
    "expired certificate": "ssl.certificate.location",
    "plain text": "security.protocol",
}


@pytest.fixture(scope="module")
def wrong_ways(secure, ways):
    """wrong_ways[mistake] -> (brokers, kafka.client, secrets that no output may contain)"""
    foreign = Authority(secure.directory, "foreign-ca")
    certificate, key = secure.authority.sign("expired", days=-1)
    (brokers, scram), (_, token), (mtls_brokers, mtls) = (ways[way]("seend") for way in ways)
    no_certificate = {"security.protocol": "SSL", "ssl.ca.location": mtls["ssl.ca.location"]}
    return {
        "password": (brokers, {**scram, "sasl.password": "not-the-password"}, ["not-the-password"]),
        "user": (brokers, {**scram, "sasl.username": "nobody"}, [PASSWORDS["seend"]]),
        "token": (
            brokers,
            {**token, "sasl.oauthbearer.config": "principal=seend lifeSeconds=bad-secret"},
            ["bad-secret"],
        ),
        "ca": (brokers, {**scram, "ssl.ca.location": str(foreign.certificate)}, [PASSWORDS["seend"]]),
        "no certificate": (mtls_brokers, no_certificate, []),
        "expired certificate": (
            mtls_brokers,
            {**no_certificate, "ssl.certificate.location": str(certificate), "ssl.key.location": str(key)},
            [],
        ),
        "plain text": (brokers, {"security.protocol": "PLAINTEXT"}, []),
    }


def test_a_connection_that_is_refused_says_what_to_check(wrong_ways, daemon, tmp_path):
    """All daemons run at once. Each waits, says why, and doesn't spin. seenctl says the same and ends."""
    daemons = {}
    for what, (brokers, client, _) in wrong_ways.items():
        config = {**CONFIG, "kafka": {"brokers": brokers, "group_id": "wrong", "client": client}}
        daemons[what] = daemon("exposures", config, name=what.replace(" ", "-")).start(ready=False)
    for what, seend in daemons.items():

        def named():
            answer = seend.get("/readyz")
            said = answer.text if answer and answer.status == 503 else ""
            return WRONG[what] in said and "Remedy: check" in said

        seend.wait(named, f"/readyz says what to check: {what}", 60)
        assert WRONG[what] in seend.log()
    assert all(cpu_share(seend.process.pid, 0.5) < 0.5 for seend in daemons.values())
    for what, seend in daemons.items():
        said = seend.log() + json.dumps(seend.status()) + seend.http.get("/metrics").text
        assert not [secret for secret in wrong_ways[what][2] if secret in said]
        seend.sigterm()
    for what, seend in daemons.items():
        assert seend.wait_exit(30) == 0, what
    for what, (_, _, secrets) in wrong_ways.items():
        begun = time.monotonic()
        said = seenctl("dead-letters", "--config", daemons[what].config_path, "--quiet", status=1, tries=1)
        assert (
            time.monotonic() - begun < 30 and WRONG[what] in said and not [s for s in secrets if s in said]
        ), said


def test_secrets_appear_nowhere(secure, ways, granted, daemon, tmp_path):
    """Secrets come in plain text, from a file and from the environment. All levels of the log are on, and the
    process crashes."""
    scram, (mtls_brokers, mtls) = ways["scram"]("seend"), ways["mtls"]("seend")
    certificate, key = (
        open(mtls[f"ssl.{one}.location"], encoding="ascii").read() for one in ("certificate", "key")
    )
    client = {name: value for name, value in scram[1].items() if name != "sasl.password"}
    in_pem = {
        "security.protocol": "SSL",
        "ssl.ca.location": mtls["ssl.ca.location"],
        "ssl.certificate.pem": certificate,
        "ssl.key.pem": key,
        "ssl.key.password": KEY_PASSWORD,
    }
    given = {
        "plain": (scram[0], {**client, "sasl.password": PASSWORDS["seend"]}, signal.SIGABRT),
        "environment": (scram[0], {**client, "sasl.password": {"env": "SEEN_SECRET"}}, signal.SIGSEGV),
        "pem": (mtls_brokers, in_pem, signal.SIGABRT),
        "token": (secure.sasl, ways["oauthbearer"]("seend")[1], signal.SIGSEGV),
    }
    token = "the-cluster-token"
    secrets = [PASSWORDS["seend"], KEY_PASSWORD, *key.splitlines()[1:-1], token, "principal=seend"]
    daemons = {}
    for name, (brokers, settings, _) in given.items():
        client = {**settings, "debug": "all"}
        config = {
            **CONFIG,
            "kafka": {
                "brokers": brokers,
                "group_id": f"secret-{name}",
                "instance_id": name,
                "client": client,
            },
            "log": {"level": "debug"},
            "cluster": {"token": token, "peers": "127.0.0.0/8"},
            "watermarks": {"topic": None},
            "state": {"topic": None},
            "filters": [{"name": "default", "snapshot": None}],
        }
        seend = daemons[name] = daemon("exposures", config, name)
        seend.environment["SEEN_SECRET"] = PASSWORDS["seend"]
        seend.start(ready=False)
    for name, seend in daemons.items():
        wait_until(
            lambda: (seend.status() or {}).get("partitions_total"), f"{name}: brokers answer", timeout_s=60
        )
        said = [seend.log(), json.dumps(seend.status()), seend.http.get("/metrics").text]
        with open(f"/proc/{seend.process.pid}/cmdline", encoding="ascii") as cmdline:
            said.append(cmdline.read())
        environment = {**os.environ, **seend.environment}
        for arguments in (["--check-config", seend.config_path], ["--print-config", seend.config_path]):
            done = subprocess.run(
                [SEEND, *arguments], capture_output=True, text=True, timeout=60, env=environment
            )
            assert done.returncode == 0, done.stderr
            said.append(done.stdout + done.stderr)
        said.append(seenctl("config", "explain", "kafka"))
        seend.process.send_signal(given[name][2])
        assert seend.wait_exit(60) == -given[name][2]
        said.append(seend.log())
        for text in said:
            assert not [secret for secret in secrets if secret in text], text[-4000:]
    for wrong in (
        {"sasl.password": PASSWORDS["seend"], "linger.ms": "nonsense"},
        {"sasl.password.of.seend": PASSWORDS["seend"]},
    ):
        path = tmp_path / "wrong.json"
        path.write_text(json.dumps({"kafka": {"brokers": "b:1", "client": wrong}}))
        for arguments in (["--check-config", path], [path]):
            done = subprocess.run(
                [SEEND, *arguments], capture_output=True, text=True, timeout=60, cwd=tmp_path
            )
            assert done.returncode != 0 and PASSWORDS["seend"] not in done.stdout + done.stderr, done
    on_command_line = [SEEND, path, "--set", f"kafka.client.sasl.password={PASSWORDS['seend']}"]
    done = subprocess.run(on_command_line, text=True, capture_output=True, timeout=60)
    assert done.returncode == 2 and "can't be on the command line" in done.stderr
    assert PASSWORDS["seend"] not in done.stderr

    source = tmp_path / "history.jsonl"
    source.write_text("".join(event("h", f"n{i}", now_ms()) + "\n" for i in range(300)))
    into = options(ways["scram"], "operator", tmp_path)
    more = {"client": "debug=all", "rate": 20}
    running = subprocess.Popen(
        command("replay", source, *into, **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with open(f"/proc/{running.pid}/cmdline", encoding="ascii") as cmdline:
        assert "sasl.password=@" in wait_until(cmdline.read, "it runs")
    time.sleep(1)
    running.send_signal(signal.SIGABRT)
    said = running.communicate(timeout=60)[0]
    assert running.returncode == -signal.SIGABRT, said[-4000:]
    assert not [secret for secret in (*secrets, PASSWORDS["operator"]) if secret in said], said[-4000:]
