"""The runbook has an entry for each alert. The commands in it and in OPERATIONS.md exist, and a daemon has
each metric that deploy/prometheus uses."""

import pathlib
import re
import shlex
import subprocess

import pytest
import yaml

from load import Load
from places import SEENCTL, SOURCE, wait_until
from prometheus_server import DEPLOYED
from seend import in_group

DOCS = SOURCE / "docs"
PARTS = ["**Symptom.**", "**What users notice.**", "**Diagnosis.**", "**What to do.**", "**It is over when**"]
PAGES = ["RUNBOOK.md", "OPERATIONS.md"]
HERE = pathlib.Path(__file__).parent
TESTS_OF_FAULTS = ["test_alerts.py", "test_compose.py"]


def alerts():
    """{name: runbook_url}"""
    document = yaml.safe_load((SOURCE / "deploy" / "prometheus" / "alerts.yml").read_text())
    rules = [rule for group in document["groups"] for rule in group["rules"] if "alert" in rule]
    return {rule["alert"]: rule["annotations"].get("runbook_url") for rule in rules}


def entries():
    """{heading: text}"""
    blocks = re.split(r"(?m)^## ", (DOCS / "RUNBOOK.md").read_text())[1:]
    return dict(block.split("\n", 1) for block in blocks)


def commands(page):
    """Each line of the shell blocks, with continued lines joined, and each command of seenctl in the text."""
    text = re.sub(r"\\\n\s*", " ", (DOCS / page).read_text())
    blocks = re.findall(r"(?ms)^ *```(?:sh|console)\n(.*?)^ *```", text) + re.findall(
        r"(?m)^    (\w.*)$", text
    )
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return lines + re.findall(r"`(seenctl [a-z][^`]*)`", text.replace("\n", " "))


def test_each_alert_has_an_entry_and_each_entry_an_alert():
    assert len(alerts()) > 20
    assert alerts() == {name: f"docs/RUNBOOK.md#{name.lower()}" for name in alerts()}
    assert set(entries()) == set(alerts())


def test_a_real_fault_makes_each_alert_fire():
    caused = {
        name for test in TESTS_OF_FAULTS for name in re.findall(r'"(Seend\w+)"', (HERE / test).read_text())
    }
    assert set(alerts()) - caused == set()


@pytest.mark.parametrize("name", sorted(entries()))
def test_an_entry_says_what_is_wrong_what_to_do_and_when_it_is_over(name):
    text = entries()[name]
    places = [text.find(part) for part in PARTS]
    assert -1 not in places and places == sorted(places), "all parts, in their order"
    block = re.search(r"(?ms)^```sh\n(.*?)^```", text)[1]
    assert len(block.splitlines()) == 3, "three commands"


@pytest.mark.parametrize("page", PAGES)
def test_what_is_to_be_typed_exists(page):
    metrics, http = (DOCS / "METRICS.md").read_text(), (DOCS / "HTTP.md").read_text()
    helps, looked = {}, 0
    for line in commands(page):
        for word in re.findall(r"/metrics \| grep (\S+)", line):
            assert f"`{word}" in metrics, line
        for path in re.findall(r"(?<!/api)(/v1/[a-z/-]+)", line):
            assert path in http, line
        words = shlex.split(line, comments=True) if "seenctl " in line else []
        if "seenctl" not in words:
            continue
        rest = words[words.index("seenctl") + 1 :]
        count = 2 if rest[0] == "config" else 1
        command = tuple(rest[:count])
        if command not in helps:
            done = subprocess.run(
                [str(SEENCTL), *command, "--help"], capture_output=True, text=True, timeout=20
            )
            assert done.returncode == 0, line
            helps[command] = done.stdout
        for option in (word.split("=")[0] for word in rest if word.startswith("--")):
            assert re.search(rf"{option}\b", helps[command]), (line, option)
        looked += 1
    assert looked > 0


QUIET = {
    "seen_retention_headroom_seconds",
    "seen_state_restore_share",
}  # shown only while something is unread or is restored


@pytest.mark.parametrize(
    "check",
    [["config", "prometheus.yml"], ["config", "cluster.yml"], ["rules", "alerts.yml"]],
    ids=lambda c: c[1],
)
def test_promtool_accepts_what_is_deployed(check):
    done = subprocess.run(
        ["promtool", "check", *check], cwd=DEPLOYED, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_alerts_fire_when_they_should_and_only_then():
    done = subprocess.run(
        ["promtool", "test", "rules", "alerts_test.yml"],
        cwd=DEPLOYED,
        capture_output=True,
        text=True,
        timeout=180,
    )  # the test simulates hours of rules
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_that_an_alert_asks_for_is_one_the_daemon_has(topics, started, topic_name, chance):
    seend = started(in_group(topic_name, "one"))
    Load(chance, users=10).send(topics, topic_name, 100)
    seend.wait_at_rest()
    wait_until(
        lambda: "seen_state_stream_epoch" in seend.http.get("/metrics").text, "its stream of state has begun"
    )
    page = seend.http.get("/metrics").text
    names = set(re.findall(r"^# TYPE (\S+)", page, re.M))
    asked = set(re.findall(r"\bseen_[a-z0-9_]+", (DEPLOYED / "alerts.yml").read_text()))
    asked = {re.sub(r"_(bucket|count)$", "", name) for name in asked}
    unknown = asked - names - QUIET
    # These metrics appear only when there is something to count.
    assert unknown <= {
        "seen_rekeying_lost_messages_total",
        "seen_item_groups_foreign_total",
        "seen_items_leases_lapsed_total",
        "seen_certificate_not_after_seconds",
        "seen_refresh_late",
        "seen_update_gaps_total",
        "seen_updates_foreign_total",
    }, unknown
