"""What is raised for bytes that came from outside. Wrong arguments are TypeError or ValueError, as
everywhere."""


class SnapshotError(ValueError):
    """These bytes can't be read as a snapshot. Never take that for an empty one: keep the one before it."""


class MalformedSnapshotError(SnapshotError):
    """Cut off, damaged, or no snapshot at all."""


class UnsupportedSnapshotError(SnapshotError):
    """Written by a newer program: a version, kind of filter, hash or flag that this reader doesn't know."""


class WatermarkError(ValueError):
    """A record of the watermark topic that can't be read. Keep the one before it."""


class UpdateError(ValueError):
    """A record of the topic of updates that can't be read. It changes nothing, so it becomes a gap."""


class MalformedUpdateError(UpdateError):
    """Cut off, damaged, or no update at all."""


class UnsupportedUpdateError(UpdateError):
    """Written by a newer program: a version, flag or kind of section that this reader doesn't know."""
