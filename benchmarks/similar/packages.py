"""Files of the distribution's packages, from the machine's own apt mirror. Needs no root, installs nothing.

`fetched` downloads packages into a folder of its own, with apt's lists beside them. `files` reads a package
as a stream, so that nothing is unpacked onto the disk. NoTexts of descriptions.py says what is missing."""

import json
import pathlib
import re
import subprocess
import tarfile
import time

import descriptions
from descriptions import NoTexts

LIMIT_S = 600
FILE_BYTES_MAX = 64 << 20
LISTS_OF_PACKAGES = """\
Acquire::IndexTargets::deb::Packages::DefaultEnabled "true";
Acquire::IndexTargets::deb::Translations::DefaultEnabled "false";
"""


def apt(folder, program, *arguments, cwd=None):
    """(status, output, errors) of apt with lists of its own. The output is text. NoTexts: there is no apt."""
    try:
        run = subprocess.run(
            [program, "-c", folder / "apt.conf", *arguments],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except FileNotFoundError:
        raise NoTexts(f"{program} isn't there: the texts are of packages of Debian or Ubuntu") from None
    except subprocess.TimeoutExpired:
        return 1, "", f"no answer within {LIMIT_S} s"
    return run.returncode, run.stdout, run.stderr


def chosen(wanted, known):
    """The first name of each entry that is known. An entry is `name` or `name | name`. Entries without a
    known name are left out."""
    firsts = (next((name for name in entry.split(" | ") if name in known), None) for entry in wanted)
    return [name for name in firsts if name]


def fetched(wanted, folder):
    """{name: path of the package}. Downloads unless the packages are fresh. If the network fails, older
    packages are taken. NoTexts: there is no apt, or no network and no package."""
    stamp, debs = folder / "fetched", folder / "debs"
    wanted_text = json.dumps(sorted(wanted))
    fresh = (
        stamp.exists()
        and time.time() - stamp.stat().st_mtime < descriptions.FRESH_S
        and stamp.read_text() == wanted_text
    )
    if not fresh:
        said = refreshed(wanted, folder)
        if not said:
            stamp.write_text(wanted_text)
        elif not list(debs.glob("*.deb")):
            raise NoTexts(
                f"no packages from the apt mirror (/etc/apt/sources.list): is there a network?\n{said[-1500:].strip()}"
            )
    return {path.name.split("_")[0]: path for path in sorted(debs.glob("*.deb"))}


def refreshed(wanted, folder):
    """Downloads the packages. Returns apt's errors, or an empty text. The old packages stay until all new
    ones are there."""
    lists, coming, debs = folder / "lists", folder / "coming", folder / "debs"
    for place in (lists / "partial", folder / "state" / "cache" / "archives" / "partial", coming):
        place.mkdir(parents=True, exist_ok=True)
    (folder / "apt.conf").write_text(
        descriptions.APT.format(state=folder / "state", lists=lists) + LISTS_OF_PACKAGES
    )
    _, _, said = apt(folder, "apt-get", "update")
    names = chosen(wanted, set(apt(folder, "apt-cache", "pkgnames")[1].split()))
    if not names:
        return said or f"none of {', '.join(wanted)} is known"
    for path in coming.iterdir():
        path.unlink()
    status, _, said = apt(folder, "apt-get", "download", *names, cwd=coming)
    if status != 0:
        return said or "apt-get download failed"
    debs.mkdir(exist_ok=True)
    for path in debs.glob("*.deb"):
        path.unlink()
    for path in coming.glob("*.deb"):
        path.rename(debs / path.name)
    return ""


def files(deb, pattern):
    """(path, bytes) of the package's plain files whose path has `pattern`, in the order of the package.
    NoTexts: it can't be read."""
    wanted = re.compile(pattern)
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        try:
            with tarfile.open(fileobj=run.stdout, mode="r|") as archive:
                for member in archive:
                    if member.isfile() and member.size <= FILE_BYTES_MAX and wanted.search(member.name):
                        yield str(pathlib.PurePosixPath(member.name)), archive.extractfile(member).read()
        except tarfile.TarError as error:
            raise NoTexts(
                f"{deb} can't be read: {error}; {run.stderr.read().decode(errors='replace').strip()}"
            ) from None
