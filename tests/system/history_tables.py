"""Runs seen-history of clients/python, in the environment that has pyarrow and fastavro."""

import os
import subprocess

from places import SOURCE

CONVERT = SOURCE / "build" / "convert-tools" / "bin"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE / "clients" / "python" / "src")}


def seen_history(*arguments):
    command = [str(CONVERT / "python3"), "-m", "seen_history", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, env=ENVIRONMENT)


def program_in(folder):
    """A folder for PATH with the program seen-history."""
    folder.mkdir(exist_ok=True)
    program = folder / "seen-history"
    program.write_text(f'#!/bin/sh\nexec "{CONVERT}/python3" -m seen_history "$@"\n')
    program.chmod(0o755)
    return folder
