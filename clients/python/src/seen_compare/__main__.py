"""seen-compare: the old filter against this one on real requests, before the cut-over."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from typing import Any

from seen_arguments import Arguments
from seen_compare import Problem, Stopped, WrongArgument
from seen_compare.compare_run import CompareRun, Report
from seen_compare.daemon import Daemon
from seen_compare.old_filters import AnswersFile, OldFilter, RouteFilter
from seen_compare.report import report_json, report_text
from seen_compare.request_file import RequestFile

EPILOG = """\
Requests: a JSON object a line; plain, gzip or zstd; "-" is standard input.
  {"user_id":"u1","items":["n1",7,{"id":"n2","created_at":1763690000000}]}
  optional: "filter" (else --filter), "also_seen" (items that are left out)

The old filter is one of these:
  --redis HOST:PORT   BF.MEXISTS, ZMSCORE or SMISMEMBER with a key for each user
  --answers FILE      a line for each request, in the same order:
                      {"user_id":"u1","dropped":["n1"]}, or "kept" instead of "dropped"
  --route URL         each request is posted; the answer lists what is kept or dropped

Examples:
  seen-compare requests.jsonl.gz --redis 127.0.0.1:6379 --redis-key 'seen:{user}' --page compare.html
  seen-compare requests.jsonl --redis /run/redis.sock --redis-command ZMSCORE --redis-score-since 30d
  seen-compare requests.jsonl --answers answers.jsonl --json > compare.json
  seen-compare requests.jsonl --route http://recall:9000/filter --route-kept /items

Exit status: 0 every request was compared, whatever the filters say; 1 not all or nothing was compared, or
something was out of reach; 2 wrong arguments."""


def number(least: int, most: int) -> Any:
    def parse(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{value}: expected {least} to {most:,}")
        return value

    parse.__name__ = "number"  # as argparse calls it
    return parse


def make_parser() -> argparse.ArgumentParser:
    parser = Arguments(
        prog="seen-compare",
        description="Compares the old filter with this one, on real requests.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    env = os.environ.get
    add = parser.add_argument
    add("requests", nargs="+", metavar="FILE", help="files of real requests")
    add("--http", default=env("SEEN_HTTP", "http://127.0.0.1:8080"), help="the daemon's address [SEEN_HTTP]")
    add("--token-file", default=env("SEEN_TOKEN_FILE", ""), help="a file that holds only a token")
    add(
        "--ca",
        default=env("SEEN_CA", ""),
        help="PEM file of CAs, one of which signed the daemon's certificate",
    )
    add("--filter", default="default", help="the filter's name, for requests that name none")
    add("--why-max", type=number(0, 1_000_000), default=1_000, help="ask for the reasons of at most so many "
        "differences of each side, drawn at random")  # fmt: skip
    add("--examples", type=number(0, 1_000), default=5, help="of each reason, in JSON and page")
    add("--connections", type=number(1, 64), default=4, help="to the daemon, and as many to the old filter")
    add("--timeout", type=number(1, 3_600), default=10, help="seconds to wait for the old filter")
    add("--page", default="", metavar="FILE", help="write a page with three charts to this file (HTML)")
    add("--json", action="store_true", help="result as JSON")
    add("--quiet", action="store_true", help="no progress")
    add = parser.add_argument_group("The old filter in Redis").add_argument
    add("--redis", default="", metavar="ADDRESS", help="HOST:PORT, or the path of a unix socket")
    add("--redis-command", default="BF.MEXISTS", metavar="NAME", help="or ZMSCORE, SMISMEMBER (Redis 6.2)")
    add("--redis-key", default="seen:{user}", metavar="PATTERN", help="a user's key, with the placeholders "
        "{user}, {filter}, and {day} (2026-11-21) or {yyyymmdd}")  # fmt: skip
    add("--redis-item", default="{item}", metavar="PATTERN", help="how items are written in Redis")
    add(
        "--redis-days",
        type=number(1, 400),
        default=1,
        help="with a day in the key: so many, up to today (UTC)",
    )
    add("--redis-score-since", default="", metavar="TIME", help="with ZMSCORE: earlier scores (epoch, s or ms) "
        "don't count; a time, or an age like 30d")  # fmt: skip
    add("--redis-user", default="", help="the user's name, for an ACL")
    add("--redis-password-file", default="", metavar="FILE", help="a file with the password")
    add("--redis-db", type=number(0, 1_000_000), default=0, help="the database's number")
    add = parser.add_argument_group("The old filter's answers in a file").add_argument
    add("--answers", default="", metavar="FILE", help="a line for each request, in the same order")
    add = parser.add_argument_group("The old filter behind HTTP").add_argument
    add(
        "--route",
        default="",
        metavar="URL",
        help="http://HOST:PORT/PATH, with the placeholders {user}, {filter}",
    )
    add("--route-kept", default="", metavar="POINTER", help="where the answer lists what is kept")
    add("--route-dropped", default="", metavar="POINTER", help="or where it lists what is dropped")
    add("--route-body", choices=("line", "items"), default="line", help='post the line, or {"items":[...]}')
    add(
        "--route-headers", default="", metavar="FILE", help="headers, one NAME: VALUE a line, such as a token"
    )
    return parser


def make_old_filter(options: argparse.Namespace) -> tuple[str, OldFilter | AnswersFile]:
    """Its name for a person, and the filter."""
    if sum(map(bool, (options.redis, options.answers, options.route))) != 1:
        raise WrongArgument(
            "the old filter: give exactly one of --redis, --answers and --route (--help has examples)"
        )
    if options.answers:
        return f"answers in {options.answers}", AnswersFile(options.answers)
    if options.route:
        return options.route, RouteFilter(options)
    from seen_compare.redis_filter import RedisFilter

    redis = RedisFilter(options, time.time_ns() // 1_000_000)
    return f"Redis at {options.redis}, {options.redis_command} {options.redis_key}", redis


def check_page(page: str) -> None:
    """The page is written last. A wrong name must fail before the work."""
    folder = os.path.dirname(page) or "."
    if page and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        raise WrongArgument(f"--page: {folder}: no folder where a file can be written")
    if os.path.isdir(page):
        raise WrongArgument(f"--page: {page}: it is a folder")


class Progress:
    """A line on standard error: redrawn on a terminal, elsewhere one every five seconds."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.terminal = quiet, sys.stderr.isatty()
        self.begun = self.last = time.monotonic()

    def __call__(self, requests: int, differ: int) -> None:
        now = time.monotonic()
        if self.quiet or now - self.last < (0.2 if self.terminal else 5):
            return
        self.last = now
        line = f"compare {requests:,} requests, {requests / (now - self.begun):,.0f}/s, {differ:,} differ"
        print(
            f"\r\x1b[K{line}" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr
        )

    def finish(self) -> None:
        if self.terminal and self.last != self.begun:
            print(file=sys.stderr)


def compare(options: argparse.Namespace) -> Report:
    check_page(options.page)
    requests = RequestFile(options.requests)
    daemon = Daemon(options.http, options.token_file, options.ca)
    name, old_filter = make_old_filter(options)
    daemon.status()  # nobody waits for hours to read that no daemon is there
    run = CompareRun(options, daemon, old_filter)
    for one in (signal.SIGINT, signal.SIGTERM):  # the first ends the run, a second one ends the program

        def interrupt(number: int, _: Any) -> None:
            run.interrupted.set()
            signal.signal(number, signal.SIG_DFL)

        signal.signal(one, interrupt)
    progress = Progress(options.quiet)
    report = run.run(requests, progress)
    progress.finish()
    report.old_filter, report.new_filter = name, f"seen at {options.http}, filter {options.filter}"
    return report


def print_report(report: Report, options: argparse.Namespace) -> None:
    for warning in report.warnings:
        print(f"seen-compare: warning: {warning}", file=sys.stderr)
    if options.json:
        print(json.dumps(report_json(report), indent=2, ensure_ascii=False))
    else:
        print(report_text(report), end="")
    if options.page:
        from seen_compare.page import report_page

        with open(options.page, "w", encoding="utf-8") as file:
            file.write(report_page(report))
        if not options.quiet:
            print(f"the page is in {options.page}", file=sys.stderr)


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    options = make_parser().parse_args()
    try:
        if options.page:
            import seen_compare.page  # noqa: F401  (a missing library must fail before the work)
        report = compare(options)
        print_report(report, options)
    except ModuleNotFoundError as error:
        print(f"seen-compare: {error.name} is missing: pip install 'seen-client[compare]'", file=sys.stderr)
        return 2
    except (WrongArgument, Problem, Stopped, OSError) as error:
        print(f"seen-compare: {error}", file=sys.stderr)
        return 2 if isinstance(error, WrongArgument) else 1
    if report.is_complete:
        return 0
    if not report.comparison.requests and not report.stopped and not report.not_compared:
        print("seen-compare: nothing was compared: the files have no requests", file=sys.stderr)
        return 1
    unanswered = f"{report.not_compared:,} requests and {report.why_unanswered:,} reasons had no answer"
    print(f"seen-compare: not all was compared: {report.stopped or unanswered}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
