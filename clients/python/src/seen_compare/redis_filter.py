"""An old filter in Redis: a Bloom filter (RedisBloom), a sorted set or a set for each user."""

from __future__ import annotations

import argparse
import datetime
import re
import urllib.parse
from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoPermissionError
from redis.retry import Retry

from seen_compare import Problem, Stopped, WrongArgument
from seen_compare.daemon import read_file
from seen_compare.old_filters import Answers, OldAnswer, expand_pattern
from seen_compare.request_file import Request

COMMANDS = ("BF.MEXISTS", "ZMSCORE", "SMISMEMBER")

# How an error begins, and its remedy. redis-py takes the first word of some errors away.
REFUSALS = (
    (
        ("NOAUTH", "Authentication required"),
        "write the password into a file and name it with --redis-password-file",
    ),
    (
        ("WRONGPASS", "invalid password", "invalid username-password", "AUTH ", "Client sent AUTH"),
        "check the password in the file of --redis-password-file, and --redis-user",
    ),
    (("NOPERM",), "let this user run {command} on these keys (ACL SETUSER)"),
    (
        ("MOVED", "ASK ", "CROSSSLOT"),
        "name a proxy, because seen-compare doesn't follow the redirections of a Redis Cluster, or write the "
        "old filter's answers to a file (--answers)",
    ),
)


def problem_of(error: Exception, command: str, key: str = "") -> Problem | Stopped:
    """An error of Redis with its remedy. Stopped if it holds for all requests."""
    words = f"{error}".removeprefix("ERR ")
    if isinstance(error, NoPermissionError):
        words = f"NOPERM {words}"
    for beginnings, remedy in REFUSALS:
        if words.startswith(beginnings):
            return Stopped(f"Redis: {words}. Remedy: {remedy.format(command=command)}")
    if words.startswith("unknown command"):
        remedy = f"use Redis 6.2 or later, which {command} needs"
        if command.startswith("BF."):
            remedy = (
                "load the module RedisBloom (--loadmodule redisbloom.so), or name another --redis-command"
            )
        return Stopped(f"Redis: {words}. Remedy: {remedy}")
    if words.startswith("WRONGTYPE"):
        return Problem(
            f"Redis: {key}: the key has another type than {command} reads. BF.MEXISTS reads Bloom filters, "
            "ZMSCORE sorted sets, SMISMEMBER sets"
        )
    return Problem(f"Redis: {key}: {words}")


def time_of_score(score: float) -> int:
    """A score as ms since the epoch: seconds if it is below 10^11, otherwise ms. 0: it is no time (before
    September 2001)."""
    ms = score * 1000 if score < 1e11 else score
    return int(ms) if 1e12 <= ms < 1e15 else 0


def parse_time(option: str, text: str, now_ms: int) -> int:
    """Ms since the epoch, "2026-11-21", "2026-11-21T10:04:00Z", or an age like "15m", "2h", "7d"."""
    if re.fullmatch(r"\d+", text, re.ASCII):
        return int(text)
    if age := re.fullmatch(r"(\d{1,5})([smhd])", text, re.ASCII):
        return now_ms - int(age[1]) * {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[age[2]]
    for form in ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"):
        try:
            time = datetime.datetime.strptime(text[:-1] if text.endswith("Z") else text, form)
            return int(time.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)
        except ValueError:
            continue
    raise WrongArgument(
        f"{option}: {text}: expected ms since the epoch, a date like 2026-11-21 or 2026-11-21T10:04:00Z (UTC), "
        "or an age like 15m, 2h, 7d"
    )


def has_day(pattern: str) -> bool:
    return "{day}" in pattern or "{yyyymmdd}" in pattern


def keys_of(pattern: str, user_id: str, filter_name: str, today: datetime.date, days: int) -> list[str]:
    """The keys of a user: one, or one a day for the `days` days up to `today`, newest first."""
    dates = [today - datetime.timedelta(days=ago) for ago in range(days if has_day(pattern) else 1)]
    return [
        expand_pattern(pattern, user=user_id, filter=filter_name, day=f"{date}", yyyymmdd=f"{date:%Y%m%d}")
        for date in dates
    ]


def split_address(address: str) -> dict[str, Any]:
    if address.startswith("/"):
        return {"unix_socket_path": address}
    try:
        place = urllib.parse.urlsplit(f"//{address}")
        host, port = place.hostname, 6379 if place.port is None else place.port
    except ValueError:
        host, port = None, 0
    if not host or not port:
        raise WrongArgument(f"--redis: {address}: expected HOST:PORT or the path of a socket")
    return {"host": host, "port": port}


class RedisFilter:
    """Sends a batch of requests as one pipeline. Reopens a broken connection at most once a batch."""

    def __init__(self, options: argparse.Namespace, now_ms: int) -> None:
        self.address, self.command, self.timeout_s = (
            options.redis,
            options.redis_command.upper(),
            options.timeout,
        )
        self.key, self.item, self.days = options.redis_key, options.redis_item, options.redis_days
        self.since_ms = None
        if options.redis_score_since:
            self.since_ms = parse_time("--redis-score-since", options.redis_score_since, now_ms)
        for is_wrong, words in (
            (self.command not in COMMANDS, f"--redis-command: {self.command}: expected {COMMANDS}"),
            ("{user}" not in self.key, f"--redis-key: {self.key}: {{user}} is missing"),
            ("{item}" not in self.item, f"--redis-item: {self.item}: {{item}} is missing"),
            (
                self.days > 1 and not has_day(self.key),
                "--redis-days: --redis-key has no {day} and no {yyyymmdd}",
            ),
            (
                self.since_ms is not None and self.command != "ZMSCORE",
                "--redis-score-since: only ZMSCORE has scores",
            ),
            (
                options.redis_user and not options.redis_password_file,
                "--redis-user: give --redis-password-file as well",
            ),
        ):
            if is_wrong:
                raise WrongArgument(words)
        password = None
        if options.redis_password_file:
            password = read_file("--redis-password-file", options.redis_password_file).rstrip("\r\n")
        self.client = redis.Redis(
            **split_address(self.address),
            username=options.redis_user or None,
            password=password,
            db=options.redis_db,
            socket_timeout=self.timeout_s,
            socket_connect_timeout=self.timeout_s,
            retry=Retry(NoBackoff(), 1),
            protocol=2,
        )
        self.try_to(self.client.ping)

    def try_to(self, step: Any) -> Any:
        try:
            return step()
        except redis.TimeoutError:
            raise Stopped(
                f"Redis at {self.address}: no answer within {self.timeout_s * 1000:.0f} ms"
            ) from None
        except redis.AuthenticationError as error:
            raise problem_of(error, self.command) from None
        except redis.ConnectionError as error:
            raise Stopped(f"Redis at {self.address}: {error}") from None
        except redis.ResponseError as error:
            raise Stopped(f"{problem_of(error, self.command)}") from None

    def ask(self, requests: Sequence[Request]) -> Answers:
        today = datetime.datetime.now(datetime.timezone.utc).date()
        pipeline = self.client.pipeline(transaction=False)
        keys = []
        for request in requests:
            items = request.items
            if self.item != "{item}":
                items = [expand_pattern(self.item, item=item) for item in items]
            keys.append(keys_of(self.key, request.user_id, request.filter, today, self.days))
            for key in keys[-1]:
                pipeline.execute_command(self.command, key, *items)
        replies = iter(self.try_to(lambda: pipeline.execute(raise_on_error=False)))
        return [
            self.read_answer(request, [(key, next(replies)) for key in its])
            for request, its in zip(requests, keys)
        ]

    def read_answer(self, request: Request, replies: list[tuple[str, Any]]) -> OldAnswer | Problem:
        answer = OldAnswer(dropped=set())
        for key, reply in replies:
            errors = [reply] if isinstance(reply, Exception) else []
            if not errors and (not isinstance(reply, list) or len(reply) != len(request.items)):
                return Problem(f"Redis: {self.command} {key}: expected {len(request.items)} results")
            errors = errors or [one for one in reply if isinstance(one, Exception)]
            if errors:
                problem = problem_of(errors[0], self.command, key)
                if isinstance(problem, Stopped):
                    raise problem
                return problem
            if self.command == "ZMSCORE":
                self.add_scores(request, reply, answer)
            else:
                answer.dropped.update(item for item, is_there in zip(request.items, reply) if is_there)
        return answer

    def add_scores(self, request: Request, scores: list[float | None], answer: OldAnswer) -> None:
        for item, score in zip(request.items, scores):
            if score is None:
                continue
            time_ms = time_of_score(score)
            if self.since_ms is None or time_ms >= self.since_ms:
                answer.dropped.add(item)
            if time_ms:
                answer.since_ms[item] = max(answer.since_ms.get(item, 0), time_ms)
