"""seenctl replay when something is wrong: it names the fault and changes nothing. Later the same command
continues."""

import fcntl
import gzip
import io
import json
import os
import pty
import re
import struct
import subprocess
import tarfile
import termios
import time

from kafka_broker import Kafka
from oracle import event
from places import BUILD, SEENCTL, free_port, now_ms, wait_until
from seenctl_tool import begin, fails, run
from test_replay import count, into, replay  # noqa: F401

from topics import Topics

MINUTE_MS = 60_000
ACLS = """
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
"""


def lines(path, events, users=50):
    path.write_text("".join(event(f"u{i % users}", f"n{i}", now_ms() - i) + "\n" for i in range(events)))
    return path


def test_nothing_is_sent_where_a_file_of_the_run_cant_be_written(topics, topic_name, into, tmp_path):  # noqa: F811
    source = lines(tmp_path / "history.jsonl", 100)
    for option, path in (
        ("--progress", tmp_path / "none" / "x"),
        ("--progress", tmp_path),
        ("--progress", "/dev/full"),
        ("--metrics", tmp_path / "none" / "x"),
        ("--metrics", tmp_path),
        ("--rejects", tmp_path / "none" / "x"),
        ("--rejects", tmp_path),
    ):
        said = run("replay", source, *into, option, path, quiet=True, status=None)[1]
        assert f"{option}: {path}" in said, said
    assert count(topics, topic_name) == 0


def test_lines_that_are_no_events_are_described(topics, topic_name, into, tmp_path):  # noqa: F811
    dry = {"dry_run": True, "quiet": True}
    source = tmp_path / "history.jsonl"
    source.write_text("odd\n")
    said = run("replay", source, *into, rejects=source, status=2, **dry)[1]
    assert f"--rejects: {source}: replay reads this file" in said and source.read_text() == "odd\n"
    for mark in ('{"seen-history":5}', '{"seen-history":{"row":"x"}}', '{"seen-history":{}'):
        said = run("replay", "-", *into, stdin=mark + "\n", status=1, **dry)[1]
        assert f"-: line 1: {mark}: seen-history writes no such mark" in said and "exception" not in said
    long = run("replay", "-", *into, stdin="a" * (70 << 20), rejects_max="100%", status=3, **dry)[0]
    assert "more than 67108864 bytes" in long


def test_a_full_disk_ends_a_run_and_the_same_command_goes_on(small_disk, topics, topic_name, into, tmp_path):  # noqa: F811
    source, progress = lines(tmp_path / "history.jsonl", 30_000), small_disk.place / "progress"
    command = ["replay", source, *into, "--quiet", "--progress", progress]
    disk = {"environment": small_disk.environment}
    small_disk.fill()
    said = run(*command, **disk, status=1)[1]
    assert "--progress" in said and "o space left" in said, said
    assert count(topics, topic_name) == 0, "nothing was sent"
    small_disk.free()
    running = begin(*command, rate=5000, **disk, output=subprocess.PIPE)
    wait_until(
        lambda: progress.exists() and json.loads(progress.read_text())["sent"] > 0, "the run has begun"
    )
    small_disk.fill()
    stderr = running.communicate(timeout=60)[1]
    assert running.returncode == 1 and b"o space left" in stderr, stderr
    small_disk.free()
    run(*command, **disk)
    status = json.loads(replay("--status", "--progress", progress, "--json")[0])
    assert status["sent"] == 30_000 and status["finished"]
    sent = [message for message in topics.read_all(topic_name) if message.value() is not None]
    assert len({message.value() for message in sent}) == 30_000
    assert len({dict(message.headers())["seen-replay"] for message in sent}) == 1, "one run"


def test_two_runs_of_one_progress_file_are_told_apart(topics, topic_name, into, tmp_path):  # noqa: F811
    source, progress = lines(tmp_path / "history.jsonl", 3_000), tmp_path / "progress"
    command = ["replay", source, *into, "--quiet", "--progress", progress]
    first = begin(*command, rate=300)
    wait_until(progress.exists, "the first run has begun")
    assert f"--progress: {progress}: {progress}.lock is locked" in run(*command, status=1)[1]
    first.kill()
    first.wait()
    run(*command)
    assert count(topics, topic_name) >= 3_000
    assert (
        len({message.value() for message in topics.read_all(topic_name) if message.value() is not None})
        == 3_000
    )


def test_brokers_that_dont_answer_are_named_within_seconds(into, tmp_path):  # noqa: F811
    source, nobody = lines(tmp_path / "history.jsonl", 10), f"127.0.0.1:{free_port()}"
    for option, command, status in (
        ("--brokers", [source, "--brokers", nobody], 1),
        ("--brokers", ["--from-topic", "x", "--brokers", nobody], 1),
        ("--from-brokers", ["--from-topic", "x", *into, "--from-brokers", nobody], 1),
        ("--brokers", [source, "--brokers", nobody, "--dry-run"], 1),
    ):
        begun = time.monotonic()
        err = replay(*command, "--quiet", status=status)[1]
        assert time.monotonic() - begun < 10, command
        assert re.search(rf"{option}: {nobody}: no broker answers .* Remedy: ", err), err


def test_times_select_records_wherever_they_stand(topics, topic_name, into, tmp_path):  # noqa: F811
    """An archive's records may be out of order, and an event may be recorded later than it happened."""
    archive, now = topics.create(f"{topic_name}-archive", partitions=2, retention_ms=-1), now_ms()
    topics.produce(
        archive,
        [
            (f"u{i}", event(f"u{i}", f"n{i}", now - (i + 60) * MINUTE_MS), {"timestamp": now - i * MINUTE_MS})
            for i in range(100)
        ],
    )
    times = ["--since", now - 30 * MINUTE_MS, "--until", now - 10 * MINUTE_MS]
    command = [
        "--from-topic",
        archive,
        *into,
        *times,
        "--progress",
        tmp_path / "progress",
        "--quiet",
        "--json",
    ]
    report = json.loads(replay(*command, "--dry-run")[0])
    result = json.loads(replay(*command)[0])
    assert report["events"] == result["sent"] == 20
    users = {json.loads(m.value())["user_id"] for m in topics.read_all(topic_name) if m.value() is not None}
    assert users == {f"u{i}" for i in range(11, 31)}
    assert json.loads(replay(*command)[0])["sent"] == 20 and count(topics, topic_name) == 20, (
        "nothing is left"
    )
    err = replay("--from-topic", archive, *into, "--since", "1h", "--until", "2h", status=2)[1]
    assert "--since, --until" in err and "the range is empty" in err


def test_offsets_that_are_no_range_are_refused_and_a_topic_named_twice_is_one(topics, topic_name, into):  # noqa: F811
    archive = topics.create(f"{topic_name}-archive", partitions=1)
    topics.produce(archive, [(f"u{i}", event(f"u{i}", "n", now_ms())) for i in range(10)])
    for offsets, words in (
        (["--from-offsets", "0:11"], "offset 11 is beyond its end, 10"),
        (["--from-offsets", "0:9", "--to-offsets", "0:5"], "0:9 is after --to-offsets 0:5"),
        (["--from-offsets", "1:0"], "has no partition 1"),
        (["--to-offsets", "0:x"], "PARTITION:OFFSET"),
    ):
        assert words in replay("--from-topic", archive, *into, *offsets, status=2)[1]
    assert "no-such" in replay("--from-topic", "no-such", *into, status=1)[1]
    replay("--from-topic", archive, "--from-topic", archive, *into, "--quiet")
    assert count(topics, topic_name) == 10


def test_a_secret_on_the_command_line_is_refused_and_not_repeated(into, tmp_path):  # noqa: F811
    source = lines(tmp_path / "history.jsonl", 1)
    for option in ("--client", "--from-client"):
        for key in (
            "sasl.password",
            "ssl.key.password",
            "ssl.keystore.password",
            "ssl.key.pem",
            "sasl.jaas.config",
            "sasl.oauthbearer.client.secret",
            "sasl.oauthbearer.config",
        ):
            where = [source] if option == "--client" else ["--from-topic", "x"]
            out, err = replay(*where, *into, option, f"{key}=geheim", status=2)
            assert f"{option} {key}=@FILE" in err and "geheim" not in out + err


def test_a_dry_run_finds_what_is_too_large_for_the_topic(topics, topic_name, into, tmp_path):  # noqa: F811
    topics.alter(topic_name, {"max.message.bytes": "2000"})
    source = tmp_path / "history.jsonl"
    source.write_text(
        "".join(
            event("u", f"n{i}", now_ms(), scene="x" * (3_000 if i == 7 else 10)) + "\n" for i in range(200)
        )
    )

    def report():
        return json.loads(replay(source, *into, "--dry-run", "--json", "--quiet")[0])

    wait_until(lambda: report()["target"]["max_message_bytes"] == 2000, "the setting is known")
    assert {reason: of["count"] for reason, of in report()["rejects"].items()} == {"too_large": 1}
    assert (report()["events"], report()["target"]["may_write"]) == (199, True)
    result = json.loads(replay(source, *into, "--json", "--quiet")[0])
    assert (result["sent"], result["rejected"]) == (199, 1), "and batches keep the limit, too"
    assert count(topics, topic_name) == 199


def test_an_event_at_the_limit_is_sent_or_one_reject(topics, topic_name, into, tmp_path):  # noqa: F811
    topics.alter(topic_name, {"max.message.bytes": "2000"})
    source = tmp_path / "history.jsonl"
    source.write_text(
        "".join(event("u", f"n{size}", now_ms(), scene="x" * size) + "\n" for size in range(1_500, 2_050))
    )
    wait_until(lambda: topics.config(topic_name)["max.message.bytes"] == "2000", "the setting is known")
    result = json.loads(replay(source, *into, "--json", "--quiet", "--rejects-max", "100%")[0])
    assert result["sent"] + result["rejected"] == 550 and result["sent"] > 100
    assert count(topics, topic_name) == result["sent"]


def test_a_dry_run_of_built_state_doesnt_ask_what_the_topic_keeps(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name, retention_ms=1_000)
    seend, source = daemon(topic_name), tmp_path / "history.jsonl"
    seend.write_config()
    source.write_text("".join(event("u", f"n{i}", now_ms() - 5 * 86_400_000) + "\n" for i in range(100)))
    command = [source, "--config", seend.config_path, "--quiet", "--json"]
    assert json.loads(replay(*command, "--dry-run", status=3)[0])["events"] == 0
    report = json.loads(replay(*command, "--dry-run", "--into-state", seend.store)[0])
    assert (report["events"], report["target"]) == (100, None)
    metrics = tmp_path / "metrics"
    replay(*command, "--into-state", seend.store, "--metrics", metrics)
    assert f'seen_replay_lines_total{{topic="{topic_name}",outcome="sent"}} 100' in metrics.read_text()
    assert f'seen_replay_finished{{topic="{topic_name}"}} 1' in metrics.read_text()


def test_brokers_that_go_away_end_the_run_and_the_same_command_goes_on(tmp_path):
    source, progress, broker = (
        lines(tmp_path / "history.jsonl", 20_000),
        tmp_path / "progress",
        Kafka(tmp_path),
    )
    try:
        broker.start()
        Topics(broker.bootstrap).create("away", partitions=2)
        into = ["--brokers", broker.bootstrap, "--topic", "away"]
        command = ["replay", source, *into, "--quiet", "--progress", progress]
        running = begin(*command, rate=5000, output=subprocess.PIPE)
        wait_until(
            lambda: progress.exists() and json.loads(progress.read_text())["sent"] > 0, "the run has begun"
        )
        broker.kill()
        stderr = running.communicate(timeout=120)[1].decode()
        assert running.returncode == 1 and f"continues from {progress}" in stderr, stderr
        broker.start()
        run(*command)
        status = json.loads(replay("--status", "--progress", progress, "--json")[0])
        assert status["sent"] == 20_000 and status["finished"]
        assert count(Topics(broker.bootstrap), "away") >= 20_000
    finally:
        broker.stop()


def test_who_may_not_write_learns_it_before_anything_is_sent(tmp_path):
    source, broker = lines(tmp_path / "history.jsonl", 1), Kafka(tmp_path)
    with open(tmp_path / "server.properties", "a") as properties:
        properties.write(ACLS)
    try:
        broker.start()
        topics = Topics(broker.bootstrap)
        topics.create("closed", partitions=2)
        command = [source, "--brokers", broker.bootstrap, "--topic", "closed", "--quiet"]
        assert json.loads(replay(*command, "--dry-run", "--json")[0])["target"]["may_write"] is True
        assert [end for _, end in topics.ends("closed").values()] == [0, 0], "asking writes nothing"
        for effect, operations in (("deny", ["Write"]), ("allow", ["Read", "Describe", "DescribeConfigs"])):
            who = [f"--{effect}-principal", "User:*", *(f"--operation={one}" for one in operations)]
            at = ["--bootstrap-server", broker.bootstrap]
            broker.tool("kafka.admin.AclCommand", *at, "--add", "--topic", "closed", *who)
        wait_until(lambda: fails("replay", *command, dry_run=True), "the ACL is known")
        report = json.loads(replay(*command, "--dry-run", "--json", status=1)[0])
        assert (
            report["target"]["may_write"] is False
            and "--operation Write --topic closed" in report["target"]["problems"][0]
        )
        assert "isn't allowed to write" in replay(*command, status=1)[1]
        assert [end for _, end in topics.ends("closed").values()] == [0, 0]
    finally:
        broker.stop()


def test_a_terminal_shows_a_bar_with_the_daemons_lag(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name)
    beats = topics.create(f"{topic_name}-beats", partitions=1, cleanup_policy="compact")
    seend = daemon(topic_name, {"watermarks": {"topic": beats}}).start()
    source = lines(tmp_path / "history.jsonl", 30_000)
    wide = shown_on_a_terminal(seend, source, columns=200)
    bar = (
        r"replay \[#*\.*\] +\d+% [\d,]+ of [\d,]+ bytes, \d+s left, [\d,]+/s, [\d,]+ events at [\d,]+/s, "
        r"0 rejected, reached \d{4}-\d\d-\d\d, lag \d+\.\d s"
    )
    assert re.search(bar.encode(), wide), wide[-2000:]
    assert re.search(rb"100% .* 30,000 events .* 0 rejected.*\r\n", wide), "the last one stays"

    narrow = shown_on_a_terminal(seend, source, columns=0)  # it doesn't say: 80
    redraws = narrow.split(b"\r\x1b[K")[1:-1]
    assert redraws and all(len(line) < 80 for line in redraws), narrow[-2000:]
    short = rb"replay +\d+%, \d+s left, [\d,]+ events at [\d,]+/s, 0 rejected"
    assert any(re.match(short, line) for line in redraws), redraws


def shown_on_a_terminal(seend, source, columns):
    terminal, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 0, columns, 0, 0))
    running = subprocess.Popen(
        [str(SEENCTL), "replay", str(source), "--config", str(seend.config_path), "--rate", "10000"],
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(terminal, 65_536):
            shown += chunk
    except OSError:
        pass  # the other end is closed
    os.close(terminal)
    assert running.wait(60) == 0
    return shown


def test_names_and_texts_that_are_not_utf8_end_no_command(topics, topic_name, into, tmp_path):  # noqa: F811
    folder = tmp_path / "history"
    folder.mkdir()
    name = os.path.join(os.fsencode(folder), b"caf\351\x1b[2J.jsonl")
    with open(name, "wb") as file:
        file.write(b"".join(event("u", f"n{i}", now_ms() - i).encode() + b"\n" for i in range(500)))
        file.write(b'{"user_id":"caf\351\x1b[2J"}\n')
    progress, rejects = tmp_path / "progress", tmp_path / "rejects"
    command = ["replay", folder, *into, "--quiet", "--progress", progress, "--rejects", rejects]
    for more in (["--dry-run"], ["--dry-run", "--json"], ["--json"]):
        out, err = run(*command, *more)
        assert "\x1b" not in out + err, (out, err)
    out = run("replay", "--status", progress=progress)[0]
    assert "caf\\xe9\\x1b[2J.jsonl" in out and "\x1b" not in out, out
    assert json.loads(rejects.read_text().splitlines()[0])["line"] == 501
    sent = json.loads(run(*command, "--json")[0])
    assert (sent["sent"], sent["rejected"]) == (500, 1) and count(topics, topic_name) == 500, "it is known"
    table = tmp_path / "table.csv"
    table.write_bytes("用户,物品,时间\n".encode("gbk") * 3)
    assert "iconv -f GB18030" in run("replay", table, *into, "--dry-run", status=2)[1]
    for command in (["replay", b"\377\x1b", *into], ["generate", "--from", b"\377\x1b", *into]):
        out, err = run_bytes(*command)
        assert b"\\xff\\x1b" in err and b"\x1b" not in err, err


def run_bytes(*arguments):
    done = subprocess.run([SEENCTL, *arguments], capture_output=True, timeout=60)
    assert done.returncode in (1, 2), done
    return done.stdout, done.stderr


def test_objects_back_to_back_and_arrays_are_read(topics, topic_name, into, tmp_path):  # noqa: F811
    def events(name, number):
        return [event(f"u{i % 50}", f"{name}{i}", now_ms() - i) for i in range(number)]

    (tmp_path / "lines.jsonl").write_text("\n".join(events("a", 20_000)) + "\n")
    (tmp_path / "one_line.gz").write_bytes(gzip.compress("".join(events("b", 10_000)).encode(), 1))
    array = [json.loads(each) for each in events("c", 100)]
    (tmp_path / "array.json").write_text(json.dumps(array))
    (tmp_path / "laid_out.json").write_text(json.dumps([*array], indent=2).replace('"c', '"d'))
    (tmp_path / "cr.jsonl").write_text("\r".join(events("e", 100)))
    cut = "".join(events("f", 3))
    (tmp_path / "cut.jsonl").write_text(cut[:-20])
    rejects = tmp_path.parent / f"{topic_name}-rejects"
    result = json.loads(replay(tmp_path, *into, "--json", "--quiet", "--rejects", rejects)[0])
    assert (result["sent"], result["rejected"]) == (30_302, 1)
    reject = json.loads(rejects.read_text())
    assert (reject["file"], reject["line"]) == (str(tmp_path / "cut.jsonl"), 1)
    assert count(topics, topic_name) == 30_302


def test_an_archive_is_named_with_the_command_that_unpacks_it(topics, topic_name, into, tmp_path):  # noqa: F811
    path = tmp_path / "it's $(touch x).tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in ("a", "b"):
            content = "".join(event("u", f"{name}{i}", now_ms()) + "\n" for i in range(1000)).encode()
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
    good = lines(tmp_path / "good.jsonl", 10)
    said = replay(good, path, *into, status=2)[1]
    assert "a tar" in said and "tar -xzOf" in said and count(topics, topic_name) == 0
    assert "tar -xzOf FILE" in run("replay", "-", *into, stdin=path.read_bytes(), status=2)[1]
    unpacks = re.search(r"Use: (.*)$", said, re.MULTILINE)[1]
    words = " ".join(into)
    subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{unpacks} {words} --quiet"],
        check=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"},
    )
    assert count(topics, topic_name) == 2000 and not (tmp_path / "x").exists()


def test_what_yields_nothing_is_no_success_and_is_named(topics, topic_name, into, tmp_path):  # noqa: F811
    good, quiet = lines(tmp_path / "good.jsonl", 20_000), {"quiet": True}
    odd, empty = tmp_path / "odd.jsonl", tmp_path / "empty.jsonl"
    odd.write_text("odd\n")
    empty.write_text("")
    for more in ({"dry_run": True}, {}):
        assert (
            f"{odd}: nothing in it could be read"
            in run("replay", good, odd, *into, status=3, **more, **quiet)[1]
        )
        assert f"{empty}: no event in it" in run("replay", good, empty, *into, status=1, **more, **quiet)[1]
        for text in ("", "[]", "\n\n"):
            assert "-: no event in it" in run("replay", "-", *into, stdin=text, status=1, **more, **quiet)[1]
    said = run("replay", good, *into, until="7d", status=1, dry_run=True, **quiet)[1]
    assert "no event is left: 20,000 are skipped" in said
    said = run("generate", *into, from_=good, key="nobody", status=1, **quiet)[1]
    assert "no event of it was sent" in said
    plain = lines(tmp_path / "both.jsonl", 100)
    plain.write_bytes(plain.read_bytes() + gzip.compress(b"{}\n"))
    assert "a packed part begins behind" in run("replay", plain, *into, status=1, **quiet)[1]


def test_lines_that_were_rejected_are_tried_again(topics, topic_name, into, tmp_path):  # noqa: F811
    day, source, progress = 86_400_000, tmp_path / "history.jsonl", tmp_path / "progress"
    topics.alter(topic_name, {"retention.ms": str(5 * day)})
    wait_until(lambda: topics.config(topic_name)["retention.ms"] == str(5 * day), "altered")
    source.write_text(
        "".join(event("u", f"n{i}", now_ms() - (9 if i % 100 == 7 else 1) * day) + "\n" for i in range(300))
    )
    command = ["replay", source, *into, "--progress", progress, "--json", "--quiet"]
    said = run(*command, rejects_max="0%", status=3)[1]
    assert "older_than_retention" in said and "Remedy: raise the topic's retention.ms" in said, said
    assert "greater --rejects-max" not in said
    result = json.loads(run(*command)[0])
    assert (result["sent"], result["rejected"], result["finished"]) == (297, 3, True)
    topics.alter(topic_name, {"retention.ms": str(30 * day)})
    wait_until(lambda: topics.config(topic_name)["retention.ms"] == str(30 * day), "altered")
    result = json.loads(run(*command)[0])
    assert (result["sent"], result["rejected"], result["finished"]) == (300, 0, True)
    assert count(topics, topic_name) == 300, "only those"


def test_lines_that_other_rules_skipped_are_never_taken_for_sent(topics, kafka, topic_name, tmp_path):
    topics.create(topic_name)
    source, progress, config = tmp_path / "history.jsonl", tmp_path / "progress", tmp_path / "seend.json"
    source.write_text(
        "".join(event("u", f"n{i}", now_ms(), event=["show", "expose"][i % 2]) + "\n" for i in range(200))
    )

    def configure(*kinds):
        only_if = {"at": "/event", "in": list(kinds)}
        config.write_text(
            json.dumps(
                {
                    "kafka": {"brokers": kafka.bootstrap},
                    "input": {"topic": topic_name, "only_if": only_if},
                }
            )
        )

    command = ["replay", source, "--config", config]
    configure("show")
    said = run(*command, progress=progress)[1]
    assert "100 events sent, 0 rejected, 100 skipped\n" in said
    said = run(*command, progress=progress)[1]
    assert "0 events sent, 0 rejected, 100 skipped; earlier runs sent 100\n" in said
    configure("show", "expose")
    said = run(*command, progress=progress, status=2)[1]
    assert f"--progress: {progress}: earlier runs skipped 100 events by other fields" in said
    assert "Remedy: put those back, or name another file" in said
    assert count(topics, topic_name) == 100
    times = {"progress": tmp_path / "other", "quiet": True}
    run(*command, since=now_ms() + 60_000, status=1, **times)
    assert "--since" in run(*command, status=2, **times)[1]
    result = json.loads(run(*command, progress=tmp_path / "new", json=True, quiet=True)[0])
    assert (result["sent"], result["sent_before"], result["skipped"]) == (200, 0, 0)


def test_a_topic_that_was_recreated_is_never_taken_for_filled(topics, topic_name, into, tmp_path):  # noqa: F811
    source, archive = lines(tmp_path / "history.jsonl", 100), f"{topic_name}-archive"
    topics.create(archive, partitions=1)
    events = [(f"u{i}", event(f"u{i}", "n", now_ms())) for i in range(20)]
    topics.produce(archive, events[:10])
    of_files = ["replay", source, *into, "--progress", tmp_path / "files", "--quiet"]
    of_topic = ["replay", "--from-topic", archive, *into, "--progress", tmp_path / "topic", "--quiet"]
    run(*of_files)
    run(*of_topic)
    run(*of_files)
    topics.produce(archive, events[10:11])
    result = json.loads(run(*of_topic, json=True)[0])
    assert (result["sent"], result["sent_before"]) == (11, 10), "the same topic, read on"

    def recreate(name, partitions):
        topics.delete(name)
        topics.create(name, partitions=partitions)

    recreate(archive, 1)
    topics.produce(archive, list(reversed(events)))
    said = run(*of_topic, status=1)[1]
    assert f"{archive}/0: offset 10 has another record" in said and "the topic was recreated" in said
    assert "Remedy: name another file with --progress" in said
    recreate(topic_name, 2)
    assert "the topic was recreated" in run(*of_files, status=1)[1]
    topics.produce(topic_name, [(f"u{i}", event(f"u{i}", "n", now_ms())) for i in range(400)])
    assert "the topic was recreated" in run(*of_files, status=1)[1], "however long it is"


def test_an_array_that_is_cut_between_its_elements_is_damage(topics, topic_name, into, tmp_path):  # noqa: F811
    cut = tmp_path / "cut.json"
    for begin_text, between, end in (("[\n", ",\n", ",\n"), ("[", ",", "")):
        cut.write_text(begin_text + between.join(event("u", f"n{i}", now_ms()) for i in range(20)) + end)
        for more in ({}, {"dry_run": True}):
            for name, given in ((cut, {}), ("-", {"stdin": cut.read_bytes()})):
                result = run("replay", name, *into, status=1, quiet=True, **given, **more)
                assert f"{name}: cut off: the JSON array that begins it has no end" in "".join(result)
    assert count(topics, topic_name) == 4 * 20, "what is there is sent"
