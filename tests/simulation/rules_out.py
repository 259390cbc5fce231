#!/usr/bin/env python3
"""Takes one rule after another out of the shipped code, and says after how many Recall worlds the tests notice.
A rule that nobody misses is one that the worlds don't test: they are too tame.

    rules_out.py --list
    rules_out.py --check               each text still stands once in its file: fast, a part of `make test`
    rules_out.py [NAME...]             all rules, or these; exit status 1 if a world never noticed one

A run works in a copy, build/rules-out, with a build folder of its own. The sources are only read."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "rules-out"
WORLDS = 5_000

BEAT = "src/flow/watermark_beat.cc"
CHECKPOINT = "src/flow/partition_checkpoint.cc"
PUBLISHER = "src/flow/publisher.cc"
GUARD = "src/owner/output_guard.cc"
REFRESH = "src/flow/refresh.cc"
PUBLISH = "src/flow/publish_flow.cc"
STREAM = "src/flow/update_stream.cc"
SWEEP = "src/flow/sweep.cc"
MARKS = "src/flow/standing_marks.cc"
WATCH = "src/consume/output_watch.cc"
READER = "clients/cpp/include/seen/filter_reader.h"
GENERATION = "clients/cpp/include/seen/internal/generation.h"

# Name, the rule that goes, then edits: file, old text, new text.
RULES = [
    (
        "base-anywhere",
        "a base counts only while the reader stands at the end of the snapshots, beyond snapshots_to",
        (
            READER,
            "!partition.base || !partition.stands_at ||\n"
            "      *partition.stands_at < partition.base->snapshots_to ||",
            "!partition.base ||",
        ),
    ),
    (
        "end-unsaid",
        "the beat says where the snapshots ended",
        (BEAT, "beat.snapshots_to[name] = *end;", "beat.snapshots_to[name] = 0;"),
    ),
    (
        "generation-of-snapshots",
        "an addition and a snapshot are compared within one generation only",
        (READER, "its.snapshot->generation() == chunk.generation &&", ""),
    ),
    (
        "generation-of-beats",
        "a new owner goes on from a beat of its own generation only",
        (PUBLISHER, "if (beat->generation != open.flow->state.generation()) return;", ""),
    ),
    (
        "tombstone-drops",
        "a tombstone drops no addition",
        (
            READER,
            "    return snapshots_.Take(UpdateUserOf(user), user, partition, bytes);",
            "    if (!bytes) {\n"
            "      const std::uint32_t index = IndexOf(partition);\n"
            "      const auto none = partitions_[index]->log.none();\n"
            "      users_.Reserve(1, [](const internal::UserIndex::Slot&) { return true; });\n"
            "      users_.Find(UpdateUserOf(user), index, none).newest = none;\n"
            "    }\n"
            "    return snapshots_.Take(UpdateUserOf(user), user, partition, bytes);",
        ),
    ),
    (
        "beat-without-lease",
        "published_to travels under the lease",
        (
            PUBLISHER,
            "[&](const PartitionPointer& open) { return HoldsLease(*open); });\n    watermarks_->Step",
            "[&](const PartitionPointer&) { return true; });\n    watermarks_->Step",
        ),
    ),
    (
        "old-beat-counts",
        "only the newest beat counts",
        (
            READER,
            "  partition.base.reset();\n  partition.moved_to.reset();",
            "  partition.moved_to.reset();",
        ),
    ),
    (
        "sleeps-through-a-cut",
        "a reader starts over once a beat names another log",
        (
            READER,
            "bool MustRestart() const { return snapshots_log != beat_log; }",
            "bool MustRestart() const { return false; }",
        ),
    ),
    (
        "log-forgotten",
        "a new owner goes on with the former owner's number of the log",
        (PUBLISHER, "of_filter(beat.snapshots_log).value_or(0);", "0;"),
    ),
    (
        "log-of-another-state",
        "the number of the log goes on although the state is another one",
        (
            PUBLISHER,
            "  if (ContinueTopics(open, *beat) ||",
            "  if (beat->generation != open.flow->state.generation()) return;\n  if (ContinueTopics(open, *beat) ||",
        ),
    ),
    (
        "cut-unnoticed",
        "a cut of the snapshots takes published_to back",
        (WATCH, "    open->flow->publish.TakeBackPublishedTo();\n", ""),
    ),
    (
        "round-while-missing",
        "no round begins while users may be missing in the topic of snapshots",
        (
            CHECKPOINT,
            "were_missing ? PublishFlow::kNoOffset :",
            "were_missing && false ? PublishFlow::kNoOffset :",
        ),
    ),
    (
        "section-without-its-users",
        "a section of the refresh ends once its users' snapshots are acknowledged",
        (REFRESH, "slice_ < kSlices || waits_ > 0", "slice_ < kSlices"),
    ),
    (
        "mark-cleared-too-early",
        "a change while the user's snapshot is under way keeps the mark",
        (
            PUBLISH,
            "if (is_refreshed || marks_.held()) {",
            "if (is_refreshed) continue;\n    if (marks_.held()) {",
        ),
    ),
    (
        "cut-keeps-notes",
        "a cut takes back what the sections of the refresh noted",
        (REFRESH, "  published_ = taken_ = {};\n", ""),
    ),
    (
        "hurry-forgotten",
        "after a gap, the refresh hurries (progress)",
        (PUBLISHER, "  if (open.flow->updates) publish.HurryTo(open.flow->updates->GapTo());\n", ""),
    ),
    (
        "cut-pending",
        "a beat names no topic that was cut until all users are requested",
        (GUARD, "owned == nullptr || cut_.contains(place)", "owned == nullptr"),
    ),
    (
        "former-end-forgotten",
        "a new owner compares the ends of topics with the former owner's beat",
        (
            PUBLISHER,
            "ContinueFormer(place, log, of_filter(beat.snapshots_to));",
            "ContinueFormer(place, log, std::nullopt);",
        ),
    ),
    (
        "writes-before-its-beat",
        "a new owner writes no snapshot before its beat has replaced the former owner's",
        (PUBLISHER, "return !has_beats || options_", "return true || !has_beats || options_"),
    ),
    (
        "replica-goes-back",
        "a new owner writes no snapshot that holds less than the former owner's",
        (PUBLISHER, "!is_replica_ && !WorkOf(open).holds_all", "false"),
    ),
    (
        "republishing-forgotten",
        "republishing survives a takeover",
        (PUBLISHER, "ContinueTopics(open, *beat) || beat->republishing)", "ContinueTopics(open, *beat))"),
    ),
    (
        "repeated-offset",
        "an offset that is reported again says that the topic was cut",
        (GUARD, "offset <= known.last_own ||", "offset < known.last_own ||"),
    ),
    (
        "replay-holds-marks",
        "a replay doesn't hold the marks that the refresh takes (an oracle of progress breaks)",
        (
            PUBLISH,
            "if (refresh_.empty() || !HasSpaceFor",
            "if (refresh_.empty() || marks_.held() || !HasSpaceFor",
        ),
    ),
    (
        "too-large-holds-the-round",
        "a snapshot too large for its topic doesn't hold the round open (an oracle of rest breaks)",
        (PUBLISH, "std::exchange(entry.awaited, uint8_t{0}) > 0) {", "false) {"),
    ),
    (
        "refused-and-vouched-for",
        "a section whose user's snapshot is too large keeps its former note",
        (REFRESH.replace(".cc", ".h"), "void Refused() { note_ = {}; }", "void Refused() {}"),
    ),
    (
        "marks-stay",
        "the acknowledgement of a snapshot clears its user's mark (an oracle of rest breaks)",
        (MARKS, "  entry.marked = false;\n  clears_.insert(entry.ref());\n", "  entry.marked = false;\n"),
    ),
    (
        "withheld-named",
        "a filter that withholds snapshots isn't named in the beat",
        (BEAT, "    if (flow.last_published.Withholds(i, wall)) continue;\n", ""),
    ),
    (
        "as-of-by-timestamps",
        "as_of_ms goes by what the brokers confirmed",
        (
            STREAM,
            "known.age ? TimeMs{wall.value - known.age->count()} : TimeMs{-1}",
            "known.age ? std::max(TimeMs{wall.value - known.age->count()}, state_.partition_time()) : TimeMs{-1}",
        ),
    ),
    (
        "as-of-now",
        "as_of_ms is the time of the brokers' answer, and not of the record",
        (
            STREAM,
            "known.age ? TimeMs{wall.value - known.age->count()} : TimeMs{-1}",
            "known.age ? wall : TimeMs{-1}",
        ),
    ),
    (
        "gap-overlooked",
        "a record beyond a gap doesn't make the reader complete",
        (GENERATION, "if (complete && from <= *complete) {", "if (complete) {"),
    ),
    (
        "run-forgotten",
        "the run beyond a gap is kept and joined (an oracle of progress breaks)",
        (GENERATION, "if (!run || run->from > *complete) return;", "return;"),
    ),
    (
        "start-over-keeps-claims",
        "a reader that starts over in the snapshots knows nothing until it stands at their end again",
        (GENERATION, "    complete.reset();\n    settled = as_of_ms = -1;\n    parts = {-1, 0};\n", ""),
    ),
    (
        "offset-runs-ahead",
        "the offset of a checkpoint waits for updates that no broker has",
        (CHECKPOINT, "if (held && held->offset < position.next_offset) {", "if (held && held->offset < 0) {"),
    ),
    (
        "removal-in-the-middle",
        "what takes something back ends its record",
        (
            STREAM.replace(".cc", ".h"),
            "      if (ends_after_ == offset) [[unlikely]]\n        EndRecord(offset + 1);\n",
            "",
        ),
    ),
    (
        "sweep-overtakes-the-tail",
        "a requested sweep waits until the store has all who were read before it",
        (SWEEP, "requested ? requested_.second : Instant{}", "Instant{}"),
    ),
    (
        "given-up-is-sent",
        "updates that the producer gave up on are sent again",
        (
            STREAM,
            "    writes_alone_ = false;  // the broker may have taken it all the same\n    return;\n",
            "    offset = 0;\n",
        ),
    ),
    (
        "limit-unsaid",
        "a reader that dropped additions because of its limit says so",
        (GENERATION, "return lost ? std::min(lost->as_of_ms, as_of_ms) : as_of_ms;", "return as_of_ms;"),
    ),
    (
        "past-additions-stay",
        "a reader that settles drops the additions of past generations (an oracle of rest breaks)",
        (
            READER,
            "if (std::any_of(partition.generations.begin(), partition.generations.end(), to_drop)) {",
            "if (false) {",
        ),
    ),
]


def broken(rule):
    """What is wrong with a rule's edits."""
    for file, old, _new in rule[2:]:
        path = ROOT / file
        count = path.read_text(encoding="utf-8").count(old) if path.is_file() else 0
        if count != 1:
            yield f"{rule[0]}: {file} has this text {count} times, not once. Adapt the table:\n{old}"


def copy_sources():
    """Copies what differs, so that little is compiled again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, COPY / name
        if not source.is_file():
            target.unlink(missing_ok=True)
        elif not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)


def take_out(rule):
    copy_sources()
    for file, old, new in rule[2:]:
        path = COPY / file
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def build(jobs):
    """Compiles what the rule touched, and links. Ninja configures again by itself."""
    is_configured = (COPY / "build" / "release" / "build.ninja").is_file()
    for command in (
        *([] if is_configured else [["cmake", "--preset", "release"]]),
        ["cmake", "--build", "--preset", "release", "--parallel", str(jobs), "--target", "test_simulation"],
    ):
        run = subprocess.run(
            command, cwd=COPY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if run.returncode != 0:
            sys.exit(f"the mutant doesn't build:\n{run.stdout[-4000:]}")


def worlds_until_noticed(worlds):
    """Number and problem of the first world that broke; None: none did."""
    run = subprocess.run(
        [COPY / "build" / "release" / "test_simulation", "--gtest_filter=Recall.*"],
        env={**os.environ, "SEEN_SEEDS": str(worlds)},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 0:
        return None
    seed = re.search(r"SEEN_SEED=(\d+)", run.stdout)
    problem = re.search(r"Which is: \"(.*)\"|^  \"(.+)\"$", run.stdout, re.MULTILINE)
    return seed[1] if seed else "?", next(filter(None, problem.groups()), "") if problem else run.stdout[
        -500:
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {rule[0] for rule in RULES}
    if unknown:
        parser.error(f"no rule {', '.join(sorted(unknown))}: see --list")
    chosen = [rule for rule in RULES if not arguments.names or rule[0] in arguments.names]
    if arguments.list:
        for name, rule, *_edits in chosen:
            print(f"{name:26} {rule}")
        return 0
    problems = [problem for rule in chosen for problem in broken(rule)]
    if problems:
        print(*problems, sep="\n")
        return 1
    if arguments.check:
        print(f"{len(chosen)} rules can be taken out")
        return 0
    survivors, building_s, running_s = 0, 0.0, 0.0
    for rule in chosen:
        begun = time.monotonic()
        take_out(rule)
        build(arguments.jobs)
        built = time.monotonic()
        noticed = worlds_until_noticed(arguments.worlds)
        survivors += noticed is None
        building_s += built - begun
        running_s += time.monotonic() - built
        said = f"world {noticed[0]}: {noticed[1]}" if noticed else f"SURVIVED {arguments.worlds} worlds"
        print(f"{rule[0]:26} {said}", flush=True)
    print(
        f"{len(chosen)} rules, {survivors} survived; {building_s:.0f} s to build, {running_s:.0f} s of worlds"
    )
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
