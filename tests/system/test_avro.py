"""Events of Avro, as another implementation reads them."""

import json
import subprocess

from places import BUILD, SOURCE
from seenctl_tool import CONVERT


def test_random_schemas_and_data_are_read_as_fastavro_reads_them():
    oracle = SOURCE / "tests" / "system" / "avro_oracle.py"
    done = subprocess.run(
        [CONVERT / "python3", oracle, BUILD / "read_avro", "--seeds", "2000"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout)
    assert counts["read by both"] > counts["payloads"] / 2, counts
    assert counts["read the short way"] > counts["payloads"] / 4, counts
