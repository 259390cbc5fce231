#!/usr/bin/env python3
"""How fast seen-history prints tables, alone and piped into `seenctl replay --dry-run -`: each bar is reached or MISSED.

Judges by CPU time, since other programs may use the machine. In the pipe, both programs have a core each, so the
slower one decides. The clock's time stands beside it. Best of --runs."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("SEEN_BUILD_DIR", SOURCE / "build" / "release"))
PYTHON = SOURCE / "build" / "convert-tools" / "bin" / "python3"
HISTORY = [str(PYTHON), "-m", "seen_history"]
DRY_RUN = [str(BUILD / "seenctl"), "replay", "--dry-run", "--quiet", "--brokers", "127.0.0.1:1"]
CSV_BAR, PARQUET_BAR, PIPE_BAR = 500_000, 1_000_000, 0.8
TABLES = """
import random, sys, pyarrow as pa, pyarrow.csv as csv, pyarrow.parquet as parquet
rows, chance = int(sys.argv[1]), random.Random(1)
table = pa.table({
    "user_id": [f"u{chance.randrange(1_000_000)}" for _ in range(rows)],
    "item_id": [f"n{chance.randrange(50_000)}" for _ in range(rows)],
    "exposed_at": [1_763_700_000_000 + 17 * i for i in range(rows)],
    "scene": ["home_feed"] * rows,
    "position": [chance.randrange(20) for _ in range(rows)],
})
csv.write_csv(table, "plain.csv", csv.WriteOptions(quoting_style="none"))
csv.write_csv(table, "quoted.csv")
parquet.write_table(table, "table.parquet")
"""


def begin(command, **streams):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "clients" / "python" / "src")}
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, **streams)


def cpu_s_of(process):
    """Waits for the process, and returns the CPU time that it took."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def alone(path):
    """(CPU s, s)"""
    began = time.monotonic()
    process = begin([*HISTORY, str(path)], stdout=subprocess.DEVNULL)
    cpu_s = cpu_s_of(process)
    if process.returncode != 0:
        sys.exit(f"seen-history {path}: exit status {process.returncode}")
    return cpu_s, time.monotonic() - began


def dry_run(source, report):
    """(CPU s, the s that reading and decoding took) of a dry run whose standard input is `source`."""
    with open(report, "w+") as output:
        cpu_s = cpu_s_of(begin([*DRY_RUN, "-"], stdin=source, stdout=output))
        output.seek(0)
        return cpu_s, float(re.search(r"time +([0-9.]+) s", output.read())[1])


def piped(path, report):
    """(CPU s of the slower program, s)"""
    process = begin([*HISTORY, str(path)], stdout=subprocess.PIPE)
    replay_s, clock_s = dry_run(process.stdout, report)
    process.stdout.close()
    return max(replay_s, cpu_s_of(process)), clock_s


def from_lines(path, report):
    with open(path, "rb") as lines:
        return dry_run(lines, report)


def print_bar(what, value, bar, text, clock):
    print(f"{what:<28} {text} {'reached' if value >= bar else 'MISSED'}   by the clock {clock}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([PYTHON, "-c", TABLES, str(options.rows)], cwd=folder, check=True)

        def best(measure, *arguments):
            runs = [measure(*arguments) for _ in range(options.runs)]
            return min(cpu_s for cpu_s, _ in runs), min(s for _, s in runs)

        for name, bar in (("plain.csv", CSV_BAR), ("quoted.csv", CSV_BAR), ("table.parquet", PARQUET_BAR)):
            cpu_s, s = best(alone, folder / name)
            rate = options.rows / cpu_s
            print_bar(
                name, rate, bar, f"{rate:>11,.0f} rows/s of {bar:>9,}", f"{options.rows / s:,.0f} rows/s"
            )
        lines, report = folder / "lines.jsonl", folder / "report"
        for name in ("plain.csv", "table.parquet"):
            with open(lines, "wb") as output:
                cpu_s_of(begin([*HISTORY, str(folder / name)], stdout=output))
            file_cpu_s, file_s = best(from_lines, lines, report)
            pipe_cpu_s, pipe_s = best(piped, folder / name, report)
            share = file_cpu_s / pipe_cpu_s
            what = f"{name} into a dry run"
            print_bar(
                what,
                share,
                PIPE_BAR,
                f"{share:>11.2f} of a file, {PIPE_BAR}  ",
                f"{file_s / max(pipe_s, 0.001):.2f}",
            )


if __name__ == "__main__":
    main()
