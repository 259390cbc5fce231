"""The golden files notice a broken reader: of the ways to break it in mutants.py all but a few."""

import contextlib
import importlib
import pathlib
import shutil
import signal
import sys
import warnings

import golden_checks as checks
import seen_client
from golden_checks import ALSO_SEEN, INDEX, SEQUENCES, UPDATE_INDEX, WATERMARKS
from mutants import MUTANTS

SOURCE = pathlib.Path(seen_client.__file__).parent
PACKAGE = SOURCE.name
UNNOTICED_MAX = 5
SECONDS_A_MUTANT_MAX = 20
IDS_ASKED_ONE_BY_ONE = 100  # of the random ones
RANDOM_FILES = (
    "hundred.bin",
    "similar_auto.bin",
    "similar_ids.bin",
    *(entry["file"] for entry in INDEX["snapshots"] if entry["file"].endswith("_hundred.bin")),
)


def jobs_for(file):
    """All checks, as (function, row). Those about this file of the reader come first, then the cheap ones."""
    kind = pathlib.PurePath(file).stem
    jobs = [(checks.check_watermarks, case) for case in WATERMARKS["cases"]]
    jobs += [(checks.check_also_seen, case) for case in ALSO_SEEN["cases"]]
    jobs += [(checks.check_refused, entry) for entry in INDEX["refused"]]
    jobs += [(checks.check_hash, row) for row in INDEX["hashes"]]
    jobs += [(checks.check_update, row) for row in UPDATE_INDEX["records"]]
    jobs += [(checks.check_update_refused, row) for row in UPDATE_INDEX["refused"]]
    jobs += [(checks.check_sequence, row) for row in SEQUENCES["sequences"]]
    by_size = sorted(INDEX["snapshots"], key=lambda entry: len(checks.read(entry["file"])))
    jobs += [(checks.check_accepted, entry) for entry in by_size]
    about = {
        "watermarks": [checks.check_watermarks],
        "hashing": [checks.check_hash, checks.check_accepted],
        "envelope": [checks.check_refused],
        "snapshot": [checks.check_also_seen],
        "update": [checks.check_update, checks.check_update_refused],
        "filter_reader": [checks.check_sequence],
    }.get(kind, [])

    def later(job):
        function, row = job
        return function not in about and not row.get("file", "").replace("refused_", "").startswith(kind[:8])

    return sorted(jobs, key=later) + [
        (check_random, entry) for entry in INDEX["snapshots"] if entry["file"] in RANDOM_FILES
    ]


def check_random(client, entry):
    checks.check_random(client, entry, IDS_ASKED_ONE_BY_ONE)


@contextlib.contextmanager
def imported(folder):
    """Imports the package from a folder. Afterwards `sys.modules` is as before."""

    def ours():
        return [name for name in sys.modules if name.split(".")[0] == PACKAGE]

    before = {name: sys.modules.pop(name) for name in ours()}
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))
        for name in ours():
            del sys.modules[name]
        sys.modules.update(before)


@contextlib.contextmanager
def time_limit(seconds):
    def end(_number, _frame):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of CPU: other programs take their time
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def is_noticed(folder, file):
    """Whether a check fails. A warning of a broken reader doesn't count."""
    with warnings.catch_warnings(), time_limit(SECONDS_A_MUTANT_MAX):
        warnings.simplefilter("ignore")
        try:
            with imported(folder) as client:
                for function, row in jobs_for(file):
                    function(client, row)
        except Exception:  # any: the unbroken reader raises none
            return True
    return False


def copied(folder):
    shutil.copytree(SOURCE, folder / PACKAGE)  # with the compiled files: Python compiles only the changed one
    return folder


def test_the_reader_as_it_is_passes(tmp_path):
    assert not is_noticed(copied(tmp_path), "snapshot.py")


def test_nearly_every_broken_reader_is_noticed(tmp_path):
    unnoticed = []
    for number, (file, old, new) in enumerate(MUTANTS):
        folder = copied(tmp_path / str(number))
        path = folder / PACKAGE / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times: mutants.py is out of date"
        path.write_text(text.replace(old, new), encoding="utf-8")
        if not is_noticed(folder, file):
            unnoticed.append(f"{file}: {old!r} -> {new!r}")
        shutil.rmtree(folder)
    print(f"{len(unnoticed)} of {len(MUTANTS)} are not noticed", *unnoticed, sep="\n")
    assert len(MUTANTS) >= 70
    assert len(unnoticed) <= UNNOTICED_MAX, "\n".join(unnoticed)
