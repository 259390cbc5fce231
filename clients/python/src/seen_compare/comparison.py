"""Counts how two filters decide on the same candidates."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, fields

from seen_compare.old_filters import OldAnswer
from seen_compare.request_file import Request

SHARES = ("nothing", "up to 10%", *(f"{i * 10} to {i * 10 + 10}%" for i in range(1, 9)), "over 90%")
"""The bins of a histogram: the share of a request's candidates that was dropped."""


def share_bin(dropped: int, candidates: int) -> int:
    return -(-dropped * 10 // candidates)


@dataclass
class Agreement:
    """Candidates by the decisions of the two filters."""

    both: int = 0  # both drop it
    neither: int = 0  # both let it through
    only_old: int = 0  # only the old filter drops it
    only_new: int = 0  # only this filter drops it

    @property
    def candidates(self) -> int:
        return self.both + self.neither + self.only_old + self.only_new

    @property
    def agreed(self) -> int:
        return self.both + self.neither

    @property
    def share(self) -> float:
        """0 to 1; 1 if there are no candidates."""
        return self.agreed / self.candidates if self.candidates else 1.0

    def add(self, other: Agreement) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass
class Difference:
    """A candidate that one filter drops and the other one lets through."""

    is_old: bool  # the old filter drops it
    number: int = 0  # the request's
    place: str = ""  # of the request's line
    user_id: str = ""
    filter: str = ""
    item_id: str = ""
    has_created_at: bool = False  # the request gives the item's creation time
    old_since_ms: int = 0  # when the old filter got the item; 0: not known


class Sample:
    """An even sample of a stream, in bounded memory. Source: Vitter, Algorithm R, 1985."""

    def __init__(self, size_max: int, seed: int) -> None:
        self.size_max, self.random = size_max, random.Random(seed)
        self.total = 0
        self.kept: list[Difference] = []

    def next_place(self) -> int | None:
        """The place for the stream's next element in `kept`. None: the sample doesn't keep it."""
        self.total += 1
        if self.total <= self.size_max:
            return self.total - 1
        place = int(self.random.random() * self.total)
        return place if place < self.size_max else None

    def put(self, place: int, difference: Difference) -> None:
        self.kept[place : place + 1] = [difference]

    def in_order(self) -> list[Difference]:
        """By request."""
        return sorted(self.kept, key=lambda difference: difference.number)


class Comparison:
    def __init__(self, sample_max: int, seed: int) -> None:
        """`sample_max`: how many differences of each side the samples keep."""
        self.by_filter: dict[str, Agreement] = defaultdict(Agreement)
        self.old_shares, self.new_shares = [0] * len(SHARES), [0] * len(SHARES)
        self.only_old, self.only_new = Sample(sample_max, seed), Sample(sample_max, seed + 1)
        self.users: set[int] = set()  # their hashes
        self.requests = self.requests_that_differ = 0
        self.repeated = self.also_seen = self.unknown_items = 0

    def add(self, request: Request, old: OldAnswer, new_drops: set[str]) -> None:
        self.requests += 1
        self.users.add(hash(request.user_id))
        self.repeated += request.repeated
        self.also_seen += request.also_seen
        self.unknown_items += old.unknown_items
        differ = old.dropped ^ new_drops
        both = len(old.dropped & new_drops)
        counts = Agreement(
            both=both,
            neither=len(request.items) - both - len(differ),
            only_old=len(old.dropped) - both,
            only_new=len(new_drops) - both,
        )
        self.by_filter[request.filter].add(counts)
        if request.items:
            self.old_shares[share_bin(len(old.dropped), len(request.items))] += 1
            self.new_shares[share_bin(len(new_drops), len(request.items))] += 1
        if differ:
            self.requests_that_differ += 1
            self.add_differences(request, old, [item for item in request.items if item in differ])

    def add_differences(self, request: Request, old: OldAnswer, items: list[str]) -> None:
        for item in items:
            is_old = item in old.dropped
            sample = self.only_old if is_old else self.only_new
            place = sample.next_place()
            if place is None:
                continue
            sample.put(
                place,
                Difference(
                    is_old=is_old,
                    number=request.number,
                    place=request.place,
                    user_id=request.user_id,
                    filter=request.filter,
                    item_id=item,
                    has_created_at=item in request.created_ms,
                    old_since_ms=old.since_ms.get(item, 0),
                ),
            )

    @property
    def total(self) -> Agreement:
        total = Agreement()
        for counts in self.by_filter.values():
            total.add(counts)
        return total
