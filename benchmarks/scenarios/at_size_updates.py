"""at_size with updates: how fresh the answers of a C++ reader of snapshots and updates are in the same phases.
Before them comes an unpaced round of the refresh over all users, beside a load of `settle_rate`."""

from scenarios import at_size


def run(bench, settings, say):
    return at_size.run(bench, {"updates": "1", "settle_rate": "100000", **settings}, say)
