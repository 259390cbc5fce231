#!/usr/bin/env python3
"""Asks seend over HTTP which items a user hasn't seen. Where there is no answer in time, it shows rather than fails.

    echo '{"user":"u1","items":["n1","n2",7],"also_seen":["n9"]}' | ask_over_http.py --http http://127.0.0.1:8080
    {"unseen": ["n2", "7"], "from": "http"}

One question a line in, one answer a line out. `from` is `request` where only the question's own `also_seen` counted.
"""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import sys
import threading
import urllib.parse
from collections.abc import Iterable, Sequence
from typing import Callable, NamedTuple, TextIO

from seen_client import ItemId, Snapshot, SnapshotError

log = logging.getLogger("seen")
TRIES = 2  # a connection that was kept may have been closed by the other side meanwhile


class AskError(OSError):
    """No answer: nobody there, too slow, not ready, or the question is wrong."""


class Answer(NamedTuple):
    unseen: list[str]
    source: str


class SeenHttp:
    """A connection a thread, kept from one question to the next. Any number of threads may ask."""

    def __init__(self, address: str, filter_name: str = "default", timeout_s: float = 0.2) -> None:
        """`timeout_s`: for each wait on the network."""
        url = urllib.parse.urlsplit(address)
        if url.scheme not in ("http", "https") or not url.netloc:
            raise ValueError(f"{address!r} is no address like http://127.0.0.1:8080")
        self._connection_type = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        self._netloc, self._timeout_s = url.netloc, timeout_s
        self._path = f"{url.path.rstrip('/')}/v1/filters/{urllib.parse.quote(filter_name, safe='')}/users/"
        self._kept = threading.local()

    def unseen(self, user: str, items: Iterable[ItemId], also_seen: Iterable[ItemId] = ()) -> list[str]:
        """Those not seen, in order, each once, as strings. AskError if there is no answer."""
        body = self._ask("POST", user, "/unseen", {"items": list(items), "also_seen": list(also_seen)})
        try:
            return [str(item) for item in json.loads(body)["unseen"]]
        except (ValueError, KeyError, TypeError) as error:
            raise AskError(f"an answer that can't be read: {error!r}") from error

    def unseen_or_all(self, user: str, items: Sequence[ItemId], also_seen: Sequence[ItemId] = ()) -> Answer:
        """As `unseen`; where there is no answer, all that the request itself doesn't name as seen."""
        try:
            return Answer(self.unseen(user, items, also_seen), "http")
        except AskError as error:
            log.warning("showing without knowing what %r has seen: %s", user, error)
            return Answer(by_request(Snapshot.empty(), items, also_seen), "request")

    def snapshot(self, user: str) -> Snapshot:
        """The user's snapshot, made at this moment. AskError if there is no answer."""
        try:
            return Snapshot(self._ask("GET", user))
        except SnapshotError as error:
            raise AskError(str(error)) from error

    def _ask(self, method: str, user: str, what: str = "", question: object = None) -> bytes:
        path = self._path + urllib.parse.quote(user, safe="") + what
        body = None if question is None else json.dumps(question).encode()
        for _ in range(TRIES):
            connection: http.client.HTTPConnection | None = getattr(self._kept, "connection", None)
            kept = connection is not None
            if connection is None:
                connection = self._connection_type(self._netloc, timeout=self._timeout_s)
            self._kept.connection = None
            try:
                connection.request(method, path, body)
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if kept and not isinstance(error, TimeoutError):
                    continue
                raise AskError(f"{self._netloc}: {error!r}") from error
            self._kept.connection = connection
            if response.status != 200:
                raise AskError(f"{self._netloc}: {response.status}: {answer[:300].decode(errors='replace')}")
            return answer
        raise AskError(f"{self._netloc}: closes each connection")


def by_request(snapshot: Snapshot, items: Iterable[ItemId], also_seen: Iterable[ItemId]) -> list[str]:
    fresh = [str(item) for item in snapshot.with_also_seen(also_seen).unseen(items)]
    return sorted(fresh, key=snapshot.might_be_near)  # what is like something seen goes last, else in their order


def answer_lines(lines: TextIO, ask: Callable[[str, list[ItemId], list[ItemId]], Answer]) -> None:
    """Answers each line of JSON until the end of the input."""
    for line in lines:
        question = json.loads(line)
        answer = ask(str(question["user"]), question["items"], question.get("also_seen", []))
        print(json.dumps({"unseen": answer.unseen, "from": answer.source}, ensure_ascii=False), flush=True)


def http_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--http", default="http://127.0.0.1:8080", help="seend's address (default: %(default)s)")
    parser.add_argument("--filter", default="default", help="default: %(default)s")
    parser.add_argument("--timeout-ms", type=int, default=200, help="of each wait (default: %(default)s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    http_arguments(parser)
    arguments = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    seen = SeenHttp(arguments.http, arguments.filter, arguments.timeout_ms / 1000)
    answer_lines(sys.stdin, seen.unseen_or_all)


if __name__ == "__main__":
    main()
