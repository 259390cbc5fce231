"""The filter in use today: answers in a file, or a route behind HTTP. redis_filter.py has the one in Redis."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Union

from seen_compare import Problem, Stopped, WrongArgument
from seen_compare.daemon import HttpClient, percent_encode, read_file
from seen_compare.request_file import Request, check_paths, read_lines, read_object


@dataclass
class OldAnswer:
    dropped: set[str]
    since_ms: dict[str, int] = field(default_factory=dict)  # when the old filter got the item, where known
    unknown_items: int = 0  # items that the old filter names, but that are no candidates of the request


Answers = list[Union[OldAnswer, Problem]]


class OldFilter(Protocol):
    """Any thread."""

    def ask(self, requests: Sequence[Request]) -> Answers:
        """One answer a request, in order. Stopped: no further request can be compared."""


def expand_pattern(pattern: str, **values: str) -> str:
    """Puts a value into the place of each {NAME}. Other braces stay: Redis uses them for hash tags."""
    names = "|".join(values)
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], pattern)


def read_item_list(values: Any) -> list[str]:
    """The forms that services write: strings, integers, or objects with "id" or "item_id"."""
    if type(values) is not list:
        raise Problem("the items aren't a JSON array")
    items = []
    for value in values:
        if type(value) is dict:
            value = value.get("id", value.get("item_id"))
        if type(value) not in (str, int):
            raise Problem(f"item {len(items)} isn't a string, an integer, or an object with an id")
        items.append(str(value))
    return items


def answer_from_list(request: Request, listed: Iterable[str], listed_are_kept: bool) -> OldAnswer:
    candidates = set(request.items)
    listed = list(listed)
    known = candidates.intersection(listed)
    return OldAnswer(
        dropped=candidates - known if listed_are_kept else known,
        unknown_items=sum(item not in candidates for item in listed),
    )


def read_old_answer(text: bytes, request: Request) -> OldAnswer:
    """One line of a file of answers, {"user_id":"u1","dropped":["n1"]}, or "kept" instead of "dropped"."""
    answer = read_object(text)
    user_id = answer.get("user_id", request.user_id)
    if user_id != request.user_id and str(user_id) != request.user_id:
        raise Problem(
            f"the line is of user {user_id}, and the request is of user {request.user_id}: the lines of both "
            "files must be in the same order"
        )
    if ("dropped" in answer) == ("kept" in answer):
        raise Problem('expected either "dropped" or "kept"')
    listed = read_item_list(answer["kept"] if "kept" in answer else answer["dropped"])
    return answer_from_list(request, listed, "kept" in answer)


class AnswersFile:
    """The first line that isn't blank answers the first request, and so on. Lines of bad requests count, too.
    So one thread must ask about all requests in their order."""

    def __init__(self, path: str) -> None:
        check_paths([path], "--answers: ")
        self.path = path
        self.lines = read_lines(path)
        self.number = 0  # lines so far

    def next_line(self) -> tuple[int, bytes] | None:
        try:
            line = next(self.lines, None)
        except Stopped as stopped:
            raise Stopped(f"--answers: {stopped}") from None
        self.number += line is not None
        return line

    def ask_one(self, request: Request) -> OldAnswer | Problem:
        line = None
        while self.number < request.number:
            line = self.next_line()
            if line is None:
                raise Stopped(
                    f"--answers: {self.path} has {self.number} answers, and {request.place} is request "
                    f"{request.number}"
                )
        assert line is not None, "each request is asked about once"
        try:
            return read_old_answer(line[1], request)
        except Problem as problem:
            return Problem(f"{self.path}:{line[0]}: {problem}")

    def has_more_than(self, last: int) -> bool:
        """Whether the file has more lines after that of request `last`."""
        while self.number <= last:
            if self.next_line() is None:
                return False
        return True


def read_headers(path: str) -> dict[str, str]:
    headers = {}
    for number, line in enumerate(read_file("--route-headers", path).splitlines(), 1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        # The value may be a secret: the message doesn't repeat it.
        if not colon or not name or len(name.split()) != 1 or name != name.strip():
            raise WrongArgument(f"--route-headers: {path}:{number}: expected NAME: VALUE")
        headers[name] = value.strip()
    return headers


def resolve_pointer(value: Any, pointer: str) -> Any:
    """RFC 6901. Raises LookupError if there is nothing."""
    for word in pointer.split("/")[1:]:
        word = word.replace("~1", "/").replace("~0", "~")
        if type(value) is list and word.isdecimal():
            value = value[int(word)]
        elif type(value) is dict:
            value = value[word]
        else:
            raise LookupError(word)
    return value


class RouteFilter:
    """Each request is posted, and the answer lists the items that are kept or dropped."""

    def __init__(self, options: argparse.Namespace) -> None:
        kept, dropped = options.route_kept, options.route_dropped
        if bool(kept) == bool(dropped):
            raise WrongArgument(
                "--route: give either --route-kept or --route-dropped: a JSON pointer like /items"
            )
        self.listed_are_kept, self.pointer = bool(kept), kept or dropped
        if not self.pointer.startswith("/") or re.search("~(?![01])", self.pointer):
            option = "--route-kept" if kept else "--route-dropped"
            raise WrongArgument(f"{option}: {self.pointer}: expected a JSON pointer like /items")
        scheme, _, rest = options.route.partition("://")
        host, slash, path = rest.partition("/")
        self.path, self.posts_line = slash + path or "/", options.route_body == "line"
        self.http = HttpClient(f"{scheme}://{host}", options.timeout, "--route")
        self.http.headers.update(read_headers(options.route_headers) if options.route_headers else {})

    def ask(self, requests: Sequence[Request]) -> Answers:
        answers: Answers = []
        for request in requests:
            try:
                answers.append(self.ask_one(request))
            except Problem as problem:
                answers.append(problem)
        return answers

    def ask_one(self, request: Request) -> OldAnswer:
        target = expand_pattern(
            self.path, user=percent_encode(request.user_id), filter=percent_encode(request.filter)
        )
        question = request.line if self.posts_line else json.dumps({"items": request.items}).encode()
        status, body = self.http.ask(target, question)
        if status // 100 != 2:
            raise Problem(f"--route: {target} answers {status}")
        try:
            listed = resolve_pointer(json.loads(body), self.pointer)
        except ValueError:
            raise Problem(f"--route: the answer of {target} isn't JSON") from None
        except LookupError:
            raise Problem(f"--route: the answer of {target} has nothing at {self.pointer}") from None
        try:
            return answer_from_list(request, read_item_list(listed), self.listed_are_kept)
        except Problem as problem:
            raise Problem(f"--route: {target}: {problem}") from None
