#!/usr/bin/env python3
"""Texts that nobody of this project wrote: the descriptions of a distribution's packages, from the machine's
own apt mirror.

    benchmarks/similar/descriptions.py [FOLDER]        build/similar by default; no root, nothing of the system is changed

writes FOLDER/long.jsonl, short.jsonl and zh.jsonl, one item a line: {"item_id","title","text","lang"}. All
texts differ. `long` has the long descriptions (as text). `short` has the synopses of one line (as title).
`zh` has both, in Chinese. The lists of a plain machine have no long descriptions. So apt fetches only the
translations (7 MB) into a separate folder. Debian and Ubuntu serve the same files. Debian 12 has about 61,000
long texts. Ubuntu 24.04 has about 64,000 (`main` and `universe`), and more in Chinese."""

import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "similar"
LIMIT_S = 120
FRESH_S = 30 * 86400  # older lists are fetched again
BYTES_MAX = 512 << 20
LISTS = {"en": "*_i18n_Translation-en", "zh": "*_i18n_Translation-zh*CN"}  # %5f or _ before CN
APT = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::Languages;
Acquire::Languages {{ "en"; "zh_CN"; }};
Acquire::GzipIndexes "false";
Acquire::IndexTargets::deb::Packages::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Dir::State "{state}";
Dir::State::Lists "{lists}";
Dir::Cache "{state}/cache";
APT::Sandbox::User "root";
"""


class NoTexts(Exception):
    """The message says what is missing and what to do."""


def fetched(folder=FOLDER):
    """The folder of apt's lists. Fetches the lists unless they are fresh. NoTexts: there is no apt, no
    network or no translation."""
    lists = folder / "lists"
    known = [path for pattern in LISTS.values() for path in lists.glob(pattern)]
    if (
        known
        and (folder / "fetched").exists()
        and time.time() - (folder / "fetched").stat().st_mtime < FRESH_S
    ):
        return lists
    for place in (lists / "partial", folder / "state" / "cache" / "archives" / "partial"):
        place.mkdir(parents=True, exist_ok=True)
    settings = folder / "apt.conf"
    settings.write_text(APT.format(state=folder / "state", lists=lists))
    try:
        run = subprocess.run(
            ["apt-get", "-c", settings, "update"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        said = run.stdout
    except FileNotFoundError:
        raise NoTexts(
            "apt-get isn't there: the texts are the package descriptions of Debian or Ubuntu"
        ) from None
    except subprocess.TimeoutExpired:
        said = f"no answer within {LIMIT_S} s"
    if not list(lists.glob(LISTS["en"])):
        raise NoTexts(
            f"no descriptions from the apt mirror (/etc/apt/sources.list): is there a network?\n{said[-1500:].strip()}"
        )
    (folder / "fetched").write_text(said)
    return lists


def paragraphs(path):
    """{field: text} of each package in a file of apt's lists. Continuation lines keep their leading space."""
    if path.stat().st_size > BYTES_MAX:
        raise NoTexts(f"{path} has {path.stat().st_size:,} bytes, at most {BYTES_MAX:,} are read")
    for block in path.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        fields, name = {}, None
        for line in block.split("\n"):
            if line[:1] in (" ", "\t"):
                fields[name] = fields.get(name, "") + "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if fields:
            yield fields


def split(description):
    """(synopsis, long text). A line with only a dot is an empty line."""
    synopsis, *lines = description.split("\n")
    long = "\n".join("" if line.strip() == "." else line[1:] for line in lines)
    return synopsis.strip(), long.strip()


def descriptions(paths, field):
    """(package, synopsis, long text), ordered by file name, then as in the list."""
    for path in sorted(paths):
        for fields in paragraphs(path):
            description = fields.get(field)
            if description and fields.get("Package"):
                yield fields["Package"], *split(description)


def distinct(texts):
    """The rows whose keys are new. Differences in white space don't count. `texts` yields (key, row)."""
    seen = set()
    for key, row in texts:
        key = " ".join(key.split())
        if key and key not in seen:
            seen.add(key)
            yield row


def corpora(lists):
    """{"long": [item], "short": [item], "zh": [item]} from apt's lists."""
    english = list(descriptions(lists.glob(LISTS["en"]), "Description-en"))
    chinese = [
        row
        for row in descriptions(lists.glob(LISTS["zh"]), "Description-zh_CN")
        if re.search("[\u4e00-\u9fff]", row[1] + row[2])
    ]
    return {
        "long": items(distinct((row[2], row) for row in english), "en", title=False),
        "short": items(distinct((row[1], row) for row in english), "en", text=False),
        "zh": items(distinct((row[1] + "\n" + row[2], row) for row in chinese), "zh"),
    }


def installed(folder, status=pathlib.Path("/var/lib/dpkg/status")):
    """Like prepared(), but of the installed packages: a few hundred English texts, without a network."""
    rows = list(descriptions([status], "Description")) if status.exists() else []
    if not rows:
        raise NoTexts(f"{status} has no descriptions: this isn't Debian or Ubuntu")
    wanted = {
        "long": items(distinct((row[2], row) for row in rows), "en", title=False),
        "short": items(distinct((row[1], row) for row in rows), "en", text=False),
    }
    for name, texts in wanted.items():
        write(folder / f"installed-{name}.jsonl", texts)
    return {name: folder / f"installed-{name}.jsonl" for name in wanted}


def items(rows, lang, title=True, text=True):
    """The ids are the names of the packages. The second text of a name (a security update, for example) gets
    a number."""
    names, out = {}, []
    for package, synopsis, long in rows:
        names[package] = names.get(package, 0) + 1
        item_id = package if names[package] == 1 else f"{package}~{names[package]}"
        out.append(
            {
                "item_id": item_id,
                "title": synopsis if title else "",
                "text": long if text else "",
                "lang": lang,
            }
        )
    return out


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path, wanted):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in wanted), encoding="utf-8")


def prepared(folder=FOLDER):
    """{"long": path, "short": path, "zh": path}. Writes the files again if apt's lists are newer."""
    lists = fetched(folder)
    paths = {name: folder / f"{name}.jsonl" for name in ("long", "short", "zh")}
    newest = max(path.stat().st_mtime for path in [folder / "fetched", pathlib.Path(__file__)])
    if any(not path.exists() or path.stat().st_mtime < newest for path in paths.values()):
        for name, wanted in corpora(lists).items():
            write(paths[name], wanted)
    return paths


def main():
    folder = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else FOLDER
    try:
        for name, path in prepared(folder).items():
            print(f"{name}: {len(read(path)):,} texts in {path}")
    except NoTexts as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
