"""A user's seen items as a filter."""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt

from .clock import date_of, datetime_of, day_of
from .envelope import Header, read_header
from .errors import MalformedSnapshotError
from .hashing import (
    GROUP,
    MASK_32,
    NEAR,
    Bools,
    ItemId,
    U32s,
    fingerprint,
    fingerprints,
    hash_of,
    hashes_of,
    id_text,
    in_domain,
    in_domain_each,
)
from .kinds import FILTERS, DayChain, Filter, FilterKind, IndexedCuckoo

ItemT = TypeVar("ItemT", str, int)
AnyItem = TypeVar("AnyItem", bound=ItemId)
Bytes = Union[bytes, bytearray, memoryview]
SIMILAR_START = 8  # bytes before the second payload, for look-ups that go by windows of eight
CREATED_SECOND_MAX = (1 << 62) - 1


class Detail(NamedTuple):
    """What an indexed snapshot knows of an item."""

    number: int
    """Items are numbered as they were inserted, modulo 2^32."""
    day: datetime.date | None
    """The UTC day it was shown on; None where the snapshot doesn't say."""
    rank: int | None
    """Which item of its day, from 0 on."""


class Snapshot:
    """Which items a user has seen, as of a time. "No" is certain; "yes" is wrong at about
    `false_positive_rate`.

    Immutable; any number of threads may ask one. It keeps the bytes it was read from and about a kilobyte
    more; two kinds keep decoded items too: `fingerprints` 4 bytes each, `quotient` 8 bytes each once a batch
    was asked for."""

    __slots__ = ("_also_seen", "_filter", "_header", "_nbytes", "_similar")

    def __init__(self, data: Bytes, *, with_updates: bool = False) -> None:
        """Reads and checks the bytes of a record or of an HTTP answer. SnapshotError if they are to be
        refused.

        A published snapshot of a filter with updates is late by itself. So it is refused, unless the caller
        reads the updates too (`with_updates`): `FilterReader` does."""
        if not isinstance(data, bytes):
            data = bytes(memoryview(data))  # which refuses an int: bytes(7) would be seven zeros
        header = read_header(data, with_updates)
        self._nbytes = len(data)
        self._header: Header = header
        self._similar: Filter | None = None
        items = data[: len(data) - header.similar_bytes]  # the same object, where nothing is cut off
        self._filter: Filter | None = FILTERS[header.kind](items, header.header_bytes)
        if header.similar_kind is not None:
            try:
                self._similar = FILTERS[header.similar_kind](
                    data[len(items) - SIMILAR_START :], SIMILAR_START
                )
            except MalformedSnapshotError as error:
                raise MalformedSnapshotError(f"what is similar: {error}") from None
        self._also_seen: frozenset[str] = frozenset()

    @classmethod
    def empty(cls, *, partition: int = -1, as_of_ms: int = 0) -> Snapshot:
        """Nothing seen: for a user with a tombstone, or never heard of. Its rate is 0, as it errs about no
        item."""
        snapshot = cls.__new__(cls)
        snapshot._header = Header(FilterKind.FINGERPRINTS, 0, 0, as_of_ms, 0, partition, 0, 0.0)
        snapshot._filter = snapshot._similar = None
        snapshot._nbytes = 0
        snapshot._also_seen = frozenset()
        return snapshot

    def with_also_seen(self, ids: Iterable[ItemId]) -> Snapshot:
        """The same, but that these count as seen too: this request's earlier pages, for instance. Shares the
        filter."""
        snapshot = type(self).__new__(type(self))
        snapshot._header, snapshot._filter, snapshot._nbytes = self._header, self._filter, self._nbytes
        snapshot._similar = self._similar
        snapshot._also_seen = self._also_seen.union(map(id_text, item_list(ids)))
        return snapshot

    # --- what it is

    @property
    def kind(self) -> FilterKind:
        return self._header.kind

    @property
    def item_count(self) -> int:
        """How many items the filter holds, without `with_also_seen`."""
        return self._header.item_count

    @property
    def as_of(self) -> datetime.datetime:
        """Up to when the stream had been read, in UTC. What is beyond the years 1 to 9999 is the nearest of
        them."""
        return datetime_of(self._header.as_of_ms)

    @property
    def as_of_ms(self) -> int:
        return self._header.as_of_ms

    @property
    def horizon(self) -> datetime.date:
        """The first UTC day of the window when the snapshot was made. What has a window of its own may be
        older."""
        return date_of(self._header.horizon_day)

    @property
    def horizon_day(self) -> int:
        """The same in days since 1970-01-01."""
        return self._header.horizon_day

    @property
    def partition(self) -> int:
        """The input partition, as in the watermarks."""
        return self._header.partition

    @property
    def input_offset(self) -> int:
        """Every record of the input partition below it is in."""
        return self._header.input_offset

    @property
    def generation(self) -> int:
        """Of `input_offset`: offsets compare within one generation only. 0 where the filter has no
        updates."""
        return self._header.generation

    @property
    def false_positive_rate(self) -> float:
        return self._header.false_positive_rate

    @property
    def nbytes(self) -> int:
        """The length of the bytes it was read from, which it keeps."""
        return self._nbytes

    def __repr__(self) -> str:
        return (
            f"<Snapshot {self.kind.name.lower()}: {self.item_count} items as of {self.as_of.isoformat()}, "
            f"rate {self.false_positive_rate}>"
        )

    # --- one item

    def might_contain(
        self, item: ItemId, *, created_at_ms: int | None = None, window_start: datetime.date | None = None
    ) -> bool:
        """May the user have seen it?

        A snapshot of kind `day_chain` leaves out the days that ended before the item was created (ms since
        1970; None or 0: not known) and those before `window_start`, and then errs more rarely. The other
        kinds hold all days as one and don't look at either."""
        if self._also_seen and id_text(item) in self._also_seen:
            return True
        print32 = fingerprint(item)
        if isinstance(self._filter, DayChain):
            created = None if created_at_ms is None else created_at_ms // 1000
            return self._filter.contains_since(hash_of(print32), created, _day(window_start))
        return self._contains(print32)

    def might_contain_fingerprint(self, print32: int) -> bool:
        """The same for a fingerprint, 0 to 2^32 - 1. `with_also_seen` doesn't count, as it goes by ids."""
        if not 0 <= print32 <= MASK_32:
            raise ValueError(f"{print32} is no fingerprint: it is 0 to {MASK_32}")
        return self._contains(operator.index(print32))

    def _contains(self, print32: int) -> bool:
        return self._filter is not None and self._filter.contains(print32, hash_of(print32))

    def details(self, item: ItemId) -> list[Detail]:
        """What a snapshot of kind `indexed_cuckoo` knows of an item: of all that may be it the newest first.

        One of them at most is right. Nothing where it wasn't seen, or the snapshot is of another kind.
        """
        if not isinstance(self._filter, IndexedCuckoo):
            return []
        entries = self._filter.entries(hash_of(fingerprint(item)))
        return [Detail(e.number, None if e.day is None else date_of(e.day), e.rank) for e in entries]

    # --- many items

    @overload
    def unseen(
        self,
        items: Iterable[ItemT],
        *,
        created_at_ms: Iterable[int | None] | None = None,
        window_start: datetime.date | None = None,
    ) -> list[ItemT]: ...

    @overload
    def unseen(
        self,
        items: Iterable[ItemId],
        *,
        created_at_ms: Iterable[int | None] | None = None,
        window_start: datetime.date | None = None,
    ) -> list[ItemId]: ...

    def unseen(
        self,
        items: Iterable[ItemId],
        *,
        created_at_ms: Iterable[int | None] | None = None,
        window_start: datetime.date | None = None,
    ) -> list[Any]:
        """Those of the items that the user hasn't seen: in the order given, each once, 7 and "7" being the
        same.

        `created_at_ms`, where given, has one for each item; of an id that comes twice the latest counts. See
        `might_contain` for what it does.
        """
        given = item_list(items)
        created = _created_seconds(created_at_ms, len(given))
        texts = list(map(id_text, given))
        latest: dict[str, int] = {}
        if len(set(texts)) != len(texts):
            latest = dict.fromkeys(texts, 0)
            if created is not None:
                for text, second in zip(texts, created.tolist()):
                    latest[text] = max(latest[text], second)
                created = np.fromiter(latest.values(), np.int64, len(latest))
            first = dict(zip(reversed(texts), reversed(given)))
            texts = list(latest)
            given = [first[text] for text in texts]
        seen = self._contains_many(fingerprints(texts), created, window_start).tolist()
        if self._also_seen:
            return [
                item
                for item, text, is_seen in zip(given, texts, seen)
                if not is_seen and text not in self._also_seen
            ]
        return [item for item, is_seen in zip(given, seen) if not is_seen]

    def might_contain_many(
        self,
        items: Iterable[ItemId],
        *,
        created_at_ms: Iterable[int | None] | None = None,
        window_start: datetime.date | None = None,
    ) -> Bools:
        """`might_contain` of each item, as an array of bool in the order given."""
        given = item_list(items)
        seen = self._contains_many(
            fingerprints(given), _created_seconds(created_at_ms, len(given)), window_start
        )
        if self._also_seen:
            seen |= np.fromiter((id_text(item) in self._also_seen for item in given), np.bool_, len(given))
        return seen

    def might_contain_fingerprints(self, prints: npt.ArrayLike) -> Bools:
        """`might_contain_fingerprint` of each of a one-dimensional array of integers."""
        array = np.asarray(prints)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise TypeError(
                f"fingerprints are a one-dimensional array of integers, not of {array.dtype} {array.shape}"
            )
        if array.size and not 0 <= int(array.min()) <= int(array.max()) <= MASK_32:
            raise ValueError(f"there are numbers that are no fingerprints: those are 0 to {MASK_32}")
        return self._contains_many(array.astype(np.uint32), None, None)

    def _contains_many(
        self, prints: U32s, created_seconds: npt.NDArray[np.int64] | None, window_start: datetime.date | None
    ) -> Bools:
        if self._filter is None or not len(prints):
            return np.zeros(len(prints), np.bool_)
        hashes = hashes_of(prints)
        if isinstance(self._filter, DayChain):
            return self._filter.contains_many_since(hashes, created_seconds, _day(window_start))
        return self._filter.contains_many(prints, hashes)

    # --- what is similar

    @property
    def has_similar(self) -> bool:
        """Whether it says what is like the items that were seen (`filters[].similar`). If not, nothing is
        near."""
        return self._similar is not None

    @property
    def similar_kind(self) -> FilterKind | None:
        return self._header.similar_kind

    @property
    def similar_count(self) -> int:
        """How many fingerprints of near items and of groups it holds."""
        return self._header.similar_count

    def might_be_near(self, item: ItemId) -> bool:
        """May an item like this one have been seen?

        One that was seen itself need not be near another: that is `might_contain`. `with_also_seen` doesn't
        count."""
        return self._holds_similar(fingerprint(item), NEAR)

    def might_hold_group(self, group: ItemId) -> bool:
        """May an item of this group have been seen? By the group's id, as in the topic of groups."""
        return self._holds_similar(fingerprint(group), GROUP)

    def might_be_near_many(self, items: Iterable[ItemId]) -> Bools:
        """`might_be_near` of each, as an array of bool in the order given."""
        return self._holds_similar_many(fingerprints(item_list(items)), NEAR)

    def might_hold_group_many(self, groups: Iterable[ItemId]) -> Bools:
        """`might_hold_group` of each, likewise."""
        return self._holds_similar_many(fingerprints(item_list(groups)), GROUP)

    def _holds_similar(self, print32: int, domain: int) -> bool:
        if self._similar is None:
            return False
        mapped = in_domain(print32, domain)
        return self._similar.contains(mapped, hash_of(mapped))

    def _holds_similar_many(self, prints: U32s, domain: int) -> Bools:
        return self.holds_each(in_domain_each(prints, domain), is_similar=True)

    def holds_each(self, prints: U32s, *, is_similar: bool) -> Bools:
        """By the fingerprints as the filter has them: the first filter, or that of what is similar."""
        held = self._similar if is_similar else self._filter
        if held is None or not len(prints):
            return np.zeros(len(prints), np.bool_)
        return held.contains_many(prints, hashes_of(prints))

    # --- how many to recall

    def recall_size(self, want: int) -> int:
        """How many candidates to recall so that, all but certainly, `want` of them are unseen. 0 where `want`
        is 0 or less."""
        want = operator.index(want)
        if want <= 0:
            return 0
        rate = self.false_positive_rate
        seen = self.item_count
        if self._also_seen:
            held = self._contains_many(fingerprints(sorted(self._also_seen)), None, None)
            seen += len(held) - int(np.count_nonzero(held))
        return seen + math.ceil((want + 3 * math.sqrt(want * rate)) / (1 - rate))


def item_list(items: Iterable[AnyItem]) -> list[AnyItem]:
    """TypeError for a single id."""
    if isinstance(items, (str, bytes)):
        raise TypeError(f"a list of item ids is wanted, not the single {items!r}")
    return list(items)


def _day(date: datetime.date | None) -> int | None:
    return None if date is None else day_of(date)


def _created_seconds(created_at_ms: Iterable[int | None] | None, items: int) -> npt.NDArray[np.int64] | None:
    if created_at_ms is None:
        return None
    seconds: Sequence[int] = [
        0 if ms is None else max(0, min(ms // 1000, CREATED_SECOND_MAX)) for ms in created_at_ms
    ]
    if len(seconds) != items:
        raise ValueError(f"created_at_ms has {len(seconds)} for {items} items; one each is wanted")
    return np.array(seconds, np.int64)
