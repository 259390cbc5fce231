"""Additions of many records, in the order of their records, to be asked by user.

The newest stand as they came, in the tail; a question looks through all of it. A full tail becomes a chunk:
sorted by user, for a binary search. Eight small chunks become a large one. A chunk goes once none of its
additions is held, and is written again once fewer than half are.

Bytes: 16 an addition, and 48 a source. Dropped ones stay for a while, at most as many as are held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .hashing import Bools, U32s, U64s
from .update import Section

TAIL_ROWS = 1 << 16
CHUNK_ROWS_MAX = 1 << 19
CHUNKS_A_MERGE = 8

SOURCE = np.dtype(
    [
        ("record", np.int64),  # numbers all records, in the order in which they came
        ("generation", np.int64),
        ("to", np.int64),  # who knows all events below this offset knows these additions
        ("as_of_before", np.int64),
        ("partition", np.int32),
        ("until_s", np.uint32),
        ("items", np.uint32),
        ("kind", np.uint8),
        ("is_held", np.bool_),
    ],
    align=True,
)
"""What the additions of one section of one record share."""
Sources = npt.NDArray[Any]


class Source(NamedTuple):
    """The fields that `add` takes."""

    record: int
    generation: int
    to: int
    as_of_before: int
    partition: int


class Block:
    """Additions: of each its user, its fingerprint, and the place of its source."""

    __slots__ = ("first", "held", "origins", "prints", "rows", "sources", "sources_used", "users")

    def __init__(self, users: U64s, prints: U32s, origins: U32s, sources: Sources, rows: int) -> None:
        self.users, self.prints, self.origins, self.sources = users, prints, origins, sources
        self.rows = self.held = rows
        self.sources_used = len(sources) if rows else 0
        self.first = 0  # no source before it is held

    @property
    def nbytes(self) -> int:
        return self.users.nbytes + self.prints.nbytes + self.origins.nbytes + self.sources.nbytes

    def add(self, section: Section, source: Source) -> None:
        """Only to the tail, which has room for it."""
        at, end = self.rows, self.rows + len(section.fingerprints)
        self.users[at:end] = _user_of_each(section)
        self.prints[at:end] = section.fingerprints
        self.origins[at:end] = self.sources_used
        self.sources[self.sources_used] = (*source, section.until_s, end - at, section.kind, True)
        self.sources_used += 1
        self.held += end - at
        self.rows = end  # last: others may be reading

    def drop(self, chosen: npt.NDArray[np.intp]) -> int:
        """Drops all additions of these sources, which are held. Returns how many."""
        self.sources["is_held"][chosen] = False
        dropped = int(self.sources["items"][chosen].sum(dtype=np.int64))
        self.held -= dropped
        return dropped

    def oldest(self) -> int:
        """The place of the first source that is held. There is one."""
        is_held = self.sources["is_held"]
        while not is_held[self.first]:
            self.first += 1
        return self.first


class AdditionLog:
    """One thread may change it while others ask: what they then see is from before or after."""

    def __init__(self) -> None:
        self._chunks: tuple[Block, ...] = ()
        self._tail = _empty_tail()
        self._view: tuple[tuple[Block, ...], Block] = ((), self._tail)
        self.held = 0

    @property
    def nbytes(self) -> int:
        chunks, tail = self._view
        return sum(chunk.nbytes for chunk in chunks) + tail.nbytes

    def add(self, section: Section, source: Source) -> None:
        """The sources of a record come one after the other, and records in the order of their numbers."""
        items = len(section.fingerprints)
        if self._tail.rows + items > len(self._tail.users):
            self._seal()
        if items > len(self._tail.users):
            self._tail = _empty_tail(items)
        self._tail.add(section, source)
        self.held += items
        self._show()

    def of_user(self, user: np.uint64) -> tuple[U32s, Sources]:
        """The fingerprints that are held of a user, each with its source."""
        chunks, tail = self._view
        prints: list[U32s] = []
        sources: list[Sources] = []
        for chunk in chunks:
            first = int(chunk.users.searchsorted(user))
            if first < chunk.rows and chunk.users[first] == user:
                end = int(chunk.users.searchsorted(user, "right"))
                prints.append(chunk.prints[first:end])
                sources.append(chunk.sources[chunk.origins[first:end]])
        at = np.flatnonzero(tail.users[: tail.rows] == user)
        if len(at) or not prints:
            prints.append(tail.prints[at])
            sources.append(tail.sources[tail.origins[at]])
        source = np.concatenate(sources)
        is_held: Bools = source["is_held"]
        return np.concatenate(prints)[is_held], source[is_held]

    def drop(self, partition: int, generation: int, to: int | None = None) -> None:
        """Drops the additions of a generation, of records that end at `to` or before."""
        touched = []
        for block in (*self._chunks, self._tail):
            sources = block.sources[: block.sources_used]
            chosen = sources["is_held"] & (sources["partition"] == partition)
            chosen &= sources["generation"] == generation
            if to is not None:
                chosen &= sources["to"] <= to
            places = np.flatnonzero(chosen)
            if len(places):
                self.held -= block.drop(places)
                touched.append(block)
        self._tidy(touched)

    def drop_oldest(self, held_max: int, losing: Callable[[Source], None]) -> None:
        """Drops the oldest records until at most so many additions are held. It calls `losing` before each
        drop."""
        last = -1
        touched: list[Block] = []
        blocks = iter((*self._chunks, self._tail))
        block = next(blocks)
        while self.held:
            while not block.held:
                block = next(blocks)
            place = block.oldest()
            source = Source(*block.sources[place].item()[: len(Source._fields)])
            if self.held <= held_max and source.record != last:
                break
            last = source.record
            losing(source)
            self.held -= block.drop(np.array([place]))
            if not touched or touched[-1] is not block:
                touched.append(block)
        self._tidy(touched)

    def _seal(self) -> None:
        if self._tail.held:
            self._chunks = _merged([*self._chunks, _sorted([self._tail])])
        self._tail = _empty_tail()
        self._show()

    def _tidy(self, touched: Sequence[Block]) -> None:
        """After drops from these."""
        if not touched:
            return
        if self._tail is touched[-1] and not self._tail.held:
            self._tail = _empty_tail()
        if any(2 * block.held < block.rows for block in touched if block is not self._tail):
            kept = [chunk for chunk in self._chunks if chunk.held]
            self._chunks = _merged(
                [chunk if 2 * chunk.held >= chunk.rows else _sorted([chunk]) for chunk in kept]
            )
        self._show()

    def _show(self) -> None:
        self._view = (self._chunks, self._tail)


def _empty_tail(rows: int | None = None) -> Block:
    rows = TAIL_ROWS if rows is None else rows
    prints, origins = np.empty(rows, np.uint32), np.empty(rows, np.uint32)
    return Block(np.empty(rows, np.uint64), prints, origins, np.empty(rows, SOURCE), 0)


def _user_of_each(section: Section) -> U64s:
    if len(section.users) == len(section.fingerprints):
        return section.users
    return np.repeat(section.users, section.counts)


def _sorted(blocks: Sequence[Block]) -> Block:
    """What is held of some neighbours, in one block that is sorted by user."""
    users: list[U64s] = []
    prints: list[U32s] = []
    origins: list[U32s] = []
    sources: list[Sources] = []
    before = 0
    for block in blocks:
        table = block.sources[: block.sources_used]
        is_held: Bools = table["is_held"]
        place = (np.cumsum(is_held) + (before - 1)).astype(np.uint32)  # of those that are held
        origin = block.origins[: block.rows]
        if block.held == block.rows:
            users.append(block.users[: block.rows])
            prints.append(block.prints[: block.rows])
        else:
            rows = np.flatnonzero(is_held[origin])
            users.append(block.users[rows])
            prints.append(block.prints[rows])
            origin = origin[rows]
        origins.append(place[origin])
        sources.append(table[is_held])
        before += len(sources[-1])
    user = np.concatenate(users)
    # The stable sort finds runs that are sorted already, and merges them.
    order = np.argsort(user, kind="stable" if len(blocks) > 1 else None)
    return Block(
        user[order],
        np.concatenate(prints)[order],
        np.concatenate(origins)[order],
        np.concatenate(sources),
        len(user),
    )


def _merged(chunks: Sequence[Block]) -> tuple[Block, ...]:
    """The chunks, where each eight neighbours that are small together are one."""
    merged: list[Block] = []
    run: list[Block] = []
    rows = 0
    for chunk in chunks:
        if rows + chunk.rows > CHUNK_ROWS_MAX:
            merged += run
            run, rows = [], 0
        run.append(chunk)
        rows += chunk.rows
        if len(run) == CHUNKS_A_MERGE:
            merged.append(_sorted(run))
            run, rows = [], 0
    return (*merged, *run)
