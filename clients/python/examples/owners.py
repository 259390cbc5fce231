"""Whom to ask about a user: the daemon that owns the user's partition, as `GET /v1/routes` says.
docs/HTTP.md."""

from __future__ import annotations

import http.client
import itertools
import json
import logging
import threading
import time
import urllib.parse
from collections.abc import Sequence
from typing import Any, NamedTuple

from seen_client import partition_of

log = logging.getLogger("seen")
REFRESH_S = 10.0  # routes are read again so often
REFRESH_S_MIN = 1.0  # and no sooner than this, however much goes wrong
FETCH_TIMEOUT_S = 1.0
AWAY_S = 1.0  # a daemon that didn't answer is asked last for so long


class Daemon(NamedTuple):
    address: str  # http://HOST:PORT
    instance: str = ""  # who must answer there; empty: anybody may


class Routes:
    """One answer of /v1/routes. It never changes."""

    def __init__(self, answer: Any) -> None:
        """`answer`: its JSON. ValueError, KeyError, TypeError or AttributeError if it is no such answer."""
        self._partitions, self._partitioner = int(answer["partitions"]), str(answer["partitioner"])
        self._by_partition: dict[int, list[Daemon]] = {}
        self.addresses: list[str] = []
        # An owner goes before the replicas. A route without a role is an owner's.
        for route in sorted(answer["routes"], key=lambda route: route.get("role", "owner") != "owner"):
            if route["address"] is None:
                continue
            daemon = Daemon("http://" + route["address"], route["instance"])
            if daemon.address not in self.addresses:
                self.addresses.append(daemon.address)
            if route["state"] == "ready":
                self._by_partition.setdefault(route["partition"], []).append(daemon)
        if self._by_partition:
            partition_of("", self._partitions, self._partitioner)  # ValueError: it isn't known here

    @classmethod
    def none(cls) -> Routes:
        return cls({"partitions": 0, "partitioner": "", "routes": []})

    def of(self, user: str) -> list[Daemon]:
        """The daemons that answer for the user: the owner first. Empty: no daemon is known to."""
        if not self._by_partition:
            return []
        return self._by_partition.get(partition_of(user, self._partitions, self._partitioner), [])


class Owners:
    """Reads the routes on a thread of its own. Nobody waits for it. Any number of threads may ask."""

    def __init__(self, addresses: Sequence[str]) -> None:
        """`addresses`: of some daemons of one group, or of a load balancer. One that answers is enough."""
        self._addresses = [address.strip().rstrip("/") for address in addresses]
        for address in self._addresses:
            url = urllib.parse.urlsplit(address)
            if url.scheme not in ("http", "https") or not url.netloc:
                raise ValueError(f"{address!r} is no address like http://127.0.0.1:8080")
        self._routes = Routes.none()
        self._away_until: dict[str, float] = {}
        self._turns = itertools.count()
        self._wanted, self._stopped = threading.Event(), threading.Event()
        self._wanted.set()
        self._thread = threading.Thread(target=self._run, name="owners", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        self._wanted.set()
        self._thread.join()

    def whom_to_ask(self, user: str) -> list[Daemon]:
        """Best first: the owner, its replicas, then the others, which pass a request on. The absent come
        last."""
        routes = self._routes
        best = routes.of(user)
        if not best and routes.addresses:
            self.refresh()
        others = self._all(routes, {daemon.address for daemon in best})
        return self._absent_last(best + [Daemon(address) for address in others])

    def failed(self, daemon: Daemon) -> None:
        """It didn't answer."""
        self._away_until[daemon.address] = time.monotonic() + AWAY_S
        self.refresh()

    def refresh(self) -> None:
        """The routes seem to be old. Returns at once."""
        self._wanted.set()

    def _all(self, routes: Routes, but: set[str]) -> list[str]:
        """Those that the routes name were alive a moment ago: they come first. They take turns."""
        turn, others = next(self._turns), []
        for addresses in (routes.addresses, self._addresses):
            new = [address for address in addresses if address not in but and address not in others]
            first = turn % max(1, len(new))
            others += new[first:] + new[:first]
        return others

    def _absent_last(self, daemons: list[Daemon]) -> list[Daemon]:
        now = time.monotonic()
        return sorted(daemons, key=lambda daemon: self._away_until.get(daemon.address, 0) > now)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._wanted.wait(REFRESH_S)
            self._wanted.clear()
            for daemon in self._absent_last([Daemon(address) for address in self._all(self._routes, set())]):
                if self._stopped.is_set() or self._read(daemon.address):
                    break
            self._stopped.wait(REFRESH_S_MIN)

    def _read(self, address: str) -> bool:
        """Whether the daemon knows routes."""
        url = urllib.parse.urlsplit(address)
        connection_type = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        connection = connection_type(url.netloc, timeout=FETCH_TIMEOUT_S)
        try:
            connection.request("GET", url.path + "/v1/routes")
            response = connection.getresponse()
            body = response.read()
            routes = Routes(json.loads(body)) if response.status == 200 else Routes.none()
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError) as error:
            log.debug("no routes from %s: %r", address, error)
            return False
        finally:
            connection.close()
        if not routes.addresses:
            return False  # it has heard nobody: what was known is better
        self._routes = routes
        return True
