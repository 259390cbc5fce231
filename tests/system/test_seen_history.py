"""seen-history prints tables as JSON lines. Each cell of an id is its text."""

import json
import subprocess

import pytest

from seenctl_tool import CONVERT, seen_history

NESTED = {
    "user_id": "/data/uid",
    "items": "/data/pages/*/items",
    "item_id": "/item/id",
    "exposed_at": {"at": "/ts", "unit": "rfc3339"},
}
MOVIES = {"user_id": "/userId", "item_id": "/movieId", "exposed_at": {"at": "/timestamp", "unit": "s"}}


def lines_of(path, fields=None, status=0, options=()):
    """(events, marks), parsed."""
    config = path.with_name("seend.json")
    config.write_text('{ // the daemon\'s\n "input": {"fields": %s}}' % json.dumps(fields or {}))
    done = seen_history(path, "--config", config, *options)
    assert done.returncode == status, done.stderr[-2000:]
    parsed = [json.loads(line) for line in done.stdout.splitlines()]
    return [e for e in parsed if "seen-history" not in e], [
        e["seen-history"] for e in parsed if "seen-history" in e
    ]


@pytest.mark.parametrize(
    ("text", "fields", "events"),
    [
        (
            "user_id,item_id,exposed_at\nu1,9535e6,1763700000123\n",
            None,
            [{"user_id": "u1", "item_id": "9535e6", "exposed_at": 1763700000123}],
        ),
        (
            'exposed_at,user_id,item_id,scene\n1,"a,""b""",00012,\n2,NULL,1871520000.1754700000,x\n',
            None,
            [
                {"exposed_at": 1, "user_id": 'a,"b"', "item_id": "00012", "scene": None},
                {"exposed_at": 2, "user_id": None, "item_id": "1871520000.1754700000", "scene": "x"},
            ],
        ),
        (
            "user_id\titem_id\texposed_at\tposition\nu\\t1\ta,b\t1763700000123\t7\n\\N\tc\t\t\n",
            None,
            [
                {"user_id": "u\t1", "item_id": "a,b", "exposed_at": 1763700000123, "position": 7},
                {"user_id": None, "item_id": "c", "exposed_at": None, "position": None},
            ],
        ),
        (
            "user_id;items;exposed_at\nu;[\"a\",\"b\"];1\nu;a,b;2\nu;['a', 'b'];3\n",
            None,
            [{"user_id": "u", "items": ["a", "b"], "exposed_at": at} for at in (1, 2, 3)],
        ),
        (
            "user_id,item_id,exposed_at,app,/data/flag\r\n7,n1,2025-11-21T04:40:00Z,ios,true\r\n",
            NESTED,
            [
                {
                    "data": {"uid": "7", "pages": [{"items": [{"item": {"id": "n1"}}]}], "flag": True},
                    "ts": "2025-11-21T04:40:00Z",
                    "app": "ios",
                }
            ],
        ),
        (
            "userId,movieId,rating,timestamp\n1,2,3.5,964982703\n",
            MOVIES,
            [{"userId": "1", "movieId": "2", "rating": 3.5, "timestamp": 964982703}],
        ),
    ],
)
def test_columns_go_where_the_configuration_has_them(text, fields, events, tmp_path):
    path = tmp_path / "table"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(encoding))
        assert lines_of(path, fields)[0] == events


def test_a_bad_row_is_one_problem_and_keeps_its_number(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('user_id,item_id,exposed_at\nu,a,1\nu,b\nu,"c,1\nu,"d"x,1\n\nu,e,1,2\nu,f,1\n')
    events, marks = lines_of(path)
    assert [event["item_id"] for event in events] == ["a", "f"]
    assert [mark["text"] for mark in marks if "problem" in mark] == ["u,b", 'u,"c,1', 'u,"d"x,1', "u,e,1,2"]
    assert {"row": 7} in marks, "a blank line counts as a row"
    assert marks[-1] == {"end": True}


@pytest.mark.parametrize(
    "text", ["uid,item_id\n1,2\n", "no header\n", '{"a":1}\n', "", "user_id,user_id\n1,2\n"]
)
def test_what_is_no_table_of_events_ends_with_status_2(text, tmp_path):
    (tmp_path / "table.csv").write_text(text)
    _, marks = lines_of(tmp_path / "table.csv", status=2)
    assert "table.csv" in marks[-1]["error"]


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [("--encoding", each, "no encoding of texts") for each in ("nope", "rot13", "hex", "undefined")]
    + [("--separator", each, "one ASCII character") for each in ("ab", "、", '"')]
    + [(each, "", "empty") for each in ("--encoding", "--separator", "--config")],
)
def test_an_option_that_means_nothing_is_a_wrong_argument(option, value, why, tmp_path):
    (tmp_path / "a.csv").write_text("user_id,item_id\nu,1\n")
    done = seen_history(tmp_path / "a.csv", option, value)
    errors = done.stderr.decode()
    assert done.returncode == 2 and option in errors and why in errors and "Traceback" not in errors, errors


def test_a_full_disk_is_one_line_and_status_1(tmp_path):
    (tmp_path / "a.csv").write_text("user_id,item_id\nu,1\n")
    for name in ("a.csv", "missing.csv"):
        with open("/dev/full", "wb") as full:
            done = seen_history(tmp_path / name, output=full)
        last = done.stderr.decode().splitlines()[-1]
        assert done.returncode == 1 and last == "seen-history: standard output: No space left on device"


def test_parquet_keeps_its_types(tmp_path):
    path = tmp_path / "day.parquet"
    script = (
        "import datetime as d, pyarrow as pa, pyarrow.parquet as pq; at = d.datetime(2025, 1, 1, tzinfo=d.timezone.utc);"
        "t = pa.table({'user_id': pa.array([7, None], pa.float64()), 'items': [['a', 'b'], ['c']],"
        f"'exposed_at': pa.array([at, at], pa.timestamp('us', 'UTC'))}}); pq.write_table(t, '{path}', use_deprecated_int96_timestamps=INT96)"
    )
    for int96 in ("False", "True"):
        subprocess.run([CONVERT / "python3", "-c", script.replace("INT96", int96)], check=True, timeout=60)
        for unit, at in (("ms", 1735689600000), ("s", 1735689600), ("us", 1735689600000000)):
            events, _ = lines_of(path, {"exposed_at": {"at": "/exposed_at", "unit": unit}})
            assert events == [
                {"user_id": "7", "items": ["a", "b"], "exposed_at": at},
                {"user_id": None, "items": ["c"], "exposed_at": at},
            ]


def test_order_by_time_and_a_file_that_is_cut_off(tmp_path):
    import gzip

    head = "user_id,item_id,exposed_at\n"
    (tmp_path / "a.csv").write_text(head + "u,late,2000\n")
    (tmp_path / "b.csv").write_text(head + "u,early,1000\n")
    done = seen_history(tmp_path / "a.csv", tmp_path / "b.csv", "--order", "time")
    assert done.stdout.index(b"early") < done.stdout.index(b"late")
    rows = "".join(f"u{i * 7919},i{i},{i}\n" for i in range(300_000))
    packed = gzip.compress((head + rows).encode(), 1)
    (tmp_path / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    events, marks = lines_of(tmp_path / "cut.csv.gz", status=1)
    assert "cut off" in marks[-1]["damage"]
