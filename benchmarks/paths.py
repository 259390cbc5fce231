"""Paths of the benchmarks. Import this module before any helper of tests/system."""

import os
import pathlib
import sys

BENCHMARKS = pathlib.Path(__file__).resolve().parent
ROOT = BENCHMARKS.parent
WORK = pathlib.Path(os.environ.get("SEEN_BENCH_DIR", ROOT / "build" / "bench")).resolve()
RESULTS = WORK / "results.json"
PAGE = ROOT / "docs" / "PERFORMANCE.md"
SETTINGS_PAGE = BENCHMARKS / "README.md"
CHARTS = ROOT / "docs" / "performance"

for folder in (BENCHMARKS, ROOT / "tests" / "system"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
