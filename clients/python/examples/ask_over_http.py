#!/usr/bin/env python3
"""Asks seend over HTTP which items a user hasn't seen. Where there is no answer in time, it shows rather than
fails.

    echo '{"user":"u1","items":["n1","n2",7],"also_seen":["n9"]}' | ask_over_http.py --http http://127.0.0.1:8080
    {"unseen": ["n2", "7"], "from": "http", "by": "seend-1"}

One question a line in, one answer a line out. `from` is `request` where only the question's own `also_seen`
counted. Of several daemons, `--http http://10.0.0.1:8080,http://10.0.0.2:8080`, it asks the one that owns the
user's partition. `by` names the daemon that answered."""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterable, Sequence
from typing import Callable, NamedTuple, Optional, TextIO

from owners import Daemon, Owners
from seen_client import ItemId, Snapshot, SnapshotError

log = logging.getLogger("seen")
TRIES = 2  # a connection that was kept may have been closed by the other side meanwhile
DAEMONS_MAX = 3  # asked about one question


class AskError(OSError):
    """No answer: nobody there, too slow, not ready, or the question is wrong."""


class Answer(NamedTuple):
    unseen: list[str]
    source: str
    by: Optional[str] = None  # the daemon's name


class SeenHttp:
    """A connection a thread and daemon, kept from one question to the next. Any number of threads may ask."""

    def __init__(self, addresses: str, filter_name: str = "default", timeout_s: float = 0.2) -> None:
        """`addresses`: of some daemons of one group, with commas.

        `timeout_s`: of a whole question; but Python looks up the names of hosts without a limit.
        """
        self._owners, self._timeout_s = Owners(addresses.split(",")), timeout_s
        self._path = f"/v1/filters/{urllib.parse.quote(filter_name, safe='')}/users/"
        self._kept = threading.local()

    def close(self) -> None:
        """No routes are read any more. Connections go with their threads."""
        self._owners.close()

    def unseen(self, user: str, items: Iterable[ItemId], also_seen: Iterable[ItemId] = ()) -> Answer:
        """Those not seen, in order, each once, as strings. AskError if there is no answer."""
        body, by = self._ask("POST", user, "/unseen", {"items": list(items), "also_seen": list(also_seen)})
        try:
            return Answer([str(item) for item in json.loads(body)["unseen"]], "http", by)
        except (ValueError, KeyError, TypeError) as error:
            raise AskError(f"an answer that can't be read: {error!r}") from error

    def unseen_or_all(self, user: str, items: Sequence[ItemId], also_seen: Sequence[ItemId] = ()) -> Answer:
        """As `unseen`; where there is no answer, all that the request itself doesn't name as seen."""
        try:
            return self.unseen(user, items, also_seen)
        except AskError as error:
            log.warning("showing without knowing what %r has seen: %s", user, error)
            return Answer(by_request(Snapshot.empty(), items, also_seen), "request")

    def snapshot(self, user: str) -> Snapshot:
        """The user's snapshot, made at this moment. AskError if there is no answer."""
        try:
            return Snapshot(self._ask("GET", user)[0])
        except SnapshotError as error:
            raise AskError(str(error)) from error

    def _ask(
        self, method: str, user: str, what: str = "", question: object = None
    ) -> tuple[bytes, str | None]:
        """The answer, and who gave it: of the owner, or else of another daemon."""
        path = self._path + urllib.parse.quote(user, safe="") + what
        body = None if question is None else json.dumps(question).encode()
        end, problems = time.monotonic() + self._timeout_s, []
        daemons = self._owners.whom_to_ask(user)[:DAEMONS_MAX]
        for daemon in daemons:
            now = time.monotonic()
            if now >= end:
                problems.append("no time is left")
                break
            # Each but the last may take half of the time that is left: so there is time to ask another one.
            until = end if daemon is daemons[-1] else now + (end - now) / 2
            try:
                response, answer = self._ask_one(daemon, method, path, body, until)
            except (OSError, http.client.HTTPException) as error:
                self._owners.failed(daemon)
                problems.append(f"{daemon.address}: {error!r}")
                continue
            by = response.getheader("Seen-Answered-By")
            if response.status >= 500 or daemon.instance not in ("", by):
                self._owners.refresh()  # the partition may have moved
            if response.status == 200:
                return answer, by
            problems.append(f"{daemon.address}: {response.status}: {answer[:300].decode(errors='replace')}")
            if response.status < 500:
                break  # the question is wrong, for all of them
        raise AskError("; ".join(problems))

    def _ask_one(
        self, daemon: Daemon, method: str, path: str, body: bytes | None, until: float
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connections: dict[str, http.client.HTTPConnection] = self._kept.__dict__  # this thread's, by address
        for _ in range(TRIES):
            connection = connections.pop(daemon.address, None)
            kept = connection is not None
            if connection is None:
                url = urllib.parse.urlsplit(daemon.address)
                make = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
                connection = make(url.netloc, timeout=seconds_left(until))
            elif connection.sock is not None:
                connection.sock.settimeout(seconds_left(until))
            # A daemon that passes the question on stops before this one does: its 503 says that it is there
            # itself.
            headers = {"Seen-Deadline-Ms": str(max(1, int(750 * seconds_left(until))))}
            try:
                connection.request(method, urllib.parse.urlsplit(daemon.address).path + path, body, headers)
                if connection.sock is not None:
                    connection.sock.settimeout(seconds_left(until))
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if kept and not isinstance(error, TimeoutError):
                    continue
                raise
            connections[daemon.address] = connection
            return response, answer
        raise ConnectionError("closes each connection")


def seconds_left(until: float) -> float:
    return max(0.001, until - time.monotonic())


def by_request(snapshot: Snapshot, items: Iterable[ItemId], also_seen: Iterable[ItemId]) -> list[str]:
    fresh = [str(item) for item in snapshot.with_also_seen(also_seen).unseen(items)]
    return sorted(
        fresh, key=snapshot.might_be_near
    )  # what is like something seen goes last, else in their order


def answer_lines(lines: TextIO, ask: Callable[[str, list[ItemId], list[ItemId]], Answer]) -> None:
    """Answers each line of JSON until the end of the input."""
    for line in lines:
        question = json.loads(line)
        answer = ask(str(question["user"]), question["items"], question.get("also_seen", []))
        said = {"unseen": answer.unseen, "from": answer.source, **({"by": answer.by} if answer.by else {})}
        print(json.dumps(said, ensure_ascii=False), flush=True)


def http_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--http",
        default="http://127.0.0.1:8080",
        help="seend's address, or several with commas (default: %(default)s)",
    )
    parser.add_argument("--filter", default="default", help="default: %(default)s")
    parser.add_argument("--timeout-ms", type=int, default=200, help="of a question (default: %(default)s)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    http_arguments(parser)
    arguments = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    seen = SeenHttp(arguments.http, arguments.filter, arguments.timeout_ms / 1000)
    try:
        answer_lines(sys.stdin, seen.unseen_or_all)
    finally:
        seen.close()


if __name__ == "__main__":
    main()
