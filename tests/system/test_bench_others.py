"""The generator of the dashboards makes the files of deploy/. A small run of the benchmark of live latency
beside a replay must measure every phase. Times aren't checked."""

import json
import os
import re
import subprocess
import sys

import pytest

from places import SOURCE
from test_dashboards import GRAFANA, TITLES

pytestmark = pytest.mark.heavy
SIZES = {
    "rate": 1_000,
    "history": 20_000,
    "history_users": 2_000,
    "seconds": 2,
    "warm": 1,
    "repeats": 1,
    "checkpoint_s": 1,
}


def test_every_phase_is_measured(tmp_path):
    command = [sys.executable, SOURCE / "benchmarks" / "run.py", "--smoke", "--scenario", "replay_beside"]
    for key, value in SIZES.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True, timeout=240, env={**os.environ, "SEEN_BENCH_DIR": str(tmp_path)})
    result = json.loads((tmp_path / "smoke" / "results.json").read_text())["scenarios"]["replay_beside"][
        "result"
    ]
    rows = {row["phase"]: row for row in result["phases"]}
    assert list(rows) == ["quiet", "full speed", "publishing", "by lag", "no pace"]
    assert all((rows[name]["replayed_per_s"] > 0) == (name not in ("quiet", "publishing")) for name in rows)
    for row in result["summary"]:
        for figure in ("visible_p99_ms", "published_p50_ms"):
            assert 0 < row[f"{figure}_least"] <= row[f"{figure}_median"], row
            assert row[f"{figure}_ratio"] >= 0, row  # rounded: a busy machine makes it 0


def test_the_dashboards_are_what_their_source_makes(tmp_path):
    subprocess.run(
        [sys.executable, str(GRAFANA / "make_dashboards.py"), str(tmp_path)], check=True, timeout=30
    )
    for name in TITLES:
        assert (tmp_path / f"{name}.json").read_text() == (
            GRAFANA / "dashboards" / f"{name}.json"
        ).read_text(), "run deploy/grafana/make_dashboards.py"
    assert {path.stem for path in (GRAFANA / "dashboards").glob("*")} == set(TITLES)


def test_each_bar_of_seen_history_is_judged():
    command = [sys.executable, SOURCE / "benchmarks" / "history.py", "--rows", "2000", "--runs", "1"]
    done = subprocess.run(command, check=True, timeout=240, capture_output=True, text=True)
    assert re.findall(r"^(.*?) {2,}", done.stdout, re.MULTILINE) == [
        "plain.csv",
        "quoted.csv",
        "table.parquet",
        "plain.csv into a dry run",
        "table.parquet into a dry run",
    ]
    assert len(re.findall("reached|MISSED", done.stdout)) == 5
