"""Asks over HTTP: the daemon's routes, and any other server."""

from __future__ import annotations

import collections
import http.client
import json
import ssl
import urllib.parse
from typing import Any

from seen_compare import Problem, WrongArgument
from seen_compare.request_file import Request


def percent_encode(text: str) -> str:
    """One segment of a path. A server reads the segment "." as this folder, and ".." as its parent."""
    return {".": "%2E", "..": "%2E%2E"}.get(text) or urllib.parse.quote(text, safe="")


def read_file(option: str, path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongArgument(f"{option}: {path}: {getattr(error, 'strerror', None) or error}") from None


class HttpClient:
    """Any thread. Keeps as many connections as ask at the same time."""

    def __init__(self, base: str, timeout_s: float, option: str, ca: str = "") -> None:
        self.base, self.timeout_s, self.option = base.rstrip("/"), timeout_s, option
        self.headers = {"User-Agent": "seen-compare"}
        self.free: collections.deque[http.client.HTTPConnection] = collections.deque()
        try:
            url = urllib.parse.urlsplit(self.base)
            self.place = url.hostname or "", url.port
            is_wrong = url.scheme not in ("http", "https") or url.port == 0 or not url.hostname
            is_wrong = is_wrong or bool(url.path or url.query or url.fragment or {"@", " "} & {*url.netloc})
        except ValueError:
            is_wrong = True
        if is_wrong:
            raise WrongArgument(f"{option}: {base}: expected http://HOST:PORT or https://HOST:PORT")
        try:
            self.tls = ssl.create_default_context(cafile=ca or None) if url.scheme == "https" else None
        except OSError as error:
            raise WrongArgument(f"--ca: {ca}: {error.strerror or error}") from None

    def connect(self) -> http.client.HTTPConnection:
        if self.tls:
            return http.client.HTTPSConnection(*self.place, timeout=self.timeout_s, context=self.tls)
        return http.client.HTTPConnection(*self.place, timeout=self.timeout_s)

    def ask(self, target: str, body: bytes | None = None) -> tuple[int, bytes]:
        """The status and the body of GET, or of POST if there is a body. Problem: no answer."""
        headers = self.headers if body is None else {**self.headers, "Content-Type": "application/json"}
        while True:
            try:
                connection, is_kept = self.free.pop(), True
            except IndexError:
                connection, is_kept = self.connect(), False
            try:
                connection.request("GET" if body is None else "POST", target, body, headers)
                response = connection.getresponse()
                answer = response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                # A server closes idle connections, which only the next request notices.
                if not (is_kept and isinstance(error, ConnectionError)):
                    words = f"{error or type(error).__name__}; {self.remedy(error)}"
                    raise Problem(f"{self.base}{target}: {words}") from None
            else:
                self.free.append(connection)
                return answer

    def remedy(self, error: Exception) -> str:
        if isinstance(error, ssl.SSLError):
            return (
                f"does the server speak TLS, with a certificate of a CA that is known ({self.option}, --ca)?"
            )
        return f"is {'seend' if self.option == '--http' else 'the server'} running there ({self.option})?"


def user_path(filter_name: str, user_id: str) -> str:
    return f"/v1/filters/{percent_encode(filter_name)}/users/{percent_encode(user_id)}"


class Daemon:
    """Any thread. Every method raises Problem if the daemon doesn't answer."""

    def __init__(self, base: str, token_file: str = "", ca: str = "") -> None:
        self.http = HttpClient(base, 10, "--http", ca)
        if token_file:
            token = read_file("--token-file", token_file).rstrip("\r\n")
            if not token or {*"\r\n "} & {*token}:
                words = "expected only the token, which is the third word of a line in access.tokens"
                raise WrongArgument(f"--token-file: {token_file}: {words}")
            self.http.headers["Authorization"] = f"Bearer {token}"

    def ask(self, target: str, question: Any = None) -> dict[str, Any]:
        status, body = self.http.ask(target, None if question is None else json.dumps(question).encode())
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if status != 200:
            told = answer if isinstance(answer, dict) else {}  # RFC 9457
            words = told.get("detail") or told.get("title")
            raise Problem(f"{target}: {status}" + (f": {words}" if words else ""))
        if not isinstance(answer, dict):
            raise Problem(f"{target}: the answer is not a JSON object")
        return answer

    def status(self) -> dict[str, Any]:
        return self.ask("/v1/status")

    def dropped(self, request: Request) -> set[str]:
        """The request's items that POST .../unseen drops."""
        created = request.created_ms
        items = [{"id": i, "created_at": created[i]} if i in created else i for i in request.items]
        answer = self.ask(f"{user_path(request.filter, request.user_id)}/unseen", {"items": items})
        try:
            return set(request.items).difference(answer["unseen"])
        except (KeyError, TypeError):
            raise Problem("the daemon's answer can't be read") from None

    def why(self, filter_name: str, user_id: str, item_id: str) -> dict[str, Any]:
        return self.ask(f"{user_path(filter_name, user_id)}/why?item={percent_encode(item_id)}")

    def segments(self, filter_name: str, user_id: str) -> dict[str, Any]:
        target = f"{user_path(filter_name, user_id)}/segments?limit=1000"
        whole = page = self.ask(target)
        while page.get("next"):
            page = self.ask(f"{target}&cursor={page['next']}")
            whole["segments"] += page["segments"]
        return whole
