"""seenctl replay sends history from files and topics into a real Kafka. A real daemon reads it."""

import gzip
import json
import os
import re
import signal
import subprocess
import time

import pytest

from seenctl_tool import CONVERT, ENVIRONMENT, begin, fails, program_in, run, seen_history
from load import one_by_one
from oracle import Oracle, event
from places import BUILD, SEENCTL, now_ms, wait_until

DAY_MS = 86_400_000


def replay(*arguments, **more):
    """Runs seenctl replay. Returns (standard output, standard error)."""
    return run("replay", *arguments, **more)


@pytest.fixture
def into(kafka, topics, topic_name):
    topics.create(topic_name)
    return ["--brokers", kafka.bootstrap, "--topic", topic_name]


def count(topics, topic):
    """The number of events in a topic, without the marks where replays begin and end."""
    return sum(message.value() is not None for message in topics.read_all(topic))


def packed(text, how):
    if how == "gz":
        return gzip.compress(text.encode(), 1)
    if how == "zst":
        return subprocess.run(
            ["zstd", "-q", "-c"], input=text.encode(), capture_output=True, check=True
        ).stdout
    return text.encode()


class History:
    """Files of every format, and an oracle of their events."""

    def __init__(self, folder, chance):
        self.folder, self.chance = folder, chance
        self.oracle, self.lines, self.broken = Oracle(), 0, set()

    def write(self, name, rows, broken=0):
        """Writes `rows` events and, at random places, `broken` lines that can't be read."""
        kind, how = name.suffixes[0][1:], name.suffixes[1][1:] if len(name.suffixes) > 1 else ""
        now, out = now_ms(), []
        if kind != "jsonl":
            out.append(("," if kind == "csv" else "\t").join(["exposed_at", "user_id", "item_id", "scene"]))
        for i in range(rows):
            user, item, at = (
                f"u{self.chance.randrange(200)}",
                f"{name.stem}-{i}",
                now - self.chance.randrange(3 * DAY_MS),
            )
            self.oracle.add(user, item, at)
            cells = [str(at), user, item, "home"]
            out.append(
                event(user, item, at) if kind == "jsonl" else ("," if kind == "csv" else "\t").join(cells)
            )
        for i in range(broken):
            out.insert(
                1 + self.chance.randrange(len(out)), '{"user_id": 1' if kind == "jsonl" else "one cell"
            )
        self.broken |= {
            (str(self.folder / name), n)
            for n, line in enumerate(out, 1)
            if line in ('{"user_id": 1', "one cell")
        }
        self.lines += rows + broken
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed("\n".join(out) + "\n", how))
        return path


def test_a_folder_of_two_hundred_mixed_files(topics, daemon, topic_name, into, tmp_path, chance):
    history = History(tmp_path / "history", chance)
    formats = [f".jsonl{how}" for how in ("", ".gz", ".zst")]
    pathlike = type(tmp_path)
    for i in range(198):
        history.write(
            pathlike(f"{i % 7}/day-{i:03}{formats[i % len(formats)]}"), 100, broken=1 if i % 4 == 0 else 0
        )
    whole = history.write(pathlike("day-cut.jsonl.gz"), 20_000)
    bytes_whole = whole.read_bytes()
    whole.write_bytes(bytes_whole[: len(bytes_whole) // 2])
    growing = history.write(pathlike("zz-last.jsonl"), 2_000)
    (tmp_path / "history" / "_SUCCESS").write_text("")
    (tmp_path / "history" / ".part.crc").write_bytes(b"\0\1")
    progress, rejects = tmp_path / "progress", tmp_path / "rejects"
    command = [tmp_path / "history", *into, "--progress", progress, "--rejects", rejects, "--quiet"]
    seend = daemon(topic_name).start()

    running = begin("replay", *command, rate=8000, output=subprocess.PIPE)
    wait_until(lambda: progress.exists() and json.loads(progress.read_text())["sent"], "the run has begun")
    more = event("u1", "added-later", now_ms()) + "\n" + '{"half'
    with open(growing, "a") as file:
        file.write(more)
    stderr = running.communicate(timeout=60)[1].decode()
    assert running.returncode == 1, "a damaged file: not all is done"
    assert "day-cut.jsonl.gz" in stderr and "cut off" in stderr

    status = json.loads(replay("--status", "--progress", progress, "--json", status=1)[0])
    assert len(status["files"]) == 200
    states = {file["name"].rpartition("/")[2]: file for file in status["files"]}
    assert states["day-cut.jsonl.gz"]["state"] == "damaged"
    assert (
        states["zz-last.jsonl"]["bytes_not_read"] == len(more)
        and sum(states["zz-last.jsonl"]["lines"].values()) == 2_000
    )
    assert status["rejected"] == len(history.broken) == 50
    assert status["sent"] == count(topics, topic_name)
    assert {
        (r["file"], r["line"]) for r in map(json.loads, rejects.read_text().splitlines())
    } == history.broken
    table = replay("--status", "--progress", progress, status=1)[0]
    assert "finished, except for damaged files" in table
    assert re.search(r"damaged +\d+ lines .*day-cut.jsonl.gz", table)

    # The file that grew counts as another file now. The file that was cut off is whole again.
    whole.write_bytes(bytes_whole)
    refused = replay(*command, status=1)[1]
    remedy = re.search(r"tail -c \+\d+ '[^']*zz-last.jsonl' \| seenctl replay -", refused)[0]
    subprocess.run(
        ["bash", "-c", f"{remedy} {' '.join(into)} --quiet --rejects-max 50%"],
        check=True,
        timeout=60,
        env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"},
    )
    history.oracle.add("u1", "added-later", now_ms())
    growing.unlink()
    replay(*command)
    seend.wait_at_rest()
    history.oracle.check_http(seend)
    before = count(topics, topic_name)
    replay(*command)
    assert count(topics, topic_name) == before, "nothing is left to send"


def test_kills_at_any_moment_leave_nothing_out(topics, daemon, topic_name, into, tmp_path, chance):
    history = History(tmp_path / "history", chance)
    for i in range(20):
        history.write(type(tmp_path)(f"day-{i:02}.jsonl{['', '.gz', '.zst'][i % 3]}"), 2_000)
    seend = daemon(topic_name).start()
    progress = tmp_path / "progress"
    command = [str(tmp_path / "history"), *into, "--progress", str(progress), "--quiet"]
    for i in range(5):
        running = begin("replay", *command, rate=12000)
        if i == 4:  # at least once, the manifest has something to go on from
            wait_until(
                lambda: progress.exists() and json.loads(progress.read_text())["sent"],
                "the manifest says what was sent",
            )
        else:
            time.sleep(0.1 + chance.random() * 1.5)
        running.send_signal(signal.SIGKILL)
        running.wait()
    before = count(topics, topic_name)
    assert 0 < before, "the kills came in the middle"
    replay(*command)
    assert 40_000 <= count(topics, topic_name) < before + 40_000, "it went on, not from the start"
    status = json.loads(replay("--status", "--progress", progress, "--json")[0])
    assert status["finished"] and status["sent"] == 40_000, "each line is counted once"
    assert all(file["state"] == "done" and sum(file["lines"].values()) == 2_000 for file in status["files"])
    seend.wait_at_rest()
    history.oracle.check_http(seend)
    sent = count(topics, topic_name)
    (tmp_path / "history" / "day-99.jsonl").write_text(event("u1", "another-day", now_ms()) + "\n")
    replay(*[word.replace("history", "./history") if word.endswith("history") else word for word in command])
    assert count(topics, topic_name) == sent + 1, "a day that was added is new, the others are known"


def test_tables_name_file_and_row_and_continue_after_a_kill(topics, topic_name, into, tmp_path, chance):
    history = History(tmp_path / "history", chance)
    formats = [f".{kind}{how}" for kind in ("csv", "tsv") for how in ("", ".gz", ".zst")]
    for i in range(12):
        history.write(type(tmp_path)(f"day-{i:02}{formats[i % 6]}"), 2_000, broken=1)
    progress, rejects = tmp_path / "progress", tmp_path / "rejects"
    command = f"{SEENCTL} replay - {' '.join(into)} --progress {progress} --rejects {rejects} --quiet"
    env = {**ENVIRONMENT, "PATH": f"{program_in(tmp_path / 'bin')}:{os.environ['PATH']}"}

    def run(options, status):
        pipe = f"seen-history {tmp_path / 'history'} | {command} {options}"
        done = subprocess.run(["bash", "-c", pipe], capture_output=True, timeout=120, check=False, env=env)
        assert done.returncode == status, done.stderr[-2000:]
        return done.stderr.decode()

    run("--rate 8000 & sleep 2; kill -9 $!; exit 9", 9)
    run("", 0)
    status = json.loads(replay("--status", "--progress", progress, "--json")[0])
    assert status["finished"] and (status["sent"], status["rejected"]) == (24_000, 12)
    assert all(file["state"] == "done" and sum(file["lines"].values()) == 2_001 for file in status["files"])
    assert {
        (r["file"], r["row"]) for r in map(json.loads, rejects.read_text().splitlines())
    } == history.broken
    sent = count(topics, topic_name)
    run("", 0)
    assert count(topics, topic_name) == sent, "nothing is left to send"
    (tmp_path / "history" / "day-00.csv").write_text("exposed_at,user_id,item_id,scene\n")
    assert "changed" in run("", 1)
    lines = event("u", "i", now_ms()) + "\n"
    assert (
        "can't be read again"
        in replay("-", *into, "--progress", tmp_path / "p", stdin=lines.encode(), status=2)[1]
    )
    cut = json.dumps({"seen-history": {"file": "/a.csv", "size": 1, "first_block": "1"}}) + "\n" + lines
    assert "didn't finish" in replay("-", *into, stdin=cut.encode(), status=1)[1]


def test_the_daemons_configuration_says_how_events_are_written(topics, daemon, topic_name, kafka, tmp_path):
    topics.create(topic_name)
    fields = {"user_id": "/data/uid", "items": "/data/items", "item_id": "/id", "kind": "/event"}
    fields["exposed_at"] = {"at": "/ts", "unit": "s"}
    kinds = {"show": "exposed", "undo": "removed", "ping": None}
    only_if = {"at": "/app", "in": ["ios"]}
    seend = daemon(topic_name, {"input": {"fields": fields, "kinds": kinds, "only_if": only_if}}).start()
    now_s = now_ms() // 1000

    def line(kind, items, app="ios"):
        data = {"uid": 7, "items": [{"id": item} for item in items]}
        return json.dumps({"event": kind, "ts": now_s, "app": app, "data": data})

    shown = [line("show", "ab"), line("undo", "b"), line("ping", "c")]
    nested = tmp_path / "nested.jsonl"
    nested.write_text("\n".join([*shown, line("show", "d", app="web"), line("unknown", "e")]) + "\n")
    table = tmp_path / "table.csv"
    table.write_text(f"user_id,item_id,exposed_at,kind,app\n7,f,{now_s},show,ios\n7,g,{now_s},show,web\n")
    seend.write_config()
    rows = seen_history(table, "--config", seend.config_path).stdout + nested.read_bytes()
    result = json.loads(
        replay("-", "--config", seend.config_path, "--rejects-max", "20%", "--json", "--quiet", stdin=rows)[0]
    )
    assert (result["sent"], result["skipped"], result["rejected"]) == (3, 3, 1)
    seend.wait_at_rest()
    assert seend.unseen("7", list("abcdefg")) == list("bcdeg")
    misspelled = tmp_path / "misspelled.json"
    misspelled.write_text(json.dumps({**seend.config, "inptu": {}}))
    assert "inptu" in replay(nested, "--config", misspelled, status=2)[1]


def test_events_that_no_window_reaches_are_no_success(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name, retention_ms=-1)
    now = now_ms()
    source = tmp_path / "seconds.jsonl"
    seconds = "".join(event(f"u{i}", "n", now // 1000) + "\n" for i in range(5))
    source.write_text(seconds)
    config = ["--config", daemon(topic_name).write_config(), "--quiet"]
    said = replay(source, *config, status=1)[1]
    assert "5 of 5 events are older than every window" in said and "is the unit of exposed_at right?" in said
    source.write_text(seconds + event("u", "n", now) + "\n")
    out, said = replay(source, *config, "--json")
    assert "warning: 5 of 6 events are older than every window" in said
    assert json.loads(out)["beyond_windows"] == 5


def test_what_cant_be_read_is_never_a_success(into, topics, topic_name, tmp_path):
    now = now_ms()
    broken = tmp_path / "broken.jsonl"
    broken.write_text("nonsense\n" * 100)
    assert "not_json" in replay(broken, *into, "--quiet", status=3)[1]
    few = tmp_path / "few.jsonl"
    few.write_text("".join(event("u", f"i{i}", now) + "\n" for i in range(98)) + "nonsense\n" * 2)
    progress = tmp_path / "progress"
    replay(few, *into, "--progress", progress, "--quiet", status=3)
    assert json.loads(replay("--status", "--progress", progress, "--json", status=1)[0])["sent"] == 98, (
        "what was done is kept"
    )
    replay(few, *into, "--quiet", "--rejects-max", "2%")
    many = tmp_path / "many.jsonl"
    many.write_text("nonsense\n" * 300_000)
    replay(many, *into, "--rejects", tmp_path / "rejects", "--quiet", status=3)
    looked = len((tmp_path / "rejects").read_text().splitlines())
    assert 100_000 <= looked < 101_000, "it stopped at the first look"
    for text, words in (("uid,item\n1,2\n", "seen-history"), ("PAR1", "seen-history")):
        (tmp_path / "other").write_text(text)
        assert words in replay(tmp_path / "other", *into, status=2)[1]
    assert "no such file" in replay(tmp_path / "nothing-*", *into, status=2)[1]
    future = tmp_path / "future.jsonl"
    future.write_text(event("u", "i", now + 10 * DAY_MS) + "\n")
    assert "too_far_ahead" in replay(future, *into, "--quiet", status=3)[1]
    assert count(topics, topic_name) == 98 * 2


CONVERSIONS = {
    "parquet": "import pyarrow as pa, pyarrow.parquet; pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path)",
    "orc": "import pyarrow as pa, pyarrow.orc; pyarrow.orc.write_table(pa.Table.from_pylist(rows), path)",
    "avro": "import fastavro; fastavro.writer(open(path, 'wb'), {'type': 'record', 'name': 'Event', 'fields': ["
    "{'name': 'user_id', 'type': 'string'}, {'name': 'item_id', 'type': 'string'},"
    "{'name': 'exposed_at', 'type': 'long'}]}, rows)",
    "zip": "import zipfile; zipfile.ZipFile(path, 'w').writestr('x', ''.join(json.dumps(row) + '\\n' for row in rows))",
}


@pytest.mark.parametrize("kind", CONVERSIONS)
def test_the_commands_that_convert_other_formats_work(kind, topics, topic_name, into, tmp_path):
    path = tmp_path / f"day.{kind}"
    rows = (
        f"[dict(user_id='u%d' % (i % 5), item_id='n%d' % i, exposed_at={now_ms()} - i) for i in range(100)]"
    )
    subprocess.run(
        [str(CONVERT / "python3"), "-c", f"import json; path = '{path}'; rows = {rows}; {CONVERSIONS[kind]}"],
        check=True,
        timeout=60,
    )
    message = replay(path, *into, status=2)[1]
    command = re.search(r"Use: (.*)$", message, re.MULTILINE)[1]
    assert command.endswith("| seenctl replay -")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} {' '.join(into)} --quiet"],
        capture_output=True,
        timeout=60,
        env={**ENVIRONMENT, "PATH": f"{program_in(tmp_path / 'bin')}:{BUILD}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert count(topics, topic_name) == 100


def test_a_dry_run_reports_and_sends_nothing(topics, topic_name, kafka, into, tmp_path):
    now = now_ms()
    lines = (
        [event(f"u{i % 50}", f"n{i % 300}", now - (i % 40) * DAY_MS) for i in range(2_000)]
        + ["nonsense"] * 5
        + ['{"item_id":"n","exposed_at":1}'] * 2
    )
    source = tmp_path / "history.jsonl"
    source.write_text("\n".join(lines) + "\n")
    report = json.loads(
        replay(source, *into, "--dry-run", "--json", "--quiet", "--rejects-max", "100%", status=0)[0]
    )
    # The topic's retention is seven days.
    kept = sum(1 for i in range(2_000) if i % 40 < 7)
    assert report["events"] == kept and report["target"]["retention_ms"] == 7 * DAY_MS
    assert report["rejects"]["older_than_retention"]["count"] == 2_000 - kept
    assert report["rejects"]["not_json"]["count"] == 5 and len(report["rejects"]["not_json"]["examples"]) == 3
    assert report["rejects"]["missing_field"]["examples"][0]["line"] == 2_006
    topics.alter(topic_name, {"retention.ms": "-1"})
    wait_until(
        lambda: json.loads(replay(source, *into, "--dry-run", "--json", "--quiet")[0])["events"] == 2_000,
        "the topic keeps everything",
    )
    report = json.loads(replay(source, *into, "--dry-run", "--json", "--quiet")[0])
    assert (report["users"], report["items"], len(report["days"])) == (50, 300, 40)
    assert report["beyond_window"]["default"] == sum(1 for i in range(2_000) if i % 40 > 30)
    assert 3_000 < report["state_bytes"] < 60_000 and report["seconds"] > 0
    assert count(topics, topic_name) == 0
    text = replay(source, *into, "--dry-run", "--quiet")[0]
    for word in ("users", "2,000", "rejected", "max.message.bytes", "keys in place"):
        assert word in text


def test_the_target_is_looked_at_before_anything_is_sent(topics, topic_name, into, kafka, tmp_path):
    source = tmp_path / "history.jsonl"
    source.write_text("".join(event(f"u{i}", "n", now_ms()) + "\n" for i in range(200)))
    replay(source, *into, "--quiet")
    assert "--partitioner" in replay(source, *into, "--partitioner", "crc32", "--quiet", status=1)[1]
    topics.alter(topic_name, {"message.timestamp.type": "LogAppendTime"})
    wait_until(lambda: fails("replay", source, *into, quiet=True), "the setting is known")
    assert "LogAppendTime" in replay(source, *into, "--quiet", status=1)[1]
    replay(source, *into, "--timestamps", "now", "--quiet")
    assert (
        "no-such-topic"
        in replay(source, "--brokers", kafka.bootstrap, "--topic", "no-such-topic", status=1)[1]
    )


def test_topics_are_read_one_behind_the_other_with_their_headers(topics, topic_name, into, kafka, tmp_path):
    oracle = Oracle()
    for name, first in (("a", 0), ("b", 100)):
        topics.create(f"{topic_name}-{name}", partitions=2)
        producer = topics.producer()
        for user, value in one_by_one(oracle, [(f"u{i}", f"n{i}") for i in range(first, first + 100)]):
            producer.produce(
                f"{topic_name}-{name}", key=user, value=value, headers={"trace": user, "seen-replay": "old"}
            )
        assert producer.flush(20) == 0
    progress = tmp_path / "progress"
    command = ["--from-topic", f"{topic_name}-a", "--from-topic", f"{topic_name}-b", *into]
    command += ["--progress", progress]
    replay(*command, "--quiet")
    records = [message for message in topics.read_all(topic_name) if message.value() is not None]
    assert len(records) == 200
    run = json.loads(progress.read_text())["run"]
    for record in records:
        assert dict(record.headers()) == {"trace": record.key(), "seen-replay": run.encode()}
    replay(*command, "--quiet")
    assert count(topics, topic_name) == 200, "a finished run sends nothing more"
    assert "its range was" in replay(*command, "--since", "1h", status=1)[1]
    end = topics.ends(f"{topic_name}-a")[0][1]
    result = replay(
        *into,
        from_topic=f"{topic_name}-a",
        from_offsets=f"0:{end - 3}",
        to_offsets="0:1000000,1:0",
        json=True,
        quiet=True,
    )[0]
    assert json.loads(result)["sent"] == 3


def test_secrets_come_from_files(into, tmp_path):
    source = tmp_path / "history.jsonl"
    source.write_text(event("u", "n", now_ms()) + "\n")
    assert "=@FILE" in replay(source, *into, "--client", "sasl.password=geheim", status=2)[1]
    secret = tmp_path / "password"
    secret.write_text("geheim\n")
    replay(source, *into, "--client", f"sasl.password=@{secret}", "--quiet")
    assert "no-such" in replay(source, *into, "--client", f"sasl.password=@{tmp_path}/no-such", status=2)[1]


def test_figures_are_written_for_prometheus(into, topic_name, tmp_path):
    source, metrics = tmp_path / "history.jsonl", tmp_path / "replay.prom"
    source.write_text("".join(event("u", f"n{i}", now_ms()) + "\n" for i in range(99)) + "nonsense\n")
    replay(source, *into, "--metrics", metrics, "--quiet")
    text = metrics.read_text()
    assert f'seen_replay_lines_total{{topic="{topic_name}",outcome="sent"}} 99' in text
    assert f'seen_replay_rejects_total{{topic="{topic_name}",reason="not_json"}} 1' in text
    assert f'seen_replay_finished{{topic="{topic_name}"}} 1' in text


def test_standard_input_is_read_as_it_comes(topics, topic_name, into):
    lines = "".join(event("u", f"n{i}", now_ms()) + "\n" for i in range(500))
    for how in ("", "gz", "zst"):
        replay("-", *into, "--quiet", stdin=packed(lines, how))
    assert count(topics, topic_name) == 1_500
