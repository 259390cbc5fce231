"""Reads seen's snapshots: which of these items has the user already seen?

from seen_client import Snapshot

snapshot = Snapshot(record_value)            # SnapshotError if the bytes are to be refused
snapshot.unseen(["n1", "n2", 7])             # those not seen, in order, each once
snapshot.with_also_seen(["n9"]).unseen(ids)  # "n9" counts as seen too
snapshot.might_be_near("n3")                 # may one like it have been seen? Where `filters[].similar` is on
partition_of("u1", 12)                       # where a user's records are
FilterReader("default", range(12))           # snapshots and updates of a filter, fresh within a tenth of a second
"""

from .errors import (
    MalformedSnapshotError,
    MalformedUpdateError,
    SnapshotError,
    UnsupportedSnapshotError,
    UnsupportedUpdateError,
    UpdateError,
    WatermarkError,
)
from .filter_reader import FilterReader
from .hashing import ItemId, fingerprint
from .kinds import FilterKind
from .partitioner import partition_of
from .snapshot import Detail, Snapshot
from .update import Section, Update
from .watermarks import Watermark, Watermarks

__all__ = [
    "Detail",
    "FilterKind",
    "FilterReader",
    "ItemId",
    "MalformedSnapshotError",
    "MalformedUpdateError",
    "Section",
    "Snapshot",
    "SnapshotError",
    "UnsupportedSnapshotError",
    "UnsupportedUpdateError",
    "Update",
    "UpdateError",
    "Watermark",
    "WatermarkError",
    "Watermarks",
    "fingerprint",
    "partition_of",
]
