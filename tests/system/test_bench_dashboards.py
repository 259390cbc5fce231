"""The generator of the dashboards makes the files of deploy/."""

import subprocess
import sys

from test_dashboards import GRAFANA, TITLES


def test_the_dashboards_are_what_their_source_makes(tmp_path):
    subprocess.run(
        [sys.executable, str(GRAFANA / "make_dashboards.py"), str(tmp_path)], check=True, timeout=30
    )
    for name in TITLES:
        assert (tmp_path / f"{name}.json").read_text() == (
            GRAFANA / "dashboards" / f"{name}.json"
        ).read_text(), "run deploy/grafana/make_dashboards.py"
    assert {path.stem for path in (GRAFANA / "dashboards").glob("*")} == set(TITLES)
