"""Libraries that tests preload into a daemon (LD_PRELOAD). They are compiled from C files."""

import os
import pathlib
import shutil
import subprocess


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
