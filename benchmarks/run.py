#!/usr/bin/python3
"""Runs contenders side by side on one Kafka topic. `make bench` builds what this program needs and calls it.

benchmarks/run.py                            all contenders, all measurements: an hour and more
benchmarks/run.py --only seend,redis         some contenders; results are merged into build/bench/results.json
benchmarks/run.py --measure ingest --runs 5  some measurements (ingest, latency, restart)
benchmarks/run.py --smoke                    20,000 events through all installed contenders; checks their answers
benchmarks/run.py --scenario backlog         one of benchmarks/scenarios, of seend alone
benchmarks/run.py --report                   writes docs/PERFORMANCE.md from the results, without a run"""

import argparse
import importlib
import pathlib
import signal
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import paths  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
from broker import Bench, Workload  # noqa: E402
from bystanders import quiet  # noqa: E402
from contenders import all_contenders  # noqa: E402
from contenders.process import Contender, Missing  # noqa: E402

LONG_S = 60  # a run that takes longer isn't repeated


def say(text):
    print(time.strftime("%H:%M:%S ") + text, flush=True)


def workloads(options):
    single = Workload("single", options.events)
    batch = Workload("batch", max(1_000, options.events // 10), batch=10)
    return [w for w in (single, batch) if w.name in options.profiles]


def ingest(bench, contender, options):
    for workload in workloads(options):
        bench.warm(bench.fill(workload))
        runs = []
        for number in range(options.runs):
            one = measure.ingest(bench, contender, workload, closely=number == 0)
            runs.append(one)
            answers = one.get("answers") or {}
            say(
                f"{contender.name}, {workload.name}: {one['rate']:,.0f} events/s, {one['cpu_us']:.2f} us of CPU an event "
                f"({one['cpu_total_us']:.2f} with its start), peak {one['peak_bytes'] / 2**20:.0f} MiB"
                + (
                    f", state {one['state_bytes'] / workload.events:.1f} B an event"
                    if one.get("state_bytes")
                    else ""
                )
                + (
                    f", {answers['false_negatives']} false negatives of {answers['items']}, "
                    f"{answers['false_positives'] / max(1, answers['probes']):.3%} false positives"
                    if answers
                    else ""
                )
            )
            if not quiet(one):
                say(
                    f"  (beside {one['others_cores']:.1f} cores of other programs, {one['stolen_cores']:.1f} stolen)"
                )
            if one["seconds"] > LONG_S:
                break
        results.put(
            ["contenders", contender.name, "ingest", workload.name],
            {"workload": workload.figures, "runs": runs},
        )


def latency(bench, contender, options):
    if not contender.publishes:
        return
    for rate in options.rates:
        one = measure.latency(bench, contender, rate, options.seconds, options.warm)
        results.put(["contenders", contender.name, "latency", str(rate)], one)
        say(
            f"{contender.name} at {rate:,} events/s: "
            + (
                f"p50 {one['all']['p50_ms']} ms, p99 {one['all']['p99_ms']} ms; leading edge p50 {one['leading']['p50_ms']} ms, "
                f"p99 {one['leading']['p99_ms']} ms; {one['cpu_cores']:.2f} cores; {one['unpublished']} unpublished; others "
                f"{one['others_cores']:.2f} cores"
                if one["keeps_up"]
                else f"doesn't keep up: {one['applied_rate']:,.0f} events/s"
            )
        )


def restart(bench, contender, options):
    if contender.limit or not contender.recovers:
        return
    runs = [measure.restart(bench, contender, loaded=options.loaded) for _ in range(options.restarts)]
    results.put(["contenders", contender.name, "restart"], runs)
    say(
        f"{contender.name}: caught up after kill -9 in "
        + ", ".join(f"{one['seconds']:.1f} s" if one["seconds"] else "over 100 s" for one in runs)
    )


MEASUREMENTS = {"ingest": ingest, "latency": latency, "restart": restart}


def side_by_side(bench, options):
    failed = []
    for contender in all_contenders():
        if options.only and contender.name not in options.only:
            continue
        try:
            contender.prepare()
            about = {
                "title": contender.title,
                "settings": contender.settings,
                "versions": contender.versions(),
                "publishes": contender.publishes,
                "limit": contender.limit,
                "missing": None,
            }
            for key, value in about.items():
                results.put(["contenders", contender.name, key], value)
            for name in options.measure:
                MEASUREMENTS[name](bench, contender, options)
            results.put(["contenders", contender.name, "stamp"], results.stamp())
        except Missing as reason:
            say(f"{contender.name}: left out, {reason}")
            if "ingest" not in results.load().get("contenders", {}).get(contender.name, {}):
                results.put(["contenders", contender.name, "title"], contender.title)
                results.put(["contenders", contender.name, "missing"], str(reason))
        except Exception as error:  # the others still run
            failed.append(contender.name)
            say(f"{contender.name}: failed, {error}")
            traceback.print_exc()
    results.put(["kafka"], bench.kafka.version())
    return failed


def smoke(bench, options):
    """Checks that every contender runs and that its answers are right."""
    Contender.settle_s = 0
    wrong = side_by_side(bench, options)
    for name, entry in results.load()["contenders"].items():
        for profile in entry.get("ingest", {}).values():
            answers = profile["runs"][-1].get("answers")
            if answers and (
                answers["false_negatives"] or answers["false_positives"] > 0.02 * answers["probes"]
            ):
                say(f"{name}: wrong answers: {answers}")
                wrong.append(name)
    return wrong


def parse():
    names = lambda text: [name for name in text.split(",") if name]  # noqa: E731
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=names, default=[], metavar="NAME,...")
    parser.add_argument("--measure", type=names, default=list(MEASUREMENTS), metavar="NAME,...")
    parser.add_argument("--profiles", type=names, default=["single", "batch"], metavar="NAME,...")
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--restarts", type=int, default=1)
    parser.add_argument("--loaded", type=int, default=1_000_000, help="events in the state before kill -9")
    parser.add_argument(
        "--rates", type=lambda text: [int(rate) for rate in names(text)], default=[20_000, 100_000]
    )
    parser.add_argument("--seconds", type=int, default=20, help="of each latency measurement")
    parser.add_argument("--warm", type=int, default=10, help="seconds of the same before it")
    parser.add_argument("--fresh", action="store_true", help="forget the topics of before")
    parser.add_argument("--list", action="store_true", help="the contenders' names")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--scenario", default="", metavar="NAME", help="; ".join(scenarios()))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of a scenario")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.smoke:
        options.events, options.runs, options.measure, options.profiles = 20_000, 1, ["ingest"], ["single"]
        paths.WORK = paths.WORK / "smoke"  # its figures mean nothing
        paths.RESULTS = paths.WORK / "results.json"
        paths.RESULTS.unlink(missing_ok=True)
    return options


def scenarios():
    return sorted(file.stem for file in (paths.BENCHMARKS / "scenarios").glob("[a-z]*.py"))


def main():
    options = parse()
    if options.report:
        return report.write()
    if options.list:
        print("\n".join(f"{c.name:20} {c.title}" for c in all_contenders()))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that all started programs are ended
    with Bench(options.fresh) as bench:
        if options.scenario:
            options.scenario = options.scenario.replace("-", "_")
            module = importlib.import_module(f"scenarios.{options.scenario}")
            result = module.run(bench, dict(pair.split("=", 1) for pair in options.set), say)
            results.put(
                ["scenarios", options.scenario],
                {"what": module.__doc__.strip(), "result": result, **results.stamp()},
            )
            failed = []
        else:
            failed = (smoke if options.smoke else side_by_side)(bench, options)
    if not options.smoke:
        report.write()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
