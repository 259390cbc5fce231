"""Libraries that tests preload into a daemon (LD_PRELOAD): disks that a test fills and empties, disks on
which compaction makes no progress, networks that it cuts, and clocks that are wrong. And a small file
system, which needs a mount."""

import errno
import os
import pathlib
import shutil
import subprocess

import pytest


def compiled(shim, directory, sources=pathlib.Path(__file__).parent):
    """Compiles the C file of this name into `directory`, once. Returns the path of the library."""
    library = pathlib.Path(directory) / f"{shim}.so"
    if not library.exists():
        compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or "clang"
        source = sources / f"{shim}.c"
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True
        )
    return library


class SlowCompaction:
    """A disk on which compaction makes no progress between `begin` and `end`. Checkpoints keep their
    speed."""

    def __init__(self, place):
        self.marker = place.with_name(f"{place.name}.slow")
        self.environment = {
            "LD_PRELOAD": str(compiled("slow_compaction", place.parent)),
            "SEEN_SLOW_COMPACTION": str(self.marker),
        }

    def begin(self):
        self.marker.touch()

    def end(self):
        self.marker.unlink()


def clock_ahead(directory, hours):
    """The environment of a daemon whose clock is so many hours ahead, or behind if the number is negative."""
    library = compiled("shifted_clock", directory)
    return {"LD_PRELOAD": str(library), "SEEN_CLOCK_SHIFT_S": str(hours * 3600)}


class Tmpfs:
    """A file system of 24 MiB and 600 files."""

    environment = {}

    def __init__(self, place):
        self.place = place
        options = ["-t", "tmpfs", "-o", "size=24m,nr_inodes=600"]
        mount = subprocess.run(["mount", *options, "tmpfs", str(place)], capture_output=True, text=True)
        if mount.returncode != 0:
            pytest.skip(f"needs a small file system, and mount isn't permitted here: {mount.stderr.strip()}")

    def fill(self):
        """Uses up all bytes and all files that are left."""
        ballast = self.place / "ballast"
        ballast.mkdir()
        with open(ballast / "bytes", "wb", buffering=0) as file:
            for size in (65_536, 4_096):
                try:
                    while file.write(b"\0" * size):
                        pass
                except OSError as error:
                    assert error.errno == errno.ENOSPC
        try:
            for number in range(1_000):
                (ballast / str(number)).touch()
        except OSError as error:
            assert error.errno == errno.ENOSPC

    def free(self):
        shutil.rmtree(self.place / "ballast")

    def close(self):
        subprocess.run(["umount", "-l", str(self.place)], check=True)


class Preloaded:
    """A folder that full_disk.c can make look full. It works for every user on every machine that has built
    the daemon."""

    def __init__(self, place):
        self.place = place
        self.marker = place.with_name(f"{place.name}.full")
        library = compiled("full_disk", place.parent)
        self.environment = {"LD_PRELOAD": str(library), "SEEN_FULL_DISK": str(place)}

    def fill(self):
        self.marker.touch()

    def free(self):
        self.marker.unlink()

    def close(self):
        pass


@pytest.fixture(params=[Tmpfs, Preloaded], ids=["tmpfs", "preloaded"])
def small_disk(request, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    disk = request.param(place)
    yield disk
    disk.close()


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
