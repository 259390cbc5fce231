"""Reads seen's snapshots: which of these items has the user already seen?

from seen_client import Snapshot

snapshot = Snapshot(record_value)            # SnapshotError if the bytes are to be refused
snapshot.unseen(["n1", "n2", 7])             # those not seen, in order, each once
snapshot.with_also_seen(["n9"]).unseen(ids)  # "n9" counts as seen too
snapshot.might_be_near("n3")                 # may one like it have been seen? Where `filters[].similar` is on
partition_of("u1", 12)                       # where a user's records are
"""

from .errors import MalformedSnapshotError, SnapshotError, UnsupportedSnapshotError, WatermarkError
from .hashing import ItemId, fingerprint
from .kinds import FilterKind
from .partitioner import partition_of
from .snapshot import Detail, Snapshot
from .watermarks import Watermark, Watermarks

__all__ = [
    "Detail",
    "FilterKind",
    "ItemId",
    "MalformedSnapshotError",
    "Snapshot",
    "SnapshotError",
    "UnsupportedSnapshotError",
    "Watermark",
    "WatermarkError",
    "Watermarks",
    "fingerprint",
    "partition_of",
]
