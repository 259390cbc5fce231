"""A control group (version 1 or 2) that bounds a process's memory, including the page cache of its files."""

import os
import pathlib
import time

ROOT = pathlib.Path("/sys/fs/cgroup")


class Cgroup:
    """Use with `with`. `add` a process before it reads its files: a page counts for the group that reads it
    first."""

    def __init__(self, name, memory_mib):
        self.version = 2 if (ROOT / "cgroup.controllers").exists() else 1
        self.folder = (ROOT if self.version == 2 else ROOT / "memory") / name
        self.memory_mib = memory_mib

    def __enter__(self):
        if self.version == 2:
            (ROOT / "cgroup.subtree_control").write_text("+memory")
        self.folder.mkdir(exist_ok=True)
        limit = "memory.max" if self.version == 2 else "memory.limit_in_bytes"
        (self.folder / limit).write_text(str(self.memory_mib << 20))
        return self

    def __exit__(self, *_):
        for _ in range(100):  # a process that has just ended may still be in the group
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.1)

    def add(self, pid):
        (self.folder / "cgroup.procs").write_text(str(pid))


def forget_pages(directory):
    """Drops these files from the page cache, so that the next reader gets them from the disk."""
    os.sync()
    for folder, _, files in os.walk(directory):
        for name in files:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
            try:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)
