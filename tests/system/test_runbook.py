"""The runbook has an entry for each alert. The commands in it and in OPERATIONS.md exist."""

import pathlib
import re
import shlex
import subprocess

import pytest
import yaml

from places import SEENCTL, SOURCE

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
