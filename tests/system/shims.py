"""Libraries that tests preload into a daemon (LD_PRELOAD), compiled from the C files of this folder."""

import os
import pathlib
import shutil
import subprocess


def compiled(shim, directory):
    """The library of the file of that name, in `directory`."""
    library = pathlib.Path(directory) / f"{shim}.so"
    if not library.exists():
        compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or "clang"
        source = pathlib.Path(__file__).with_name(f"{shim}.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library
