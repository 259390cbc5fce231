"""Cuts a daemon's network: only the connections to the brokers, or only all others."""

import pathlib

from shims import compiled


class Network:
    """A daemon that starts with this environment can be cut off while it runs."""

    def __init__(self, directory, name, bootstrap):
        self.prefix = pathlib.Path(directory) / f"{name}-cut"
        library = compiled("cut_network", directory)
        self.environment = {
            "LD_PRELOAD": str(library),
            "SEEN_CUT": str(self.prefix),
            "SEEN_CUT_PORT": bootstrap.rpartition(":")[2],
        }

    def cut(self, what):
        """`what`: brokers or others."""
        self.marker(what).touch()

    def mend(self, what):
        self.marker(what).unlink()

    def marker(self, what):
        return self.prefix.with_name(f"{self.prefix.name}.{what}")
