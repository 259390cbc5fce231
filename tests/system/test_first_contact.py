"""seenctl for a first-time user: it names at once what is mistyped, missing or down."""

import os
import pty
import re
import select
import subprocess
import time

import pytest

from oracle import event
from places import SEENCTL, free_port, now_ms
from seenctl_tool import run


def refused(*arguments, status=2, **more):
    return run(*arguments, status=status, **more)[1]


def at_a_terminal(*arguments, typed=b"", **environment):
    """(exit status, what the terminal showed)"""
    terminal, theirs = pty.openpty()
    running = subprocess.Popen(
        [str(SEENCTL), *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={"PATH": os.environ["PATH"], "TERM": "xterm", **environment},
    )
    os.close(theirs)
    os.write(terminal, typed)
    shown, deadline = b"", time.monotonic() + 60
    try:
        while time.monotonic() < deadline and select.select([terminal], [], [], 60)[0]:
            chunk = os.read(terminal, 65_536)
            if not chunk:
                break
            shown += chunk
    except OSError:
        pass  # the other end is closed
    os.close(terminal)
    return running.wait(10), shown.decode()


@pytest.mark.parametrize(
    "typed, says",
    [
        (["nonsense"], "seenctl: nonsense: no such command. `seenctl --help`"),
        (["replya", "x.jsonl"], "seenctl: replya: no such command; did you mean replay? `seenctl --help`"),
        (["generate", "--evnts", "5"], "seenctl: --evnts: no such option; did you mean --events?"),
        (["generate", "--zzzzzzzz=5"], "seenctl: --zzzzzzzz: no such option\n"),
        (["generate", "--rate", "-5"], "seenctl: --rate: -5: expected a number, 0 or more"),
        (["replay", "--rate", "fast"], "seenctl: --rate: fast: expected a number, 0 or more"),
        (["generate", "--rate", "inf"], "seenctl: --rate: inf: expected a number, 0 or more"),
        (
            ["size", "--users", 1, "--items-a-day", "nan"],
            "--items-a-day: nan: expected a number from 0.01 to 50000",
        ),
        (["status", "--watch=nan"], "--watch: nan: expected a number from 0.1 to 3600"),
        (["generate", "--partitioner", "md5"], "--partitioner: md5 not in {murmur2,crc32,fnv1a}"),
    ],
)
def test_a_slip_is_named_with_what_was_meant(typed, says):
    said = refused(*typed)
    assert says in said
    assert "--help`" in said, "where to look"


@pytest.mark.parametrize(
    "typed, option",
    [
        (["replay", "-", "--config", "x", "--into-state", ""], "--into-state"),
        (["generate", "--from", ""], "--from"),
        (["digest", "--expect", ""], "--expect"),
        (["backup", "--to", ""], "--to"),
        (["unseen", "u", "a", ""], "items"),
        (["config", "explain", ""], "KEY"),
    ],
)
def test_an_empty_value_is_a_mistake(typed, option):
    """A shell variable that isn't set would have an option ignored, and events sent to the live topic."""
    assert f'{option}: "": the value is empty' in refused(*typed)


@pytest.mark.parametrize("option", [["--replace"], ["--whole"], ["--live-from", "end"], ["--partitions", 7]])
def test_what_belongs_to_a_built_state_needs_one(option):
    assert f"{option[0]}: it needs --into-state" in refused("replay", "-", *option)


def test_what_belongs_to_sending_does_not_go_with_a_built_state(tmp_path):
    config = tmp_path / "seend.json"
    config.write_text('{"kafka": {"brokers": "127.0.0.1:9"}}')
    said = refused("replay", "-", "--into-state", tmp_path / "s", "--config", config, "--rate", 5)
    assert "--rate: it doesn't go with --into-state" in said
    said = refused("snapshot", config, "--from-topic")
    assert "--from-topic" in said and "--user" in said


def test_an_item_that_is_not_utf8_is_not_replaced_by_another():
    assert "items/1: not UTF-8" in refused("remove", "u", "a", os.fsdecode(b"b\xff"))


@pytest.mark.parametrize(
    "typed", [["size", "--users", 1_000_000, "--items-a-day", 3], ["config", "explain", "kafka"]]
)
def test_a_full_disk_behind_standard_output_is_an_error(typed):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(SEENCTL), *map(str, typed)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20
        )
    assert done.returncode == 1 and "No space left" in done.stderr, done


def test_without_a_command_it_says_what_there_is():
    assert "Check:" in refused() and "replay" in refused()


@pytest.mark.parametrize(
    "command",
    [
        ["replay", "{}", "--topic", "x"],
        ["replay", "--status", "--progress", "{}"],
        ["verify", "--config", "{}"],
        ["generate", "--from", "{}", "--stdout"],
        ["digest", "--dir", ".", "--expect", "{}"],
        ["similar", "--config", "{}", "a", "b"],
        ["snapshot", "{}"],
        ["dead-letters", "--config", "{}"],
        ["replay", ".", "--client", "sasl.password=@{}"],
    ],
)
def test_a_missing_file_is_a_wrong_argument(command, tmp_path):
    missing = tmp_path / "missing.jsonl"
    assert str(missing) in refused(*(word.replace("{}", str(missing)) for word in command))


def test_a_file_that_is_no_snapshot_is_named(tmp_path):
    other = tmp_path / "other.bin"
    other.write_bytes(b"PK")
    assert f"{other}: " in refused("snapshot", other, status=None)


def test_every_command_that_needs_brokers_says_within_seconds_that_they_are_down(tmp_path):
    source, config = tmp_path / "history.jsonl", tmp_path / "seend.json"
    nobody = f"127.0.0.1:{free_port()}"
    source.write_text(event("u", "i", now_ms()) + "\n")
    config.write_text(f'{{"kafka": {{"brokers": "{nobody}"}}, "items": {{}}, "state": {{"topic": "s"}}}}')
    for command in (
        ["generate", "--brokers", nobody, "--events", "1"],
        ["replay", source, "--brokers", nobody],
        ["replay", source, "--config", config],
        ["verify", "--brokers", nobody, "--http", f"http://{nobody}"],
        ["digest", "--config", config, "--from-topic", "x"],
        ["dead-letters", "--config", config],
        ["snapshot", "--user", "u", "--from-topic", "--brokers", nobody],
        ["similar", "--config", config, "a", "b"],
        ["digest", "--config", config, "--from-state-topic"],
    ):
        begun = time.monotonic()
        said = refused(*command, status=1)
        assert time.monotonic() - begun < 4, (command, "3 s, and a second for a busy machine")
        assert nobody in said and "emedy" in said, (command, said)


def test_an_erasure_is_confirmed_at_a_terminal_and_only_there():
    nobody = f"http://127.0.0.1:{free_port()}"
    for typed in (b"\n", b"n\n", b"no\n"):
        status, shown = at_a_terminal("erase", "u1", "--http", nobody, typed=typed)
        assert status == 1 and "about user u1" in shown and "nothing is erased" in shown, shown
    for arguments, typed in ((["erase", "u1"], b"y\n"), (["erase", "u1", "--yes"], b"")):
        shown = at_a_terminal(*arguments, "--http", nobody, typed=typed)[1]
        assert "nothing is erased" not in shown and nobody[7:] in shown, "it went on to ask the daemon"
    assert nobody[7:] in refused("erase", "u1", "--http", nobody, status=1, stdin=""), "a script isn't asked"


def test_colours_are_for_terminals_and_can_be_had_without():
    assert "\x1b[" in at_a_terminal("nonsense")[1]
    assert "\x1b[" not in at_a_terminal("nonsense", NO_COLOR="1")[1]
    assert "\x1b[" not in at_a_terminal("nonsense", TERM="dumb")[1]
    assert "\x1b[" not in refused("nonsense", environment={"TERM": "xterm"})


def test_help_groups_the_commands_and_lists_the_exit_statuses():
    for arguments in (["--help"], ["replay", "--help"]):
        shown = run(*arguments)[0]
        for status in range(4):
            assert re.search(rf"^  {status}  \w", shown, re.M), shown
    shown = run("--help")[0]
    for heading in (
        "Ask a daemon:",
        "Change what a daemon keeps:",
        "Bring in history, or load:",
        "Check:",
        "Keep and move state:",
    ):
        assert heading in shown


def test_progress_counts_what_has_arrived(topics, topic_name, kafka):
    topics.create(topic_name)
    said = run(
        "generate", "--brokers", kafka.bootstrap, "--topic", topic_name, "--events", "4000", "--rate", "2000"
    )[1]
    counted = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) of 4,000 events", said)]
    assert counted and counted == sorted(counted) and counted[-1] == 4000, said
    gone = f"127.0.0.1:{free_port()}"
    assert "of 10 events" not in refused("generate", "--brokers", gone, "--events", "10", status=1), (
        "nothing arrived"
    )


def test_publish_needs_no_all():
    nobody = f"http://127.0.0.1:{free_port()}"
    for more in ([], ["--all"]):
        assert "127.0.0.1" in refused("publish", *more, "--http", nobody, status=1)


def test_a_key_of_the_configuration_is_explained():
    shown = run("config", "explain", "store.memory_mib")[0]
    assert "store.memory_mib" in shown and "MiB" in shown and "  default   1024\n" in shown, shown
    for asked in ("filters[0].window_days", "filters.window_days", "filters[].window_days", "window_days"):
        assert "filters[].window_days\n" in run("config", "explain", asked)[0], asked
    section = run("config", "explain", "http")[0]
    assert "http.listen\n" in section and "http.threads\n" in section and "store." not in section
    everything = run("config", "explain")[0]
    assert everything.count("meaning") > 50, "all of them"
    assert all(len(line) <= 80 for line in everything.splitlines())
    assert "did you mean store.memory_mib?" in refused("config", "explain", "store.memory_mb")
