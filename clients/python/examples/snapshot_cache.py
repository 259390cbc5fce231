"""The last snapshot of each user, in bounded memory."""

from __future__ import annotations

import collections
import threading

from seen_client import Snapshot

OVERHEAD_BYTES = 2_000  # of a snapshot as objects, and its place in here


class SnapshotCache:
    """At most so many users and bytes: the least recently used goes first. Any number of threads may use it.

    So a miss doesn't mean "nothing seen": the user may have gone, or had a tombstone, or never had a
    snapshot."""

    def __init__(self, users_max: int, bytes_max: int) -> None:
        self._users_max, self._bytes_max = users_max, bytes_max
        self._lock = threading.Lock()
        self._entries: collections.OrderedDict[str, tuple[Snapshot, int]] = collections.OrderedDict()
        self._bytes = 0
        self._missed: set[str] = set()

    def get(self, user: str) -> Snapshot | None:
        with self._lock:
            if user in self._entries:
                self._entries.move_to_end(user)
                return self._entries[user][0]
            if len(self._missed) < self._users_max:
                self._missed.add(user)
            return None

    def put(self, user: str, snapshot: Snapshot) -> None:
        """What the topic says: it replaces what was there."""
        with self._lock:
            self._missed.discard(user)
            self._put(user, snapshot)

    def forget(self, user: str) -> None:
        """A tombstone."""
        with self._lock:
            self._missed.discard(user)
            self._drop(user)

    def fill(self, user: str, snapshot: Snapshot) -> None:
        """What was asked for elsewhere after a miss; ignored if the topic has told of the user meanwhile."""
        with self._lock:
            if user in self._missed:
                self._missed.discard(user)
                self._put(user, snapshot)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes(self) -> int:
        """Roughly what it takes."""
        return self._bytes

    def _put(self, user: str, snapshot: Snapshot) -> None:
        self._drop(user)
        size = OVERHEAD_BYTES + snapshot.nbytes + len(user)
        self._entries[user] = (snapshot, size)
        self._bytes += size
        while self._entries and (len(self._entries) > self._users_max or self._bytes > self._bytes_max):
            self._drop(next(iter(self._entries)))

    def _drop(self, user: str) -> None:
        entry = self._entries.pop(user, None)
        if entry is not None:
            self._bytes -= entry[1]
