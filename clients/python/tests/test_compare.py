"""seen-compare's parts by tables of cases. tests/system/test_compare.py drives the whole tool."""

import collections
import datetime
import gzip
import http.server
import json
import threading
import types

import pytest
import zstandard
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from seen_compare import Problem, Stopped, WrongArgument
from seen_compare.__main__ import make_parser
from seen_compare.compare_run import Report
from seen_compare.comparison import SHARES, Agreement, Comparison, Difference, share_bin
from seen_compare.old_filters import OldAnswer, RouteFilter, read_old_answer
from seen_compare.page import report_page
from seen_compare.reasons import Reason, Side, reason_of
from seen_compare.redis_filter import RedisFilter, keys_of, parse_time, problem_of, time_of_score
from seen_compare.report import percent_text, report_json, report_text
from seen_compare.request_file import Request, RequestFile, parse_request, read_lines

DAY_MS = 86_400_000
NOW_MS = 1_763_700_000_000  # 2025-11-21T04:40:00Z


def options(*arguments):
    return make_parser().parse_args(["requests", *map(str, arguments)])


def parsed(text):
    return parse_request(text.encode(), collections.Counter())


@pytest.mark.parametrize("option", ["--page", "--token-file", "--answers"])
def test_an_empty_value_is_a_wrong_argument(option, capsys):
    with pytest.raises(SystemExit) as ended:
        options(option, "")
    assert ended.value.code == 2 and f"argument {option}: empty" in capsys.readouterr().err


# --- Requests and answers


def test_a_request_has_the_members_of_unseen():
    unused = collections.Counter()
    request = parse_request(
        b'{"user_id":"u1","filter":"feed","items":["a",7,{"id":"b","created_at":1763690000000},"a","c"],'
        b'"also_seen":["c"],"request_id":"r-1"}',
        unused,
    )
    assert (request.user_id, request.filter, request.items) == ("u1", "feed", ["a", "7", "b"])
    assert request.created_ms == {"b": 1763690000000}
    assert (request.repeated, request.also_seen, unused) == (1, 1, {"request_id": 1})


def test_of_an_item_that_comes_twice_the_latest_time_counts():
    twice = parsed('{"user_id":"u","items":["a",{"id":"a","created_at":5000},{"id":"a","created_at":3000}]}')
    assert twice.created_ms == {"a": 5000}
    assert parsed('{"user_id":"u","items":["a"]}').created_ms == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nothing", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"items":["a"]}', "$.user_id: missing"),
        ('{"user_id":1.5,"items":["a"]}', "$.user_id: expected a string or an integer"),
        ('{"user_id":true,"items":["a"]}', "$.user_id: expected a string or an integer"),
        ('{"user_id":"","items":["a"]}', "$.user_id: an id has 1 to 512 bytes"),
        ('{"user_id":"\\ud800","items":["a"]}', "$.user_id: not valid Unicode"),
        ('{"user_id":"u"}', "$.items: missing"),
        ('{"user_id":"u","items":{}}', "$.items: expected an array"),
        ('{"user_id":"u","items":[]}', "$.items: empty: there is nothing to compare"),
        ('{"user_id":"u","items":["a",null]}', "$.items[1]: expected a string or an integer"),
        ('{"user_id":"u","items":[{"created_at":1}]}', "$.items[0].id: missing"),
        (
            '{"user_id":"u","items":[{"id":"a","created_at":-1}]}',
            "$.items[0].created_at: expected ms since the epoch",
        ),
        ('{"user_id":"u","items":["a"],"also_seen":"b"}', "$.also_seen: expected an array"),
        ('{"user_id":"u","items":["a"],"filter":7}', "$.filter: expected the name of a filter"),
    ],
)
def test_a_bad_request_says_what_is_wrong(text, problem):
    with pytest.raises(Problem) as raised:
        parsed(text)
    assert str(raised.value) == problem


def test_files_of_requests_name_file_and_line_and_count_all_lines(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text('\n{"user_id":"u1","items":["a"]}\r\nbad\n', newline="")
    second.write_text('{"user_id":"u2","items":["a"]}')
    file = RequestFile([str(first), str(second)])
    (_, one), (bad_place, bad), (_, three) = file
    assert one.place == f"{first}:2" and one.line == b'{"user_id":"u1","items":["a"]}'
    assert bad_place == f"{first}:3" and str(bad) == "not a JSON object"
    assert three.place == f"{second}:1" and three.number == file.lines == 3
    with pytest.raises(WrongArgument, match="none"):
        RequestFile([str(first), str(tmp_path / "none")])


def frames(text):
    return zstandard.compress(text[:50]) + zstandard.compress(text[50:])


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.compress, frames])
def test_files_may_be_compressed_and_are_never_cut_off_in_silence(tmp_path, compress):
    path = tmp_path / "file"
    lines = [b"line %d" % i for i in range(50_000)]
    path.write_bytes(compress(b"\n".join(lines)))
    assert [line for _, line in read_lines(str(path))] == lines
    if compress is not bytes:
        path.write_bytes(path.read_bytes()[:-3])
        with pytest.raises(Stopped, match=str(path)):
            list(read_lines(str(path)))


def test_an_old_answer_lists_what_is_dropped_or_kept():
    request = Request("7", ["a", "b", "c"])
    assert read_old_answer(b'{"user_id":7,"dropped":["b"]}', request).dropped == {"b"}
    assert read_old_answer(b'{"kept":[{"id":"a"},{"item_id":"c"}]}', request).dropped == {"b"}
    assert read_old_answer(b'{"dropped":["x",5]}', request).unknown_items == 2
    for text in (
        "",
        "{}",
        '{"dropped":[],"kept":[]}',
        '{"dropped":{}}',
        '{"dropped":[null]}',
        '{"user_id":"8","dropped":[]}',
    ):
        with pytest.raises(Problem):
            read_old_answer(text.encode(), request)


# --- The old filter in Redis, and behind HTTP


def test_a_pattern_puts_in_each_place_once():
    day = datetime.date(2025, 11, 21)
    assert keys_of("seen:{user}", "u{filter}", "feed", day, 7) == ["seen:u{filter}"]
    assert keys_of("{{user}}:{filter}:{other}", "u", "feed", day, 1) == ["{u}:feed:{other}"]
    assert keys_of("{day}/{user}", "u", "", day, 2) == ["2025-11-21/u", "2025-11-20/u"]
    assert keys_of("{yyyymmdd}{user}{", "u", "", day, 1) == ["20251121u{"]


def test_scores_are_seconds_or_milliseconds():
    assert time_of_score(1763690000) == 1763690000000
    assert time_of_score(1763690000123) == 1763690000123
    assert time_of_score(1763690000.5) == 1763690000500
    for score in (0.0, -5.0, 1.0, 999.0, 1e300, 1e16):
        assert time_of_score(score) == 0, score


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1763690000000", 1763690000000),
        ("2025-11-21", NOW_MS - NOW_MS % DAY_MS),
        ("2025-11-21T04:40:00Z", NOW_MS),
        ("30d", NOW_MS - 30 * DAY_MS),
        ("15m", NOW_MS - 900_000),
    ],
)
def test_times_of_the_command_line(text, ms):
    assert parse_time("--since", text, NOW_MS) == ms
    for wrong in ("", "d", "-1d", f"{text}x"):
        with pytest.raises(WrongArgument, match="--since"):
            parse_time("--since", wrong, NOW_MS)


@pytest.mark.parametrize(
    ("error", "command", "kind", "remedy"),
    [
        (AuthenticationError("Authentication required."), "ZMSCORE", Stopped, "--redis-password-file"),
        (ResponseError("NOAUTH Authentication required."), "ZMSCORE", Stopped, "--redis-password-file"),
        (AuthenticationError("invalid username-password pair"), "ZMSCORE", Stopped, "check the password"),
        (ResponseError("WRONGPASS invalid username-password"), "ZMSCORE", Stopped, "check the password"),
        (NoPermissionError("this user has no permissions"), "ZMSCORE", Stopped, "ACL SETUSER"),
        (ResponseError("unknown command 'BF.MEXISTS'"), "BF.MEXISTS", Stopped, "load the module RedisBloom"),
        (ResponseError("ERR unknown command 'ZMSCORE'"), "ZMSCORE", Stopped, "use Redis 6.2"),
        (ResponseError("MOVED 3999 10.0.0.1:6381"), "ZMSCORE", Stopped, "Redis Cluster"),
        (ResponseError("WRONGTYPE Operation against a key"), "ZMSCORE", Problem, "ZMSCORE sorted sets"),
        (ResponseError("LOADING Redis is loading the dataset"), "ZMSCORE", Problem, "LOADING"),
    ],
)
def test_what_redis_refuses_has_a_remedy(error, command, kind, remedy):
    problem = problem_of(error, command, "seen:u")
    assert type(problem) is kind and remedy in str(problem)


def test_a_redis_that_isnt_there_is_named():
    for command in ("bf.mexists", "ZMSCORE", "SMIsMember"):
        with pytest.raises(Stopped, match="127.0.0.1:1"):
            RedisFilter(options("--redis", "127.0.0.1:1", "--redis-command", command), NOW_MS)
    for wrong in (("--redis", "127.0.0.1:x"), ("--redis", "127.0.0.1:1", "--redis-command", "FLUSHALL")):
        with pytest.raises(WrongArgument, match=wrong[-2]):
            RedisFilter(options(*wrong), NOW_MS)


def test_a_route_gets_the_line_and_its_list_is_read(tmp_path):
    asked, answers = [], [(200, '{"kept":["b"]}'), (200, '{"other":1}'), (429, "{}")]

    class Server(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, self.headers["X-Token"], body))
            status, answer = answers[len(asked) - 1]
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    headers = tmp_path / "headers"
    headers.write_text("X-Token: t0ken\r\n\n")
    url = f"http://127.0.0.1:{server.server_port}/{{filter}}/{{user}}?x=1"
    route = RouteFilter(options("--route", url, "--route-kept", "/kept", "--route-headers", headers))
    line = b'{"user_id":"u","items":["a","b"]}'
    first, second, third = route.ask([Request(u, ["a", "b"], "feed", line=line) for u in ("u/1", "u2", "u3")])
    for connection in route.http.free:
        connection.close()
    server.shutdown()
    server.server_close()
    assert first.dropped == {"a"}
    assert asked[0] == ("/feed/u%2F1?x=1", "t0ken", line)
    assert "nothing at /kept" in str(second) and "answers 429" in str(third)


def test_wrong_options_of_a_route_are_refused_without_showing_a_secret(tmp_path):
    headers = tmp_path / "headers"
    headers.write_text("t0ken\n")
    url = "http://127.0.0.1:1/x"
    for wrong, words in (
        (("--route", url), "--route-kept"),
        (("--route", url, "--route-kept", "kept"), "JSON pointer"),
        (("--route", "ftp://x/", "--route-dropped", "/d"), "--route: "),
        (("--route", url, "--route-kept", "/kept", "--route-headers", headers), "--route-headers"),
    ):
        with pytest.raises(WrongArgument, match=words) as raised:
            RouteFilter(options(*wrong))
        assert "t0ken" not in str(raised.value)
    RouteFilter(options("--route", url, "--route-kept", "/kept"))


# --- Counting


def request_of(number, filter_name, items):
    names = [f"i{i}" for i in range(items)]
    return Request(f"u{number}", names, filter_name, number=number, place=f"r:{number}")


def test_counts_by_filter_and_keeps_differences():
    comparison = Comparison(10, seed=1)
    old = OldAnswer(dropped={"i0", "i1"}, unknown_items=1)
    comparison.add(request_of(1, "a", 4), old, {"i0", "i2"})
    comparison.add(request_of(2, "b", 4), old, {"i0", "i1"})
    total = comparison.total
    assert total == Agreement(both=3, neither=3, only_old=1, only_new=1) and total.candidates == 8
    assert total.share == 0.75 and comparison.by_filter["a"].share == 0.5 and Agreement().share == 1
    assert comparison.requests_that_differ == 1 and comparison.unknown_items == 2
    assert [d.item_id for d in comparison.only_old.in_order()] == ["i1"]
    assert [d.item_id for d in comparison.only_new.in_order()] == ["i2"]
    assert comparison.old_shares[5] == 2 and len(comparison.users) == 2


def test_differences_are_sampled_evenly_in_bounded_memory():
    requests, kept_max = 20_000, 1_000
    comparison, none = Comparison(kept_max, seed=7), Comparison(0, seed=7)
    for number in range(1, requests + 1):
        comparison.add(request_of(number, "a", 1), OldAnswer({"i0"}), set())
    none.add(request_of(1, "a", 1), OldAnswer({"i0"}), set())
    kept = comparison.only_old.in_order()
    assert comparison.only_old.total == requests and len(kept) == kept_max
    first_half = sum(difference.number <= requests / 2 for difference in kept)
    assert abs(first_half - kept_max / 2) < 80, "five standard deviations"
    assert none.only_old.total == 1 and none.only_old.in_order() == []


def test_bins_begin_above_their_lower_end():
    for dropped, candidates, share in (
        (0, 10, "nothing"),
        (1, 1000, "up to 10%"),
        (1, 10, "up to 10%"),
        (11, 100, "10 to 20%"),
        (10, 10, "over 90%"),
    ):
        assert SHARES[share_bin(dropped, candidates)] == share
    assert len(SHARES) == 11


# --- Reasons


def why(because, **more):
    seen = because in ("exposed", "served")
    none = dict.fromkeys(("in_snapshot", "similar", "removed_until", "erased_until", "exposures", "journal"))
    return {"item": "a", "segments": [], **none, "because": because, "seen": seen, **more}


def segment(kind, days_ago, counts):
    return {"kind": kind, "last_at_ms": NOW_MS - days_ago * DAY_MS, "counts": counts}


def reason_key(is_old, answer, segments=None, **more):
    return reason_of(Difference(is_old, **more), answer, lambda: segments, NOW_MS).key


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        (why("served"), "served"),
        (why("similar"), "similar"),
        (why("false_positive", false_positive_of="fingerprint"), "fingerprint_collision"),
        (why("false_positive", false_positive_of="filter"), "changed_meanwhile"),
        (why("not_seen"), "changed_meanwhile"),
        *(
            (why("exposed", segments=[segment(kind, days, True), segment("exposed", 29, True)]), key)
            for kind, days, key in (
                ("exposed", 0, "exposed_today"),
                ("exposed", 1, "exposed_1_to_6_days_ago"),
                ("exposed", 7, "exposed_7_to_29_days_ago"),
                ("click", 6, "click_1_to_6_days_ago"),
            )
        ),
    ],
)
def test_the_reason_of_what_only_this_filter_drops_is_what_why_says(answer, key):
    assert reason_key(False, answer) == key


def test_the_reason_of_what_is_kept_but_does_not_count():
    asked = []
    kept = why("not_seen", segments=[segment("exposed", 31, False)])
    at = kept["segments"][0]["last_at_ms"]
    holds = {"kind": "repeated", "from_ms": at, "to_ms": at + 1, "in_window": False}
    reason_of(Difference(True), kept, lambda: asked.append(1), NOW_MS)
    reason_of(Difference(True), why("not_seen"), lambda: asked.append(2), NOW_MS)
    assert asked == [1], "segments are asked for only where they are needed"
    assert reason_key(True, kept) == "window_left"
    assert reason_key(True, kept, {"segments": [holds]}) == "window_left"
    assert reason_key(True, kept, {"segments": [{**holds, "in_window": True}]}) == "not_enough"
    assert reason_key(True, why("not_seen", segments=[segment("served", 1, False)])) == "served_ended"


@pytest.mark.parametrize(
    ("more", "old_since_ms", "key"),
    [
        ({"removed_until": "2025-11-20"}, 0, "taken_back"),
        ({"erased_until": "2025-11-20"}, 0, "erased"),
        ({"exposures": [{"kind": "exposed"}], "journal": {"whole_from": None}}, 0, "window_left"),
        ({"exposures": [], "journal": {"whole_from": None}}, 0, "never_shown"),
        ({"exposures": [], "journal": {"whole_from": "2025-10-22"}}, 0, "never_shown"),
        ({"exposures": [], "journal": {"whole_from": "2025-10-23"}}, 0, "not_known"),
        ({"exposures": [], "journal": {"whole_from": "2025-11-20"}}, NOW_MS - DAY_MS, "never_shown"),
        (
            {"exposures": [], "journal": {"whole_from": "2025-11-21"}},
            NOW_MS - DAY_MS,
            "not_known_old_since_1_to_6_days_ago",
        ),
        ({}, 0, "not_known"),
    ],
)
def test_the_reason_of_what_is_not_kept_at_all(more, old_since_ms, key):
    assert reason_key(True, why("not_seen", **more), old_since_ms=old_since_ms) == key


def test_the_reason_of_what_is_seen_after_all():
    seen = why("exposed", segments=[segment("exposed", 3, True)])
    assert reason_key(True, seen) == "changed_meanwhile"
    assert reason_key(True, seen, has_created_at=True) == "created_later"
    assert reason_key(True, why("similar")) == "similar_demoted"
    with pytest.raises(KeyError):
        reason_key(True, {})


# --- The report and the page


def sample():
    comparison = Comparison(10, seed=1)
    comparison.by_filter["default"] = Agreement(both=10, neither=80, only_old=6, only_new=4)
    comparison.old_shares[2] = comparison.new_shares[1] = comparison.requests = 3
    difference = Difference(True, 1, "r:1", "</text><script>x</script>\x1b[31m", "default", "\"'&")
    reason = Reason("never_shown", "never <shown>")
    report = Report(comparison, at_ms=NOW_MS, old_filter="Redis at <b>", new_filter="seen")
    report.only_old = Side(items=6, asked=3, reasons=[(reason, 3)], examples=[(difference, reason)])
    report.only_new = Side(items=4)
    return report


def test_rounding_never_hides_a_difference():
    for part, whole, text in (
        (999_999, 1_000_000, "99.99%"),
        (1, 1_000_000, "<0.01%"),
        (1, 1, "100.00%"),
        (0, 0, "0.00%"),
    ):
        assert percent_text(part, whole) == text


def test_a_report_says_whether_all_was_compared():
    report = sample()
    assert report.is_complete and report_json(report)["complete"]
    report.without_new = 1
    assert not report.is_complete
    assert not Report(Comparison(1, seed=1), at_ms=0).is_complete, "nothing was compared"
    report.without_new, report.stopped = 0, "interrupted"
    assert not report.is_complete and "stopped early: interrupted" in report_text(report)
    assert "nothing was compared" in report_text(Report(Comparison(1, seed=1), at_ms=0))


def test_a_report_is_the_same_as_text_and_as_json():
    text, told = report_text(sample()), report_json(sample())
    assert "100 candidates: the filters agree on 90 (90.00%)" in text
    assert "only the old filter drops 6 (6.00% of the candidates); reasons of 3 of them" in text
    assert "\x1b" not in text, "an id doesn't command a terminal"
    assert told["total"]["only_old_drops"] == 6 and told["total"]["agreement"] == 0.9
    assert told["only_old_drops"]["reasons"][0]["reason"] == "never_shown"
    assert told["dropped_shares"][2]["old_requests"] == 3
    assert json.loads(json.dumps(told)) == told


def test_a_page_has_three_charts_and_no_foreign_markup():
    page = report_page(sample())
    empty = report_page(Report(Comparison(1, seed=1), at_ms=0))
    counts = types.SimpleNamespace(
        **{name: page.count(f"<{name}") for name in ("svg", "script", "b>", "shown>")}
    )
    assert counts.svg == page.count("</svg>") == empty.count("<svg") == 3
    assert counts.script == getattr(counts, "b>") == getattr(counts, "shown>") == 0
    assert "90.00% of 100 candidates" in page
    assert "about 6 (100.00%)" in page, "the reasons of three stand for six"
    assert "&lt;/text&gt;&lt;script&gt;" in page and "\x1b" not in page
