"""Chinese text in another script, by the program `opencc` of the package of that name (OpenCC,
https://github.com/BYVoid/OpenCC).

The bed's converted copies and its truth use OpenCC. The code that is measured has tables of its own.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile

LIMIT_S = 300
# The language of what a configuration gives.
LANGS = {
    "s2t": "zh-Hant",
    "s2tw": "zh-TW",
    "s2hk": "zh-HK",
    "s2twp": "zh-TW",
    "t2s": "zh-CN",
    "tw2s": "zh-CN",
    "tw2sp": "zh-CN",
}


class NoOpenCC(Exception):
    """The message says what to install."""


def is_there():
    return shutil.which("opencc") is not None


def converted(texts, configuration):
    """The texts in the script of `configuration` (one of LANGS), in order. One process converts all.
    NoOpenCC: the program isn't there, or it fails."""
    if not texts:
        return []
    with tempfile.TemporaryDirectory() as folder:
        given, done = pathlib.Path(folder) / "given", pathlib.Path(folder) / "done"
        given.write_text(
            "".join(json.dumps(text, ensure_ascii=False) + "\n" for text in texts), encoding="utf-8"
        )  # a text a line
        try:
            run = subprocess.run(
                ["opencc", "-c", f"{configuration}.json", "-i", given, "-o", done],
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        except FileNotFoundError:
            raise NoOpenCC(
                "opencc isn't there: apt-get install opencc, or scripts/setup.sh --bench"
            ) from None
        lines = done.read_text(encoding="utf-8").split("\n")[:-1] if done.exists() else []
    if run.returncode != 0 or len(lines) != len(texts):
        raise NoOpenCC(
            f"opencc -c {configuration}.json gave {len(lines)} of {len(texts)} texts, status {run.returncode}:"
            f" {run.stderr.strip()}"
        )
    return [json.loads(line) for line in lines]


def by_turns(texts, configurations):
    """[(text, lang), ...]: text i is converted by configuration i modulo their number."""
    out = [None] * len(texts)
    for turn, configuration in enumerate(configurations):
        places = range(turn, len(texts), len(configurations))
        for place, text in zip(places, converted([texts[place] for place in places], configuration)):
            out[place] = (text, LANGS[configuration])
    return out
