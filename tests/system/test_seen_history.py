"""seen-history prints tables as JSON lines. Each cell of an id is its text."""

import bz2
import gzip
import json
import lzma
import os
import pty
import subprocess
import tarfile
import zipfile

import pytest

from places import free_port, now_ms
from seenctl_tool import CONVERT, ENVIRONMENT, by_partition, run, run_json, seen_history

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
    "text",
    [
        "uid,item_id\n1,2\n",
        "no header\n",
        "/u/1,n1,17\n/u/2,n2,18\n",
        '{"a":1}\n',
        "",
        "user_id,user_id\n1,2\n",
    ],
)
def test_what_is_no_table_of_events_ends_with_status_2(text, tmp_path):
    (tmp_path / "table.csv").write_text(text)
    events, marks = lines_of(tmp_path / "table.csv", status=2)
    assert "table.csv" in marks[-1]["error"] and events == []


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


def parts_of(paths, *options, status=0):
    """{file's name: (events, problems as (row, text), rows marks)} of one run."""
    done = seen_history(*paths, *options)
    assert done.returncode == status, done.stderr[-2000:]
    files, row = {}, None
    for line in done.stdout.splitlines():
        about = json.loads(line)
        mark = about.get("seen-history")
        if mark is None:
            files[name][0].append((row, about))
            row += 1
        elif "file" in mark:
            name = mark["file"].rpartition("/")[2]
            files[name] = ([], [])
        elif "row" in mark:
            row = mark["row"]
        elif "problem" in mark:
            files[name][1].append((row, mark["text"]))
            row += 1
    return files, done.stderr.decode()


def table(separator, head="user_id,item_id,exposed_at,title\n", end="\n"):
    """Rows without quotes, and what they mean."""
    rows = "".join(f"u{i},00012,176370000000{i},t{i}\n" for i in range(3))
    events = [
        {"user_id": f"u{i}", "item_id": "00012", "exposed_at": 1763700000000 + i, "title": f"t{i}"}
        for i in range(3)
    ]
    return (head + rows).replace(",", separator).replace("\n", end), events


HEAD = "user_id,item_id,exposed_at,title\n"
TAB = HEAD.replace(",", "\t")


def exposure(user, item, at, title):
    return {"user_id": user, "item_id": item, "exposed_at": at, "title": title}


# name: (bytes, events). Of the user ids, those that are null become rejects in replay.
DIALECTS = {
    "comma": (table(",")[0].encode(), table(",")[1]),
    "semicolon": (table(";")[0].encode(), table(";")[1]),
    "pipe": (table("|")[0].encode(), table("|")[1]),
    "tab": (table("\t")[0].encode(), table("\t")[1]),
    "cr": (table(",", end="\r")[0].encode(), table(",")[1]),
    "crlf": (table(";", end="\r\n")[0].encode(), table(",")[1]),
    "bom": (table(",")[0].encode("utf-8-sig"), table(",")[1]),
    "bom-twice": (b"\xef\xbb\xbf" + table(",")[0].encode("utf-8-sig"), table(",")[1]),
    "bom-in-the-quotes": (
        '"\ufeffuser_id","item_id","exposed_at","title"\nu,a,1,t\n'.encode(),
        [exposure("u", "a", 1, "t")],
    ),
    "columns-without-a-name": (
        b',user_id,item_id,exposed_at,title,,\n0,u,a,1,t,,\n1,v,b,2,"t",x,\n',
        [exposure("u", "a", 1, "t"), exposure("v", "b", 2, "t")],
    ),
    "spaces-around-the-names": (
        b"user_id , item_id, exposed_at ,title\nu 1 , a, 1 , t \n\\N , b , 2, \n",
        [exposure("u 1", "a", 1, " t "), exposure(None, "b", 2, " ")],
    ),
    "quotes-behind-spaces": (
        b'"user_id", "item_id", "exposed_at", "title"\n"u,1", "a, ""b""", "1", "t"\nv, c, 2, x\n w, "d", 3, "a b"\n',
        [exposure("u,1", 'a, "b"', 1, "t"), exposure("v", "c", 2, "x"), exposure("w", "d", 3, "a b")],
    ),
    "a-quoted-name-with-a-separator": (
        b'user_id, item_id, exposed_at, "a, b"\nu, a, 1, "t"\n',
        [{"user_id": "u", "item_id": "a", "exposed_at": 1, "a, b": "t"}],
    ),
    "tabs-behind-commas": (
        b"user_id,\titem_id,\texposed_at,\ttitle\nu,\ta,\t1,\tt\n",
        [exposure("u", "a", 1, "t")],
    ),
    "spaces-in-cells-only": (
        (HEAD + 'u, a,1, t\n v,b ,2,t\nw, "c",3,t\n').encode(),
        [exposure("u", " a", 1, " t"), exposure(" v", "b ", 2, "t"), exposure("w", ' "c"', 3, "t")],
    ),
    "utf-16": (table("\t", end="\r\n")[0].encode("utf-16"), table(",")[1]),
    "utf-16-without-mark": (table(",")[0].encode("utf-16-be"), table(",")[1]),
    "utf-32": (table(",")[0].encode("utf-32"), table(",")[1]),
    "excel-names-the-separator": (b"sep=;\r\n" + table(";", end="\r\n")[0].encode(), table(";")[1]),
    "no-end-of-line": (table(",")[0].rstrip().encode(), table(",")[1]),
    "quoted-header": (
        b'"user_id","item_id","exposed_at","title"\n"u","a","1","t"\n',
        [exposure("u", "a", 1, "t")],
    ),
    "doubled": (
        (HEAD + 'u,"a,""b""",1,"""t"""\n"""",c,2,""\n').encode(),
        [exposure("u", 'a,"b"', 1, '"t"'), exposure('"', "c", 2, None)],
    ),
    "backslash": (
        (HEAD + 'u,"a,\\"b\\"",1,"\\"t\\""\nv,"c\\\\",2,\\N\n').encode(),
        [exposure("u", 'a,"b"', 1, '"t"'), exposure("v", "c\\", 2, None)],
    ),
    "backslash-is-a-letter": (
        (HEAD + 'u,"C:\\",1,"a ""b"""\nv,"\\x",2,t\n').encode(),
        [exposure("u", "C:\\", 1, 'a "b"'), exposure("v", "\\x", 2, "t")],
    ),
    "quoted-tab": (
        (TAB + '"u"\t"a\tb"\t1\t"t ""x"""\nv\t"c"\t2\t\\x\n').encode(),
        [exposure("u", "a\tb", 1, 't "x"'), exposure("v", "c", 2, "\\x")],
    ),
    "escaped-tab": (
        (TAB + 'u\\\\\ta\\tb\t1\t"t\n\\N\tc\t2\tC\\nD\n').encode(),
        [exposure("u\\", "a\tb", 1, '"t'), exposure(None, "c", 2, "C\nD")],
    ),
    "lines-in-a-cell": (
        (HEAD + 'u,a,1,"one\ntwo, ""three"""\n\nv,b,2,t\n').encode(),
        [exposure("u", "a", 1, 'one\ntwo, "three"'), exposure("v", "b", 2, "t")],
    ),
    "quote-within-a-cell": (
        (HEAD + 'u,12" pipe,1,a "b" c\nv,"b",2,t\n').encode(),
        [exposure("u", '12" pipe', 1, 'a "b" c'), exposure("v", "b", 2, "t")],
    ),
    "nulls": (
        (HEAD + '\\N,a,1,\nNULL,b,2,NULL\n,c,3,\\N\n"",d,4,""\n').encode(),
        [exposure(None, item, at, None) for at, item in enumerate("abcd", 1)],
    ),
    "ids-are-texts": (
        (HEAD + "007,9535e6,1,1e999\n1871520000.1754700000,1e999,2,1e5\ntrue,nan,3,00\n").encode(),
        [
            exposure("007", "9535e6", 1, "1e999"),
            exposure("1871520000.1754700000", "1e999", 2, 1e5),
            exposure("true", "nan", 3, "00"),
        ],
    ),
    "gbk": (
        (HEAD + "张三,新闻,1,首页推荐\n用户,视频,2,商品\n").encode("gbk"),
        [exposure("张三", "新闻", 1, "首页推荐"), exposure("用户", "视频", 2, "商品")],
    ),
    "gbk-after-ascii": (
        (HEAD + "u,a,1,t\n" + f"v,b,2,{600 * chr(116)}\n" * 9_000 + "w,新闻,3,首页推荐\n").encode("gbk"),
        [exposure("u", "a", 1, "t"), exposure("w", "新闻", 3, "首页推荐")],
    ),
    "latin-1": (
        (HEAD + "josé,über-1,1,Ça va à Zürich\nu,b,2,t\n").encode("latin-1"),
        [exposure("josé", "über-1", 1, "Ça va à Zürich"), exposure("u", "b", 2, "t")],
    ),
    "windows-1252": (
        (HEAD + "u,a,1,it\u2019s \u2013 \u201cna\u00efve\u201d\n").encode("cp1252"),
        [exposure("u", "a", 1, "it\u2019s \u2013 \u201cna\u00efve\u201d")],
    ),
    "utf-8": (
        (HEAD + "张三,新闻\u2028,1,\U0001f600\x7f\n").encode(),
        [exposure("张三", "新闻\u2028", 1, "\U0001f600\x7f")],
    ),
    "control": ((HEAD + "u\x01,a\x1f,1,\x0b\n").encode(), [exposure("u\x01", "a\x1f", 1, "\x0b")]),
}


def test_every_dialect_gives_its_exact_cells(tmp_path):
    for name, (data, _) in DIALECTS.items():
        (tmp_path / name).write_bytes(data)
    files, errors = parts_of([tmp_path])
    for name, (_, events) in DIALECTS.items():
        found = [event for _, event in files[name][0] if event["user_id"] != "v" or name != "gbk-after-ascii"]
        assert (name, found, files[name][1]) == (name, events, [])
    assert [row for row, _ in files["lines-in-a-cell"][0]] == [2, 4], "a row is a record, a blank line too"
    assert "gbk: isn't UTF-8, so it is read as gbk" in errors and "read as latin-1" in errors


def test_an_encoding_that_isnt_sure_is_an_error_until_it_is_named(tmp_path):
    texts = {
        "big5": "使用者新聞首頁推薦",
        "euc-kr": "사용자뉴스추천",
        "shift-jis": "ニュースおすすめ",
        "windows-1251": "Новости для вас",
        "iso-8859-2": "Część Łódź żółw",
    }
    for encoding, text in texts.items():
        path = tmp_path / encoding
        path.write_bytes((HEAD + f"u,{text},1,{text}\n").encode(encoding))
        done = seen_history(path)
        assert done.returncode == 2 and f"{path}: the text isn't UTF-8" in done.stderr.decode(), encoding
        assert b'"item_id"' not in done.stdout
        files, _ = parts_of([path], "--encoding", encoding)
        assert files[encoding][0] == [(2, exposure("u", text, 1, text))]


def test_quotes_that_never_close_reject_their_line_only(tmp_path):
    rows = [f"u{i},n{i},{i},t" for i in range(5000)]
    rows[10], rows[20], rows[4000] = 'u,"n,1,t', 'u,n,1,"t"x', '"u,n,1,t'
    (tmp_path / "a").write_text(HEAD + "\n".join(rows) + "\n")
    (tmp_path / "b").write_text(HEAD.replace(",", ";") + 'u;n;1;"t\nv;n;2;t\n')
    files, _ = parts_of([tmp_path])
    assert files["a"][1] == [(12, rows[10]), (22, rows[20]), (4002, rows[4000])]
    assert len(files["a"][0]) == 4997 and files["a"][0][-1][0] == 5001
    assert files["b"] == ([(3, exposure("v", "n", 2, "t"))], [(2, 'u;n;1;"t')])
    with open(tmp_path / "lines", "wb") as output:
        done = seen_history(tmp_path / "b", output=output)
    errors = done.stderr.decode()
    assert done.returncode == 3 and "row 2: a quote is never closed" in errors and "1 of 2 rows" in errors
    assert "u;n" not in errors, "no part of a row is told"


def test_lists_have_every_id_as_its_text(tmp_path):
    cells = {
        "a,b,c": ["a", "b", "c"],
        "a, b,新": ["a", "b", "新"],
        "['a','新']": ["a", "新"],
        "['a', 'b']": ["a", "b"],
        "['it\\'s', \"b,c\"]": ["it's", "b,c"],
        "['a' 'b']": ["a", "b"],
        '["a","b"]': ["a", "b"],
        "[007, 9535e6, 1e999]": ["007", "9535e6", "1e999"],
        "[1, 2.50, null]": ["1", "2.50", None],
        "[a, b c]": ["a", "b c"],
        "{a,b}": ["a", "b"],
        '{"a b",NULL}': ["a b", None],
        "[]": [],
        "00012": ["00012"],
        '[{"item_id":"a"}]': [{"item_id": "a"}],
        "['a', [": "['a', [",
        "NULL": None,
    }
    rows = "".join(f"u\t{cell}\t1\n" for cell in cells)
    (tmp_path / "t").write_text("user_id\titems\texposed_at\n" + rows.replace("\\", "\\\\"))
    files, _ = parts_of([tmp_path / "t"])
    assert [event["items"] for _, event in files["t"][0]] == list(cells.values())


def test_a_list_that_no_comma_shows_is_named_and_split_by_the_option(tmp_path):
    cells = {
        "space": (" ", ["N1 N2 N3", "N1", "[N1  N2]", '["a b", "c"]', "['a b']"]),
        "bar": ("|", ["a|b", "c, d|e", "{a | b}", "|a||b|"]),
        "semicolon": (";", ["a;b;c", "a b; c", "(a)"]),
        "ideographic": ("\u3001", ["新闻\u3001图片", "[]", "「\u3001」"]),
    }
    split = {
        "space": [["N1", "N2", "N3"], ["N1"], ["N1", "N2"], ["a b", "c"], ["a b"]],
        "bar": [["a", "b"], ["c, d", "e"], ["a", "b"], ["a", "b"]],
        "semicolon": [["a", "b", "c"], ["a b", "c"], ["a"]],
        "ideographic": [["新闻", "图片"], [], ["「", "」"]],
    }
    for name, (separator, texts) in cells.items():
        path = tmp_path / name
        path.write_text("user_id\titems\n" + "".join(f"u\t{text}\n" for text in texts))
        files, errors = parts_of([path, path])
        assert [texts[0]] == files[name][0][0][1]["items"], "nothing is guessed"
        words = f"seen-history: {path}: column items: a cell such as '{texts[0]}' is one id"
        assert errors.count(words) == 1 and "--list-separator" in errors
        files, errors = parts_of([path], "--list-separator", separator)
        assert ([event["items"] for _, event in files[name][0]], errors) == (split[name], "")
    (tmp_path / "usual").write_text(
        "user_id\titems\n" + "u\ta,b\nu\ta\nu\t['a' 'b']\nu\t[\"a b\"]\nu\tthe end, a|b\nu\ta b\n"
    )
    assert parts_of([tmp_path / "usual"])[1] == "", "one cell of six doesn't make lists"
    (tmp_path / "odd").write_text("user_id,items\nu,\x1b[2J|\x1b[2J\n")
    errors = parts_of([tmp_path / "odd"])[1]
    assert "a cell such as '\\x1b[2J|\\x1b[2J'" in errors and "\x1b" not in errors


def test_an_id_that_a_float_has_changed_is_an_error(tmp_path):
    write_with(
        """
import decimal, fastavro, pyarrow as pa, pyarrow.orc, pyarrow.parquet as pq
def write(name, **columns):
    pq.write_table(pa.table({"user_id": ["u", "u"], **columns}), name)
large = 1234567890123456789.0
write("whole.parquet", item_id=[12.0, 2.0**53 - 1], score=[large, 1e300])
write("part.parquet", item_id=[12.0, 12.5])
write("fixed-whole.parquet", item_id=["1", "2"], items=pa.array([[1.0], [12.0]], pa.list_(pa.float64(), 1)))
write("decimal.parquet", exposed_at=pa.array([decimal.Decimal(1763700000123)] * 2, pa.decimal128(38, 10)), item_id=[decimal.Decimal("12.00"), decimal.Decimal("12345678901234567.50")])
write("large.parquet", item_id=[large, None])
write("limit.parquet", item_id=[-(2.0**53), 1.5])
write("float32.parquet", item_id=pa.array([2.0**24, 1], pa.float32()))
write("fixed.parquet", items=pa.array([[1.0], [large]], pa.list_(pa.float64(), 1)))
write("list.parquet", items=[[1.0], [2.0, large]])
write("struct.parquet", items=[[{"item_id": 1.0}], [{"item_id": large}]])
pa.orc.write_table(pa.table({"user_id": [large], "item_id": ["n"]}), "large.orc")
schema = {"type": "record", "name": "E", "fields": [
  {"name": "user_id", "type": "string"}, {"name": "item_id", "type": ["string", "double"]}]}
fastavro.writer(open("mixed.avro", "wb"), schema, [{"user_id": "u", "item_id": i} for i in ("a", large)])
""",
        tmp_path,
    )
    ids = {
        "whole": ["12", "9007199254740991"],
        "part": ["12", "12.5"],
        "decimal": ["12", "12345678901234567.50"],
    }
    for name, texts in ids.items():
        files, _ = parts_of([tmp_path / f"{name}.parquet"])
        at = files[f"{name}.parquet"][0][0][1].get("exposed_at")
        assert str(at) == ("1763700000123" if name == "decimal" else "None")
        assert [event["item_id"] for _, event in files[f"{name}.parquet"][0]] == texts
        (tmp_path / f"{name}.parquet").unlink()
    files, _ = parts_of([tmp_path / "fixed-whole.parquet"])
    assert [event["items"] for _, event in files["fixed-whole.parquet"][0]] == [["1"], ["12"]]
    (tmp_path / "fixed-whole.parquet").unlink()
    columns = {"fixed": "items", "list": "items", "struct": "items/item_id"}
    for path in sorted(tmp_path.iterdir()):
        fields = {"items": "/items"} if path.stem == "struct" else {}
        (tmp_path / ".config").write_text(json.dumps({"input": {"fields": fields}}))
        done = seen_history(path, "--config", tmp_path / ".config")
        column = "user_id" if path.suffix == ".orc" else columns.get(path.stem, "item_id")
        words = f"{path}: column {column}: ids are floating-point numbers of"
        assert done.returncode == 2 and words in done.stderr.decode(), (path, done)
        assert "Remedy" in done.stderr.decode() and b"12345678" not in done.stdout


def test_kuairand_is_read_by_the_mapping_of_the_topic(tmp_path):
    path = tmp_path / "log_standard.csv"
    path.write_text(
        "user_id,video_id,date,hourmin,time_ms,is_click,tab\n0,3000349,20220408,1100,1649386858121,1,0\n"
    )
    fields = {"item_id": "/video_id", "exposed_at": "/time_ms", "scene": "/tab"}
    events, _ = lines_of(path, fields)
    assert events == [
        {
            "user_id": "0",
            "video_id": "3000349",
            "date": 20220408,
            "hourmin": 1100,
            "time_ms": 1649386858121,
            "is_click": 1,
            "tab": "0",
        }
    ]
    path.write_text("anonymousId,item_id,exposed_at\nu,a,1\n")
    assert lines_of(path, {"user_id": ["/userId", "/anonymousId"]})[0][0]["anonymousId"] == "u"


def write_with(script, folder):
    """Writes files by Python with the packages of seen-history."""
    subprocess.run([CONVERT / "python3", "-c", script], check=True, timeout=60, cwd=folder)


def test_columns_of_all_types_have_the_unit_of_the_mapping(tmp_path):
    write_with(
        """
import datetime as d, decimal, pyarrow as pa, pyarrow.orc, pyarrow.parquet as pq, uuid
utc, east = d.timezone.utc, d.timezone(d.timedelta(hours=8))
at = d.datetime(2025, 11, 21, 12, 40, 0, 250000, tzinfo=utc)
times = {unit + tz: pa.array([at if tz else at.replace(tzinfo=None)], pa.timestamp(unit, tz or None))
         for unit in ("ms", "us", "ns") for tz in ("", "UTC", "Asia/Shanghai")}
for name, column in times.items():
    t = pa.table({"user_id": pa.array([7.0, None])[:1], "item_id": pa.array([b"00012"], pa.large_binary()), "exposed_at": column,
                  "live": [True], "price": pa.array([decimal.Decimal("1.50")]), "day": [d.date(2025, 11, 21)]})
    pq.write_table(t, name.replace("/", "-") + ".parquet")
    if "Shanghai" not in name:
        pa.orc.write_table(t.drop(["live"]), name + ".orc")
t = pa.table({"user_id": ["u"], "item_id": ["n"], "exposed_at": times["ns"]})
pq.write_table(t, "int96.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(pa.table({"data": [{"uid": 7, "when": at}], "items": [["a", 'b"', None]]}), "nested.parquet")
pq.write_table(pa.table({"user_id": ["u"], "items": pa.array([[1, 2]])})[:0], "empty.parquet")
""",
        tmp_path,
    )
    (tmp_path / "nested.parquet").rename(tmp_path / "nested")
    files, errors = parts_of(sorted(tmp_path.glob("*.*")))
    assert "empty.parquet: has no row" in errors and files.pop("empty.parquet") == ([], [])
    assert files.pop("int96.parquet")[0] == [
        (1, {"user_id": "u", "item_id": "n", "exposed_at": 1763728800250})
    ]
    assert len(files) == 15
    for name, (events, _) in files.items():
        event = {"user_id": "7", "item_id": "00012", "exposed_at": 1763728800250}
        more = {"live": True} if name.endswith("parquet") else {}
        day = "2025-11-21T00:00:00.000000Z"
        assert events == [(1, {**event, **more, "price": 1.5, "day": day})], name
    fields = {"user_id": "/data/uid", "exposed_at": {"at": "/data/when", "unit": "rfc3339"}}
    events, _ = lines_of(tmp_path / "nested", fields)
    assert events == [
        {"data": {"uid": "7", "when": "2025-11-21T12:40:00.250000Z"}, "items": ["a", 'b"', None]}
    ]


CARDS = {
    "user_id": "/uid",
    "items": "/cards",
    "item_id": "/id",
    "items_exposed_at": {"at": "/shown", "unit": "s"},
}


def test_items_have_times_of_their_own(tmp_path):
    write_with(
        """
import datetime as d, fastavro, pyarrow as pa, pyarrow.parquet as pq
at = d.datetime(2025, 11, 21, 12, 40, 0, 250000, tzinfo=d.timezone.utc)
cards = [[{"id": 7.0, "shown": at}, {"id": 8.5, "shown": None}, None], None, []]
for unit in ("ms", "ns"):
    kind = pa.list_(pa.struct([("id", pa.float64()), ("shown", pa.timestamp(unit, "UTC"))]))
    pq.write_table(pa.table({"uid": ["u", "v", "w"], "cards": pa.array(cards, kind)}), unit)
shown = {"name": "shown", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]}
card = {"type": "record", "name": "C", "fields": [{"name": "id", "type": ["double", "string"]}, shown]}
schema = {"type": "record", "name": "E", "fields": [{"name": "uid", "type": "string"},
          {"name": "cards", "type": ["null", {"type": "array", "items": ["null", card]}]}]}
with open("avro", "wb") as file:
    fastavro.writer(file, schema, [{"uid": u, "cards": c} for u, c in zip("uvw", cards)])
""",
        tmp_path,
    )
    events = [
        {"uid": "u", "cards": [{"id": "7", "shown": 1763728800}, {"id": "8.5", "shown": None}, None]},
        {"uid": "v", "cards": None},
        {"uid": "w", "cards": []},
    ]
    for name in ("ms", "ns", "avro"):
        assert lines_of(tmp_path / name, CARDS)[0] == events, name
    path = tmp_path / "table.csv"
    path.write_text("uid,item_id,items_exposed_at\nu,00012,1763728800\n")
    assert lines_of(path, CARDS)[0] == [{"uid": "u", "cards": [{"id": "00012", "shown": 1763728800}]}]
    path.write_text("user_id,item_id,shown_s\nu,a,2\n")
    fields = {"items_exposed_at": {"at": "/shown_s", "unit": "s"}}
    assert lines_of(path, fields)[0] == [{"user_id": "u", "items": [{"item_id": "a"}], "shown_s": 2}], (
        "the pointer starts at an element"
    )
    head = "user_id,item_id,items_exposed_at\n"
    path.write_text(head + "u,a,2\n")
    (tmp_path / "z.csv").write_text(head + "u,b,1\n")
    done = seen_history(path, tmp_path / "z.csv", "--config", tmp_path / "seend.json", "--order", "time")
    assert done.stdout.index(b'{"item_id":"b","shown_s":1}') < done.stdout.index(
        b'{"item_id":"a","shown_s":2}'
    )


def test_nested_cells_have_the_types_of_columns(tmp_path):
    write_with(
        """
import datetime as d, decimal, pyarrow as pa, pyarrow.parquet as pq
at = d.datetime(2025, 11, 21, 12, 40)
rows = {"user_id": ["u"] * 3, "items": pa.array([[1, None], [2], []], pa.large_list(pa.int64())),
        "x": [[{"a": [decimal.Decimal("1.50")], "b": {"at": at}}], None, [None]],
        "y": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32()))}
pq.write_table(pa.table(rows), "day", row_group_size=2)
""",
        tmp_path,
    )
    files, _ = parts_of([tmp_path / "day"])
    cell = {"a": [1.5], "b": {"at": "2025-11-21T12:40:00.000000Z"}}
    assert [event for _, event in files["day"][0]] == [
        {"user_id": "u", "items": ["1", None], "x": [cell], "y": [["k", 1]]},
        {"user_id": "u", "items": ["2"], "x": None, "y": None},
        {"user_id": "u", "items": [], "x": [None], "y": []},
    ]


def test_the_state_is_that_of_the_same_events_as_json(daemon, topic_name, tmp_path):
    """A time for each item: of lines that the daemon reads, and of the table with the same events."""
    seend = daemon(topic_name, {"input": {"fields": CARDS}})
    now_s = now_ms() // 1000
    cards = [
        [{"id": f"n{i % 7}-{k}", "shown": now_s - 86_400 * ((i + k) % 9)} for k in range(1 + i % 3)]
        for i in range(300)
    ]
    lines = [json.dumps({"uid": f"u{i % 20}", "cards": each}) for i, each in enumerate(cards)]
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    write_with(
        "import datetime as d, json, pyarrow as pa, pyarrow.parquet as pq\n"
        "rows = [json.loads(line) for line in open('lines')]\n"
        "for card in (card for row in rows for card in row['cards']):\n"
        "    card['shown'] = d.datetime.fromtimestamp(card['shown'], d.timezone.utc)\n"
        "pq.write_table(pa.Table.from_pylist(rows), 'table')\n",
        tmp_path,
    )
    found = {}
    for name in ("lines", "table"):
        if name == "lines":
            source, lines = tmp_path / name, None
        else:
            source, lines = "-", seen_history(tmp_path / name, "--config", seend.write_config()).stdout
        state = tmp_path / f"state-{name}"
        options = {"config": seend.write_config(), "into_state": state, "partitions": 1}
        built = run_json("replay", source, stdin=lines, **options)
        assert (built["events"], built["rejected"]) == (300, 0), name
        digest = run_json("digest", dir=state, as_of=now_s * 1000)
        found[name] = by_partition(digest)
    assert found["lines"] == found["table"] and sum(map(len, cards)) > 500


def test_avro_has_bytes_and_logical_types(tmp_path):
    write_with(
        """
import datetime as d, fastavro, uuid
at = d.datetime(2025, 11, 21, 12, 40, 0, 250000, tzinfo=d.timezone.utc)
schema = {"type": "record", "name": "E", "fields": [
  {"name": "user_id", "type": ["null", "bytes"]}, {"name": "item_id", "type": ["string", "long"]},
  {"name": "exposed_at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
  {"name": "request_id", "type": {"type": "string", "logicalType": "uuid"}},
  {"name": "scene", "type": {"type": "enum", "name": "S", "symbols": ["home"]}}]}
rows = [{"user_id": u, "item_id": i, "exposed_at": at, "request_id": uuid.UUID(int=7), "scene": "home"} for u, i in ((b"u", "a"), (None, 12))]
for codec in ("null", "deflate", "bzip2", "xz"):
    fastavro.writer(open(codec + ".avro", "wb"), schema, rows, codec=codec)
""",
        tmp_path,
    )
    files, _ = parts_of([tmp_path])
    same = {
        "exposed_at": 1763728800250,
        "request_id": "00000000-0000-0000-0000-000000000007",
        "scene": "home",
    }
    for name in ("null", "deflate", "bzip2", "xz"):
        assert [event for _, event in files[f"{name}.avro"][0]] == [
            {"user_id": "u", "item_id": "a", **same},
            {"user_id": None, "item_id": "12", **same},
        ]


def test_a_page_of_parquet_that_has_another_checksum_is_damage(tmp_path):
    write_with(
        """
import pyarrow as pa, pyarrow.parquet as pq
t = pa.table({"user_id": ["user-1", "user-2"], "item_id": ["n", "n"]})
pq.write_table(t, "a.parquet", compression="none", use_dictionary=False, write_statistics=False, write_page_checksum=True)
""",
        tmp_path,
    )
    path = tmp_path / "a.parquet"
    assert len(parts_of([path])[0]["a.parquet"][0]) == 2
    data = path.read_bytes()
    assert data.count(b"user-1") == 1
    path.write_bytes(data.replace(b"user-1", b"user-7"))
    done = seen_history(path)
    assert done.returncode == 1 and f"{path}: " in done.stderr.decode() and b"user-7" not in done.stdout


def test_avro_that_is_broken_is_damage_behind_the_rows_before(tmp_path):
    write_with(
        """
import fastavro, io
schema = {"type": "record", "name": "E", "fields": [{"name": n, "type": "string"} for n in ("user_id", "item_id")]}
for codec in ("null", "deflate", "bzip2", "xz"):
    file = io.BytesIO()
    fastavro.writer(file, schema, [{"user_id": f"u{i}", "item_id": "n"} for i in range(3000)], codec=codec, sync_interval=2000)
    data = file.getvalue()
    half = len(data) // 2
    for name, broken in {"cut": data[:-1], "garbage": data + b"x", "ff": data + b"\\xff\\xff", "twice": data + data,
                         "zeros": data[:half] + bytes(len(data) - half),
                         "ones": data[:half] + b"\\xff" * 64 + data[half + 64:]}.items():
        open(f"{name}-{codec}.avro", "wb").write(broken)
open("head.avro", "wb").write(data[:20])
open("codec.avro", "wb").write(data.replace(b"\\x04xz", b"\\x06lz4"))
""",
        tmp_path,
    )
    done = seen_history(tmp_path / "codec.avro")
    assert done.returncode == 2 and b"codec.avro: Avro: lz4 codec" in done.stderr
    (tmp_path / "codec.avro").unlink()
    files, errors = parts_of([tmp_path], status=1)
    assert len(files) == 25 and errors.count("avro: cut off or broken") == 25 == len(errors.splitlines())
    for name, (events, _) in files.items():
        users = [event["user_id"] for _, event in events]
        has_checksum = not name.endswith(("null.avro", "deflate.avro"))
        sure = users if has_checksum else users[:1000]
        assert sure == [f"u{i}" for i in range(len(sure))] and (len(sure) > 100) == (name != "head.avro")
        assert name.startswith(("cut", "zeros", "ones", "head")) or len(users) == 3000


def test_arrays_of_events_stay_as_they_are(tmp_path):
    array = ' [\n {"user_id": "u", "items": [1871520000.1754700000],\r\n "x": "\u65b0"} , {"a":1},7,"]",{"b":[]}\n]\n'
    (tmp_path / "a").write_text(array, encoding="utf-8")
    (tmp_path / "b").write_text(array, encoding="utf-16")
    many = [{"user_id": f"u{i}", "x": "\u65b0" * 7} for i in range(70_000)]
    (tmp_path / "c").write_text(json.dumps(many, ensure_ascii=False), encoding="utf-8")
    files, _ = parts_of([tmp_path])
    for name in "ab":
        assert [(row, list(event)) for row, event in files[name][0]] == [
            (1, ["user_id", "items", "x"]),
            (2, ["a"]),
            (5, ["b"]),
        ]
        assert files[name][1] == [(3, "7"), (4, '"]"')]
    assert b"1871520000.1754700000" in seen_history(tmp_path / "a").stdout
    assert [event for _, event in files["c"][0]] == many
    (tmp_path / "c").write_text('[{"a":1},{"a":')
    events, marks = lines_of(tmp_path / "c", status=1)
    assert events == [{"a": 1}] and "after element 1 of the array" in marks[-1]["damage"]


def test_workbooks(tmp_path):
    book = {
        "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r='
        '"http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>SHEETS</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        "RELATIONS</Relationships>",
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    }
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"

    def text(cell):
        return (
            f'<c t="inlineStr"><is><t>{cell}</t></is></c>'
            if isinstance(cell, str)
            else f"<c><v>{cell}</v></c>"
        )

    def write(path, *sheets):
        with zipfile.ZipFile(path, "w") as file:
            for name, content in book.items():
                content = content.replace(
                    "SHEETS",
                    "".join(
                        f'<sheet name="s{i}" sheetId="{i + 1}" r:id="r{i}"/>' for i in range(len(sheets))
                    ),
                ).replace(
                    "RELATIONS",
                    "".join(
                        f'<Relationship Id="r{i}" Type="{kind}" Target="worksheets/sheet{i}.xml"/>'
                        for i in range(len(sheets))
                    ),
                )
                file.writestr(name, content)
            for i, rows in enumerate(sheets):
                cells = "".join(f"<row>{''.join(map(text, row))}</row>" for row in rows)
                file.writestr(
                    f"xl/worksheets/sheet{i}.xml",
                    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
                    f"<sheetData>{cells}</sheetData></worksheet>",
                )

    head = ["user_id", "item_id", "exposed_at"]
    rows = [head, [7, "00012", 1763700000123], ["u", 12.5, 2]]
    write(tmp_path / "one.xlsx", rows, [])
    files, _ = parts_of([tmp_path / "one.xlsx"])
    assert files["one.xlsx"][0] == [
        (2, {"user_id": "7", "item_id": "00012", "exposed_at": 1763700000123}),
        (3, {"user_id": "u", "item_id": "12.5", "exposed_at": 2}),
    ]
    write(tmp_path / "two.xlsx", rows, [head, ["v", "n", 3]])
    done = seen_history(tmp_path / "two.xlsx")
    assert done.returncode == 2 and b"two.xlsx: a workbook with several sheets" in done.stderr
    files, _ = parts_of([tmp_path / "two.xlsx"], "--sheet", "s1")
    assert files["two.xlsx"][0] == [(2, {"user_id": "v", "item_id": "n", "exposed_at": 3})]
    for row in (["u", 2**60 + 1, 2], [2**60 + 1, "n", 2]):
        write(tmp_path / "large.xlsx", [*rows, row])
        done = seen_history(tmp_path / "large.xlsx")
        column = "item_id" if row[0] == "u" else "user_id"
        assert done.returncode == 2 and f"column {column}: ids are floating" in done.stderr.decode(), done


def test_a_missing_package_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "")
    (tmp_path / "a.avro").write_bytes(b"Obj\x01")
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "a.orc").write_bytes(b"ORC")
    (tmp_path / "a.csv").write_text("user_id,item_id\nu,1\n")
    for name, module in (
        ("a.xlsx", "python_calamine"),
        ("a.avro", "fastavro"),
        ("a.parquet", "pyarrow.parquet"),
        ("a.orc", "pyarrow.orc"),
        ("a.csv", "pyarrow"),
        ("a.csv", "_lzma"),
        ("a.csv", "_bz2"),
    ):
        script = (
            f"import sys; sys.modules[{module!r}] = None; sys.argv = ['seen-history', {str(tmp_path / name)!r}]\n"
            "from seen_history.command import main; main()"
        )
        done = subprocess.run(
            [CONVERT / "python3", "-c", script], capture_output=True, env=ENVIRONMENT, timeout=60, check=False
        )
        errors = done.stderr.decode()
        assert done.returncode == 2 and len(errors.splitlines()) == 1 and "Remedy" in errors, errors
        assert module.strip("_") in errors and '"error":' in done.stdout.decode().splitlines()[-1]


def test_what_is_packed_otherwise_is_read_or_named(tmp_path):
    rows = b"user_id,item_id\nu,1\n"
    for name, data in (
        ("members.gz", gzip.compress(rows) + gzip.compress(b"v,2\n")),
        ("a.bz2", bz2.compress(rows + b"v,2\n")),
        ("a.xz", lzma.compress(rows + b"v,2\n")),
    ):
        (tmp_path / name).write_bytes(data)
        files, _ = parts_of([tmp_path / name])
        assert [event["user_id"] for _, event in files[name][0]] == ["u", "v"]
    write_with(
        "import pyarrow as pa\n"
        "for kind, name in (('zstd', 'a.zst'), ('lz4', 'a.lz4')):\n"
        f"    open(name, 'wb').write(b''.join(pa.compress(each, kind, asbytes=True) for each in ({rows!r}, b'v,2\\n')))",
        tmp_path,
    )
    for name in ("a.zst", "a.lz4"):
        files, _ = parts_of([tmp_path / name])
        assert [event["user_id"] for _, event in files[name][0]] == ["u", "v"]
    frames = (tmp_path / "a.zst").read_bytes()
    (tmp_path / "pzstd.zst").write_bytes(b"\x50\x2a\x4d\x18\x04\0\0\0size" + frames)
    files, _ = parts_of([tmp_path / "pzstd.zst"])
    assert [event["user_id"] for _, event in files["pzstd.zst"][0]] == ["u", "v"]
    for name, rest in (("zeros.gz", bytes(512)), ("text.gz", b"text\n")):
        path = tmp_path / name
        path.write_bytes(gzip.compress(rows + b"v,2\n") + rest)
        events, marks = lines_of(path, status=name == "text.gz")
        assert [event["user_id"] for event in events] == ["u", "v"], "the rows before a defect come first"
        assert ("damage" in marks[-1]) == (name == "text.gz"), marks
    (tmp_path / "cut.zst").write_bytes(frames[:-6])
    assert b"cut off or broken" in seen_history(tmp_path / "cut.zst").stdout
    with tarfile.open(tmp_path / "it's.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "a.xz", "x")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("a.csv", rows)
    (tmp_path / "twice.gz").write_bytes(gzip.compress(gzip.compress(rows)))
    (tmp_path / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(40))
    (tmp_path / "a.bin").write_bytes(b"ab\x01\0\0\0\0cdefghijklmnopqrstuvw" * 40)
    for name, words in (
        ("it's.tar.gz", "tar xf '"),
        ("a.zip", "unzip"),
        ("twice.gz", "packed twice"),
        ("a.7z", "7z x"),
        ("a.bin", "no table"),
    ):
        done = seen_history(tmp_path / name)
        assert done.returncode == 2 and words in done.stderr.decode() and name in done.stderr.decode()


def test_all_streams_of_a_packed_file_are_read_or_the_file_is_damaged(tmp_path):
    def rows(user, packed):
        return packed(b"".join(b"%s%d,n\n" % (user, i) for i in range(1000)))

    def flipped(stream, at):
        return stream[:at] + bytes([stream[at] ^ 1]) + stream[at + 1 :]

    packers = {"xz": lzma.compress, "bz2": bz2.compress, "gz": gzip.compress}
    write_with(
        "import pyarrow as pa\nfor kind in ('zstd', 'lz4'):\n"
        "  for name, text in (('head', 'user_id,item_id\\n'), *((u, ''.join(f'{u}{i},n\\n' for i in range(1000))) for u in 'abc')):\n"
        "    open(f'{name}.{kind}', 'wb').write(pa.compress(text.encode(), kind, asbytes=True))",
        tmp_path,
    )
    streams = {
        kind: [packed(b"user_id,item_id\n"), *(rows(user, packed) for user in (b"a", b"b", b"c"))]
        for kind, packed in packers.items()
    }
    for kind in ("zstd", "lz4"):
        streams[kind] = [(tmp_path / f"{name}.{kind}").read_bytes() for name in ("head", "a", "b", "c")]
    for kind, (head, a, b, c) in streams.items():
        padded = {"xz": (4, 8, 1 << 18), "gz": (3, 512, 1 << 18)}.get(kind, ())
        whole = {"whole": head + a + b + c}
        whole |= {f"{zeros}-within": head + a + bytes(zeros) + b + c for zeros in padded}
        whole |= {f"{zeros}-behind": head + a + b + c + bytes(zeros) for zeros in padded}
        if kind in ("zstd", "lz4"):
            whole["skipped"] = head + a + b"\x51\x2a\x4d\x18\x04\0\0\0skip" + b + c
        broken = {f"flip-{at}": head + a + flipped(b, at) + c for at in (0, 1, 2)}
        broken |= {f"cut-{size}": head + a + b[:size] for size in (1, 2, 3, 5, 12, len(b) - 1)}
        broken |= {"garbage": head + a + b + c + b"garbage", "1-garbage": head + a + b + c + b"x"}
        broken["zeros"] = head + a + b + c + bytes(6) + b"x" * (kind == "gz")
        broken["zeros-within"] = head + a + bytes(6) + b"x" * (kind == "gz") + b + c
        for folder, files in (("whole", whole), ("broken", broken)):
            (tmp_path / folder).mkdir(exist_ok=True)
            for name, data in files.items():
                (tmp_path / folder / f"{name}.csv.{kind}").write_bytes(data)
    files, _ = parts_of([tmp_path / "whole"])
    users = [f"{user}{i}" for user in "abc" for i in range(1000)]
    for name, (events, _) in files.items():
        assert (name, [event["user_id"] for _, event in events]) == (name, users)
    done = seen_history(tmp_path / "broken")
    errors = done.stderr.decode()
    missing = [path for path in (tmp_path / "broken").iterdir() if f"{path}: cut off or broken" not in errors]
    assert done.returncode == 1 and missing == []


def test_parts_without_rows_are_named_and_a_run_of_them_is_no_success(tmp_path):
    (tmp_path / "a.csv").write_text("user_id,item_id\n")
    (tmp_path / "b.csv").write_text("user_id,item_id\nu,1\n")
    files, errors = parts_of([tmp_path])
    assert files["b.csv"][0] and f"{tmp_path / 'a.csv'}: has no row" in errors
    done = seen_history(tmp_path / "a.csv")
    assert done.returncode == 2 and "a.csv: no row" in done.stderr.decode()


def shown_by(main, terminal):
    """What programs have written to the terminal since the last call. One read may give a part only."""
    end = b"(the end)"
    os.write(terminal, end)
    shown = b""
    while not shown.endswith(end):
        shown += os.read(main, 1 << 16)
    return shown.removesuffix(end).decode()


def test_a_terminal_gets_nothing_that_controls_it(tmp_path):
    (tmp_path / "a.csv").write_text(HEAD + "u\x1b[2J,n\x7f,1,\x9b2J\nu,\x1b[2J\n", encoding="utf-8")
    (tmp_path / "no\x1b[2J").write_text("Jane Doe,jane@example.org,1\n")
    main, terminal = pty.openpty()
    for name, status in (("a.csv", 3), ("no\x1b[2J", 2)):
        command = [CONVERT / "python3", "-m", "seen_history", tmp_path / name]
        done = subprocess.run(
            command,
            stdout=terminal,
            stderr=terminal,
            stdin=terminal,
            env=ENVIRONMENT,
            timeout=60,
            check=False,
        )
        said = shown_by(main, terminal)
        assert done.returncode == status and said, said
        assert all(each.isprintable() or each in "\r\n" for each in said) and "Jane" not in said, said


def test_rejects_that_replay_decides_have_file_and_row_too(tmp_path):
    (tmp_path / "day.csv").write_bytes(
        (HEAD + "u,a,1763700000123,t\n\\N,b,1763700000123,t\n\nu,c\nNULL,d,x,t\n").encode()
        + b"u,\xff,1763700000123,\xff\nu,e,1763700000123,caf\xff \xe6\x96\xb0\xe6\x96\xb0\xe6\x96\xb0\xe6\x96\xb0\n"
    )
    lines = seen_history(tmp_path / "day.csv", "--encoding", "utf-8").stdout
    said = run(
        "replay",
        "-",
        dry_run=True,
        quiet=True,
        rejects=tmp_path / "rejects",
        rejects_max="100%",
        brokers=f"127.0.0.1:{free_port()}",
        stdin=lines,
        status=1,
    )[0]
    rejects = [json.loads(line) for line in (tmp_path / "rejects").read_text(errors="replace").splitlines()]
    assert {reject["file"] for reject in rejects} == {str(tmp_path / "day.csv")}
    assert [(reject["row"], reject["reason"]) for reject in rejects] == [
        (3, "wrong_type"),
        (5, "not_a_row"),
        (6, "wrong_type"),
        (7, "invalid_utf8"),
    ]
    assert "events                2\n" in said, "a bad byte in a text that is no id loses no event"


def test_a_row_that_is_no_utf8_and_no_row_is_one_reject(tmp_path):
    (tmp_path / "day.csv").write_bytes(HEAD.encode() + b'u,a,1763700000123,t\nu,"n\xff,1,t\nu,b\xff\n')
    lines = seen_history(tmp_path / "day.csv", "--encoding", "utf-8").stdout
    command = {"dry_run": True, "quiet": True, "rejects": tmp_path / "rejects", "rejects_max": "100%"}
    run("replay", "-", brokers=f"127.0.0.1:{free_port()}", stdin=lines, status=1, **command)
    rejects = [json.loads(line) for line in (tmp_path / "rejects").read_text().splitlines()]
    assert [(reject["reason"], reject["text"]) for reject in rejects] == [
        ("not_a_row", 'u,"n\ufffd,1,t'),
        ("not_a_row", "u,b\ufffd"),
    ]


def test_snappy_and_zstd_blocks_of_avro(tmp_path):
    write_with(
        """
import io, json, zlib, fastavro, pyarrow as pa
schema = {"type": "record", "name": "E", "fields": [{"name": each, "type": "string"} for each in ("user_id", "item_id")]}
header = {"type": "record", "name": "H", "fields": [{"name": "meta", "type": {"type": "map", "values": "bytes"}}]}
block = {"type": "record", "name": "B", "fields": [{"name": "count", "type": "long"}, {"name": "data", "type": "bytes"}]}
rows = io.BytesIO()
for i in range(500):
    fastavro.schemaless_writer(rows, schema, {"user_id": f"u{i}", "item_id": "n"})
for codec, name in (("snappy", "snappy"), ("zstandard", "zstd")):
    data = pa.compress(rows.getvalue(), name, asbytes=True)
    data += zlib.crc32(rows.getvalue()).to_bytes(4, "big") if codec == "snappy" else b""
    with open(codec, "wb") as file:
        file.write(b"Obj\\x01")
        fastavro.schemaless_writer(
            file, header, {"meta": {"avro.schema": json.dumps(schema).encode(), "avro.codec": codec.encode()}})
        file.write(bytes(16))
        fastavro.schemaless_writer(file, block, {"count": 500, "data": data})
        file.write(bytes(16))
""",
        tmp_path,
    )
    files, _ = parts_of([tmp_path])
    for codec in ("snappy", "zstandard"):
        assert files[codec][0] == [(i + 1, {"user_id": f"u{i}", "item_id": "n"}) for i in range(500)]


def test_only_a_terminal_gets_a_bar_and_only_outside_of_a_pipe(tmp_path):
    (tmp_path / "a.csv").write_text(table(",")[0])
    script = f"import sys; from seen_history import command; command.REDRAW_S = 0; sys.argv[1:] = [{str(tmp_path / 'a.csv')!r}]; command.main()"
    main, terminal = pty.openpty()
    said = {}
    with open(tmp_path / "lines", "wb") as file:
        for name, output, errors in (
            ("file", file, terminal),
            ("pipe", subprocess.PIPE, terminal),
            ("log", file, subprocess.PIPE),
        ):
            command = [CONVERT / "python3", "-c", script]
            done = subprocess.run(
                command, stdout=output, stderr=errors, env=ENVIRONMENT, timeout=60, check=True
            )
            said[name] = shown_by(main, terminal) if errors == terminal else done.stderr.decode()
    assert "[########################] 100% 3 rows" in said["file"] and "\x1b" in said["file"]
    assert said["pipe"] == "" and said["log"] == ""
