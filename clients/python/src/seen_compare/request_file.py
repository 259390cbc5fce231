"""Files of real requests: one JSON object a line, {"user_id":"u1","items":["n1",7],"filter":"default"}."""

from __future__ import annotations

import collections
import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from seen_compare import Problem, Stopped, WrongArgument

ID_BYTES_MAX = 512
CANDIDATES_MAX = 20_000  # the limit of POST .../unseen
UNUSED_NAMES_MAX = 50
USED = {"user_id", "items", "filter", "also_seen"}


@dataclass
class Request:
    """One request of the recommender: a user and the candidates."""

    user_id: str
    items: list[str]  # each once, in the line's order, without those in "also_seen"
    filter: str = ""  # "": the line names no filter
    created_ms: dict[str, int] = field(default_factory=dict)  # of the items that have one
    repeated: int = 0  # candidates that the line names again
    also_seen: int = 0  # candidates that are in the line's "also_seen"
    number: int = 0  # among all lines that aren't blank, from 1
    place: str = ""  # "requests.jsonl:17"
    line: bytes = b""  # unchanged


def read_id(value: Any) -> str:
    """A string, or an integer as its decimal text. The words of a Problem follow the JSON path."""
    if type(value) is str:
        text = value
    elif type(value) is int and -(2**63) <= value < 2**64:
        text = str(value)
    else:
        raise Problem(": expected a string or an integer")
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise Problem(": not valid Unicode") from None
    if not 0 < size <= ID_BYTES_MAX:
        raise Problem(f": an id has 1 to {ID_BYTES_MAX} bytes")
    return text


def read_candidate(value: Any) -> tuple[str, int]:
    """The id, and the time of creation in ms since the epoch. 0: not known."""
    if type(value) is not dict:
        return read_id(value), 0
    if "id" not in value:
        raise Problem(".id: missing")
    try:
        item = read_id(value["id"])
    except Problem as problem:
        raise Problem(f".id{problem}") from None
    created = value.get("created_at")
    if created is not None and (type(created) is not int or created < 0):
        raise Problem(".created_at: expected ms since the epoch")
    return item, created or 0


def read_list(request: dict[str, Any], name: str, read: Any) -> list[Any]:
    """Each element of the list `name` by `read`."""
    values = request[name]
    if type(values) is not list:
        raise Problem(f"$.{name}: expected an array")
    if len(values) > CANDIDATES_MAX:
        raise Problem(f"$.{name}: more than {CANDIDATES_MAX} items")
    elements: list[Any] = []
    try:
        for value in values:
            elements.append(read(value))
    except Problem as problem:
        raise Problem(f"$.{name}[{len(elements)}]{problem}") from None
    return elements


def read_object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if type(value) is not dict:
        raise Problem("not a JSON object")
    return value


def parse_request(text: bytes, unused: collections.Counter[str]) -> Request:
    """`unused` counts the lines with members that nobody reads. A Problem begins with a JSON path."""
    line = read_object(text)
    for name in ("user_id", "items"):
        if name not in line:
            raise Problem(f"$.{name}: missing")
    try:
        request = Request(user_id=read_id(line["user_id"]), items=[], line=text)
    except Problem as problem:
        raise Problem(f"$.user_id{problem}") from None
    name = line.get("filter")
    if name is not None and (type(name) is not str or not name):
        raise Problem("$.filter: expected the name of a filter")
    request.filter = name or ""
    also_seen = set(read_list(line, "also_seen", read_id)) if "also_seen" in line else set()
    candidates = read_list(line, "items", read_candidate)
    if not candidates:
        raise Problem("$.items: empty: there is nothing to compare")
    created: dict[str, int] = {}
    for item, created_ms in candidates:
        if item in also_seen:
            request.also_seen += 1
            continue
        request.repeated += item in created
        # If an item is named twice, its latest time counts, as in POST .../unseen.
        created[item] = max(created.get(item, 0), created_ms)
    request.items = list(created)
    request.created_ms = {item: ms for item, ms in created.items() if ms}
    for name in line.keys() - USED:
        if len(unused) < UNUSED_NAMES_MAX or name in unused:
            unused[name] += 1
    return request


def zstd_lines(file: BinaryIO) -> Iterator[bytes]:
    import zstandard

    frame, rest = None, b""
    while chunk := file.read(1 << 17):
        while chunk:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            *lines, rest = (rest + frame.decompress(chunk)).split(b"\n")
            yield from lines
            chunk, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError("cut off")
    yield rest


def read_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines that aren't blank, with their numbers. Plain, gzip or zstd; "-" is standard input. Stopped
    names the file if it is cut off or broken."""
    try:
        with sys.stdin.buffer if path == "-" else open(path, "rb") as file:
            magic = file.peek(4)[:4]
            lines: Any = file
            if magic[:2] == b"\x1f\x8b":
                lines = gzip.GzipFile(fileobj=file)
            elif magic == b"\x28\xb5\x2f\xfd":
                lines = zstd_lines(file)
            for number, line in enumerate(lines, 1):
                if stripped := line.strip():
                    yield number, stripped
    except ModuleNotFoundError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        raise Stopped(f"{path}: {error}") from None
    except Exception as error:  # zstandard.ZstdError, which has no other base
        if type(error).__name__ != "ZstdError":
            raise
        raise Stopped(f"{path}: {error}") from None


def check_paths(paths: list[str], option: str = "") -> None:
    """A wrong name must fail now, not after hours."""
    for path in paths:
        if path != "-":
            try:
                open(path, "rb").close()
            except OSError as error:
                raise WrongArgument(f"{option}{path}: {error.strerror}") from None


class RequestFile:
    """Every line is a request, or why it isn't one."""

    def __init__(self, paths: list[str]) -> None:
        check_paths(paths)
        self.paths = paths
        self.lines = 0  # those so far that weren't blank, good and bad
        self.unused: collections.Counter[str] = collections.Counter()

    def __iter__(self) -> Iterator[tuple[str, Request | Problem]]:
        """(place, the request or why the line isn't one)."""
        for path in self.paths:
            for number, text in read_lines(path):
                place = f"{'standard input' if path == '-' else path}:{number}"
                self.lines += 1
                try:
                    request = parse_request(text, self.unused)
                    request.number, request.place = self.lines, place
                    yield place, request
                except Problem as problem:
                    yield place, problem
