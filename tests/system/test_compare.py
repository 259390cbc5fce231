"""seen-compare (clients/python): it finds planted differences between an old filter and a real daemon, and
their reasons."""

import collections
import gzip
import html.parser
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
import warnings

import pytest

from certificates import Authority
from http_json import user_path
from oracle import DAY_MS, event
from places import SOURCE, now_ms, wait_until
from redis_server import RedisServer, start_with_bloom

HOSTILE = "<script>alert(1)</script>&\"'"
USERS = [f"u{i}" for i in range(30)] + [HOSTILE]
CONFIG = {
    "filters": [{"name": "default", "window_days": 30, "snapshot": None}],
    "store": {"explain_days": 60},
}


def run(*arguments, status=0, environment=None):
    """Runs the tool with the libraries of scripts/packages/compare-python.txt. Returns (standard output,
    standard error). Fails unless the exit status is `status`."""
    done = subprocess.run(
        [SOURCE / "build" / "compare-tools" / "bin" / "python", "-m", "seen_compare", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(SOURCE / "clients" / "python" / "src"), **(environment or {})},
    )
    assert done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout, done.stderr


def run_json(*arguments, status=0):
    return json.loads(run(*arguments, "--json", "--quiet", status=status)[0])


class Scene:
    """The input of the daemon and of the old filter, the requests, and the expected differences."""

    def __init__(self, seend, folder):
        self.seend, self.folder = seend, folder
        self.old = collections.defaultdict(dict)  # user -> item -> ms
        self.records, self.requests = [], []
        self.only_old, self.only_new = {}, {}  # (user, item) -> reason
        now = now_ms()
        for user in USERS:
            shown = [f"{user}-shown-{i}" for i in range(8)]
            for i, item in enumerate(shown):
                self.show(user, item, now - i * DAY_MS // 2)
                self.old[user][item] = now - i * DAY_MS // 2
            self.requests.append((user, [*shown[:5], *(f"{user}-new-{i}" for i in range(15))]))
        self.plant_new("u1", "today", now, "exposed_today")
        self.plant_new("u2", "days-ago", now - 3 * DAY_MS, "exposed_1_to_6_days_ago")
        self.plant_new("u2", "weeks-ago", now - 20 * DAY_MS, "exposed_7_to_29_days_ago")
        self.plant_new(HOSTILE, "</svg><b>item", now, "exposed_today")
        self.plant_new("u3", "returned", now, "served", kind="served")
        for i in range(3):
            self.plant_old(f"u{4 + i}", f"error-{i}", now - 40 * DAY_MS, "never_shown")
        self.plant_old("u7", "removed", now - DAY_MS, "taken_back")
        self.show("u7", "removed", now - DAY_MS)
        self.plant_old("u8", "expired", now - 31 * DAY_MS, "window_left")
        self.show("u8", "expired", now - 31 * DAY_MS)

    def show(self, user, item, at, **more):
        self.records.append((user, event(user, item, at, **more)))

    def ask(self, user, item):
        self.requests[USERS.index(user)][1].append(item)

    def plant_new(self, user, item, at, reason, **more):
        self.show(user, item, at, **more)
        self.ask(user, item)
        self.only_new[user, item] = reason

    def plant_old(self, user, item, at, reason):
        self.old[user][item] = at
        self.ask(user, item)
        self.only_old[user, item] = reason

    def write(self, name, lines):
        path = self.folder / name
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    def request_file(self, name="requests.jsonl"):
        return self.write(name, [{"user_id": user, "items": items} for user, items in self.requests])

    def arguments(self, *more, requests=None):
        return [requests or self.request_file(), "--http", self.seend.url, *more]

    def compare(self, *more, status=0, requests=None):
        return run_json(*self.arguments(*more, requests=requests), status=status)

    def check(self, report):
        """Checks that the report has all planted differences and no others."""
        total = report["total"]
        candidates = sum(len(items) for _, items in self.requests)
        assert report["complete"] and report["requests"] == len(USERS) == report["users"]
        assert total["candidates"] == candidates
        assert total["both_drop"] == 5 * len(USERS)
        assert (total["only_old_drops"], total["only_new_drops"]) == (len(self.only_old), len(self.only_new))
        assert total["agreement"] == pytest.approx(1 - (len(self.only_old) + len(self.only_new)) / candidates)
        for side, planted in (("only_old_drops", self.only_old), ("only_new_drops", self.only_new)):
            found = {(e["user_id"], e["item_id"]): e["reason"] for e in report[side]["examples"]}
            assert found == planted, side
            reasons = {r["reason"]: r["items"] for r in report[side]["reasons"]}
            assert reasons == collections.Counter(planted.values())
        assert sum(b["old_requests"] for b in report["dropped_shares"]) == len(USERS)
        assert sum(b["new_requests"] for b in report["dropped_shares"]) == len(USERS)


@pytest.fixture(scope="module")
def scene(kafka, topics, tmp_path_factory):
    """One daemon for the whole module, because no test changes it."""
    from seend import Seend

    folder = tmp_path_factory.mktemp("compare")
    topic = topics.create(f"compare-{now_ms()}", partitions=3, retention_ms=-1)
    seend = Seend(folder, topics, topic, CONFIG)
    try:
        # The daemon starts with a longer window. Some items then lie outside the shorter one.
        seend.config["filters"] = [{**CONFIG["filters"][0], "window_days": 60}]
        made = Scene(seend.start(), folder)
        topics.produce(topic, made.records)
        seend.wait_at_rest()
        seend.stop()
        seend.config["filters"] = CONFIG["filters"]
        seend.start()
        assert seend.http.post("/v1/users/u7/removed", {"items": ["removed"]}).status == 202
        seend.wait_at_rest()
        yield made
    finally:
        seend.close()


@pytest.fixture
def server(tmp_path):
    made = []

    def start(*arguments):
        made.append(RedisServer(tmp_path, *arguments))
        assert made[-1].wait_ready(), made[-1].log_path.read_text()
        return made[-1]

    yield start
    for one in made:
        one.close()


def fill_sorted_sets(client, old, unit_ms=1):
    for user, items in old.items():
        client.zadd(f"seen:{user}", {item: at // unit_ms for item, at in items.items()})


def test_a_real_redisbloom_and_this_filter_are_compared(scene, tmp_path):
    server, with_bloom = start_with_bloom(tmp_path)
    try:
        client = server.client()
        if with_bloom:
            for user, items in scene.old.items():
                client.execute_command("BF.RESERVE", f"seen:{user}", 1e-6, 1000)
                client.execute_command("BF.MADD", f"seen:{user}", *items)
            command = "BF.MEXISTS"
        else:
            warnings.warn("redisbloom.so doesn't load here: sorted sets are compared instead")
            fill_sorted_sets(client, scene.old)
            command = "ZMSCORE"
        page = tmp_path / "compare.html"
        report = scene.compare("--redis", server.address, "--redis-command", command, "--page", page)
        scene.check(report)
        check_page(page.read_text(), scene, report)
        text = run(*scene.arguments("--redis", server.socket, "--redis-command", command, "--quiet"))[0]
        total = report["total"]
        assert (
            f"{total['candidates']} candidates: the filters agree on {total['both_drop'] + total['neither_drops']}"
            in text
        )
        assert f"only the old filter drops {len(scene.only_old)}" in text
        assert f"only this filter drops {len(scene.only_new)}" in text
        assert "never shown to this user according to the journal" in text
    finally:
        server.close()


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = collections.Counter(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def check_page(text, scene, report):
    page = Page(text)
    assert page.tags["svg"] == 3 and page.tags["script"] == 0 and page.tags["b"] == 0
    assert not {name for name, _ in page.attributes} & {"src", "href", "onload", "onclick"}
    words = "\n".join(page.texts)
    total = report["total"]
    percent = f"{total['agreement'] * 100:.2f}%"
    assert f"The two filters agree on {percent} of {total['candidates']} candidates" in words
    assert f"Only the old filter drops: {len(scene.only_old)}" in words
    assert f"Only this filter drops: {len(scene.only_new)}" in words
    assert "taken back" in words and "shown 7 to 29 days ago" in words
    assert HOSTILE in words and "</svg><b>item" in words, "as text, not as markup"


def test_sorted_sets_and_how_old_their_scores_may_be(scene, server):
    redis_server = server()
    fill_sorted_sets(redis_server.client(), scene.old)
    arguments = ("--redis", redis_server.address, "--redis-command", "ZMSCORE")
    scene.check(scene.compare(*arguments))
    recent = scene.compare(*arguments, "--redis-score-since", "30d")
    left = {e["item_id"] for e in recent["only_old_drops"]["examples"]}
    assert left == {"removed"}, "the others are older than 30 days"
    redis_server.client().flushall()
    fill_sorted_sets(redis_server.client(), scene.old, unit_ms=1000)
    in_seconds = scene.compare(*arguments, "--redis-score-since", "30d")
    assert in_seconds["total"] == recent["total"]


def test_sets_with_a_key_a_day(scene, server):
    redis_server = server()
    for user, items in scene.old.items():
        for i, item in enumerate(items):
            days_ago = i % 3
            day = time.strftime("%Y%m%d", time.gmtime(time.time() - days_ago * 86_400))
            redis_server.client().sadd(f"shown:{day}:{{{user}}}", f"item/{item}")
    keys = ("--redis-key", "shown:{yyyymmdd}:{{user}}", "--redis-item", "item/{item}")
    pattern = ("--redis", redis_server.address, "--redis-command", "smismember", *keys)
    scene.check(scene.compare(*pattern, "--redis-days", 3))
    one_day = scene.compare(*pattern, "--redis-days", 1)
    assert one_day["total"]["both_drop"] < 5 * len(USERS)


def test_a_password_comes_from_a_file(scene, server, tmp_path):
    redis_server = server("--requirepass", "se cret")
    fill_sorted_sets(redis_server.client(password="se cret"), scene.old)
    arguments = ("--redis", redis_server.address, "--redis-command", "ZMSCORE", "--quiet")
    assert "--redis-password-file" in run(*scene.arguments(*arguments), status=1)[1]
    password = tmp_path / "password"
    password.write_text("wrong\n")
    said = run(*scene.arguments(*arguments, "--redis-password-file", password), status=1)[1]
    assert "check the password" in said and "wrong" not in said
    password.write_text("se cret\n")
    scene.check(scene.compare(*arguments[:-1], "--redis-password-file", password))


def test_what_redis_refuses_is_named_with_the_remedy(scene, server):
    redis_server = server()
    client = redis_server.client()
    arguments = ("--redis", redis_server.address, "--quiet")
    assert "load the module RedisBloom" in run(*scene.arguments(*arguments), status=1)[1]
    fill_sorted_sets(client, scene.old)
    client.delete("seen:u5")
    client.set("seen:u5", "no sorted set")
    report = scene.compare(*arguments[:-1], "--redis-command", "ZMSCORE", status=1)
    assert not report["complete"] and report["not_compared"]["old_filter"] == 1
    assert report["requests"] == len(USERS) - 1, "it counts neither as agreement nor as difference"
    (example,) = report["not_compared"]["examples"]
    assert "requests.jsonl:6: " in example and "seen:u5" in example and "ZMSCORE sorted sets" in example
    # With a wrong name of the keys, the old filter seems to drop nothing. The report names this.
    said = run(*scene.arguments(*arguments, "--redis-command", "ZMSCORE", "--redis-key", "no:{user}"))[1]
    assert "the old filter dropped nothing at all" in said
    redis_server.close()
    assert "Redis at" in run(*scene.arguments(*arguments), status=1)[1]


def test_a_redis_that_stops_answering_ends_the_run(scene, server):
    redis_server = server()
    fill_sorted_sets(redis_server.client(), scene.old)
    redis_server.client().execute_command("CLIENT", "PAUSE", 60_000, "ALL")
    said = run(
        *scene.arguments(
            "--redis", redis_server.address, "--redis-command", "ZMSCORE", "--timeout", 1, "--quiet"
        ),
        status=1,
    )[1]
    assert "no answer within 1000 ms" in said


def answers_of(scene, field="dropped"):
    for user, items in scene.requests:
        listed = [item for item in items if (item in scene.old[user]) == (field == "dropped")]
        yield {"user_id": user, field: listed}


def test_a_file_of_the_old_filters_answers(scene):
    for field, name in (("dropped", "answers.jsonl"), ("kept", "answers.jsonl.gz")):
        answers = scene.write(name, answers_of(scene, field))
        scene.check(scene.compare("--answers", answers, requests=scene.request_file("requests.jsonl.gz")))
    lines = list(answers_of(scene))
    short = scene.compare("--answers", scene.write("short.jsonl", lines[:20]), status=1)
    assert short["requests"] == 20 and "20 answers" in short["stopped"]
    long = scene.compare("--answers", scene.write("long.jsonl", [*lines, lines[0]]), status=1)
    assert long["requests"] == len(USERS) and "more answers than" in long["stopped"]
    lines[3], lines[4] = lines[4], lines[3]
    swapped = scene.compare("--answers", scene.write("swapped.jsonl", lines), status=1)
    assert swapped["not_compared"]["old_filter"] == 2
    assert "swapped.jsonl:4: " in swapped["not_compared"]["examples"][0]


def test_bad_lines_are_named_and_never_silent(scene, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text(
        '{"user_id":"u1","items":["a"],"request_id":"r-1"}\n\nno json\n{"user_id":"u1","items":[{}]}\n'
        '{"user_id":"u2","items":["b","b","c"],"also_seen":["c"]}\n'
    )
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"dropped":[]}\n{}\n{}\n{"dropped":["x"]}\n')
    report = scene.compare("--answers", answers, status=1, requests=path)
    assert report["requests"] == 2 and report["not_compared"]["bad_lines"] == 2
    assert [e.split("bad.jsonl:")[1].split(":")[0] for e in report["not_compared"]["examples"]] == ["3", "4"]
    assert "$.items[0].id: missing" in report["not_compared"]["examples"][1]
    assert report["left_out"] == {"repeated": 1, "also_seen": 1} and report["unknown_items"] == 1
    assert any('"request_id" of 1 lines' in warning for warning in report["warnings"])


class OldRoute(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        user, items = question["user_id"], question["items"]
        status = 500 if user == self.server.broken_user else 200
        if self.headers["Authorization"] != "Bearer t0ken":
            status = 401
        seen = self.server.old[user]
        kept = [{"id": i} for i in items if i not in seen]
        body = json.dumps({"data": {"items": kept, "gone": [i for i in items if i in seen]}}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def old_route(scene, tmp_path):
    """old_route(TLS context, or None) -> the server of the old filter's route, and a file of its headers"""
    (tmp_path / "headers").write_text("Authorization: Bearer t0ken\n")
    made = []

    def start(context=None):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OldRoute)
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.old, server.broken_user = scene.old, None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made.append(server)
        return server, tmp_path / "headers"

    yield start
    for server in made:
        server.shutdown()
        server.server_close()


def test_an_http_route(scene, old_route):
    server, headers = old_route()
    route = ("--route", f"http://127.0.0.1:{server.server_port}/filter")
    with_token = (*route, "--route-headers", headers)
    scene.check(scene.compare(*with_token, "--route-kept", "/data/items"))
    scene.check(scene.compare(*with_token, "--route-dropped", "/data/gone", "--connections", 1))
    server.broken_user = "u9"
    for more, compared, said in (
        ((*with_token, "--route-kept", "/data/items"), len(USERS) - 1, "answers 500"),
        ((*with_token, "--route-kept", "/items"), 0, "nothing at /items"),
        ((*route, "--route-kept", "/x"), 0, "answers 401"),
    ):
        report = scene.compare(*more, status=1)
        assert report["requests"] == compared and said in report["not_compared"]["examples"][0], more


def test_an_http_route_with_tls(scene, old_route, tmp_path):
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.sign("route"))
    server, headers = old_route(context)
    route = f"https://127.0.0.1:{server.server_port}/filter"
    arguments = scene.arguments("--route", route, "--route-headers", headers, "--route-kept", "/data/items")
    known = {"SSL_CERT_FILE": str(authority.certificate)}
    scene.check(json.loads(run(*arguments, "--json", "--quiet", environment=known)[0]))
    assert "does the server speak TLS" in run(*arguments, status=1)[0], "nobody knows the CA"


def test_this_filter_agrees_with_itself(scene):
    """The daemon's own route takes the place of the old filter. Another daemon's route is compared in the
    same way."""
    route = f"http://{scene.seend.address}/v1/filters/{{filter}}/users/{{user}}/unseen"
    report = scene.compare("--route", route, "--route-kept", "/unseen", "--route-body", "items")
    assert report["complete"] and report["total"]["agreement"] == 1
    assert report["only_old_drops"] == {"items": 0, "asked": 0, "reasons": [], "examples": []}


def test_users_of_another_daemon_count_apart(topics, daemon, topic_name, tmp_path):
    topics.create(topic_name, partitions=4)
    config = {"filters": [{"name": "default", "snapshot": None}]}
    first = daemon(topic_name, config, name="first").start()
    daemon(topic_name, config, name="second").start()
    users = [f"u{i}" for i in range(60)]
    wait_until(
        lambda: (
            {first.http.post(user_path(u) + "/unseen", {"items": ["a"]}).status for u in users} == {200, 503}
        ),
        "the daemons share the users",
        timeout_s=60,
    )
    requests, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    requests.write_text("".join(json.dumps({"user_id": u, "items": ["a"]}) + "\n" for u in users))
    answers.write_text('{"dropped":[]}\n' * len(users))
    report = run_json(requests, "--answers", answers, "--http", first.url, status=1)
    not_here = report["not_compared"]["daemon"]
    assert 0 < not_here < 60 and report["requests"] == 60 - not_here == report["total"]["candidates"]
    assert "503" in report["not_compared"]["examples"][0]


def test_the_question_why_is_bounded(scene):
    answers = scene.write("answers.jsonl", answers_of(scene))
    report = scene.compare("--answers", answers, "--why-max", 2)
    for side in ("only_old_drops", "only_new_drops"):
        assert report[side]["items"] == 5 and report[side]["asked"] == 2
        assert sum(r["items"] for r in report[side]["reasons"]) == 2
    assert "drawn at random" in run(*scene.arguments("--answers", answers, "--why-max", 2, "--quiet"))[0]


def test_wrong_arguments_are_named(scene, tmp_path):
    for arguments, words in (
        ((), "--redis, --answers and --route"),
        (("--redis", "x:1", "--answers", "y"), "exactly one of"),
        (("--redis", "x:1", "--redis-command", "GET"), "--redis-command"),
        (("--redis", "x:1", "--redis-key", "seen"), "--redis-key"),
        (("--redis", "x:1", "--redis-score-since", "30d"), "only ZMSCORE has scores"),
        (("--route", "http://x/y"), "--route-kept"),
        (("--route", "http://x/y", "--route-kept", "z"), "JSON pointer"),
        (("--answers", "x", "--page", tmp_path / "none" / "page.html"), "--page"),
    ):
        assert words in run(*scene.arguments(*arguments), status=2)[1], arguments
    assert (
        "none.jsonl" in run(*scene.arguments("--answers", "x", requests=tmp_path / "none.jsonl"), status=2)[1]
    )
    told = run("--help")[0]
    assert "--redis-key" in told and "Exit status" in told
