// seenctl size: what a platform of so many users takes, before there is one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "filter/snapshot.h"
#include "filter/snapshot_format.h"
#include "model/delta.h"
#include "model/fingerprint.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

// A row's key, and what RocksDB keeps of it: sequence number, index, filter.
constexpr double kRowBytes = 40;
// What is read and written while a level is compacted stands beside the old one.
constexpr double kDiskShare = 2;
constexpr double kSecondsADay = 86'400;

struct SizeOptions {
  uint64_t users = 0;
  double items_a_day = 0;
  int32_t days = 30;
  int32_t partitions = 8;
  std::string format = "split_block_bloom";
  double rate = 0.01;
  bool json = false;
};

struct SampleUser {
  double state_bytes = 0;
  double snapshot_bytes = 0;
  uint32_t items = 0;
};

/// Encodes one user as the store does, and renders the snapshot as the publisher does.
SampleUser MakeSample(const SizeOptions& options, const SnapshotShape& shape) {
  SampleUser sample;
  Delta delta;
  delta.user_id = "user-0123456789";
  std::vector<Fingerprint> all;
  double due = 0;
  for (int32_t day = 0; day < options.days; ++day) {
    Segment segment{Day{20'000 + day}, 0, 86'399, {}};
    due += options.items_a_day;
    const auto count = static_cast<uint32_t>(due);  // less than one a day is one every few days
    due -= count;
    for (uint32_t item = 0; item < count; ++item) {
      segment.fingerprints.push_back(FingerprintOf(fmt::format("item-{}", sample.items++)));
    }
    std::sort(segment.fingerprints.begin(), segment.fingerprints.end());
    segment.fingerprints.erase(std::unique(segment.fingerprints.begin(), segment.fingerprints.end()),
                               segment.fingerprints.end());
    all.insert(all.end(), segment.fingerprints.begin(), segment.fingerprints.end());
    if (!segment.fingerprints.empty()) delta.segments.push_back(std::move(segment));
  }
  std::string row;
  EncodeDelta(delta, row);
  sample.state_bytes = static_cast<double>(row.size()) + kRowBytes;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  SnapshotMeta meta;
  meta.format = shape.format;
  meta.false_positive_rate = shape.false_positive_rate;
  sample.snapshot_bytes = static_cast<double>(RenderSnapshot(meta, all).size());
  return sample;
}

std::string BytesText(double bytes) { return WithByteUnit(static_cast<uint64_t>(bytes)); }

int RunSize(const SizeOptions& options) {
  const auto format = ParseSnapshotFormat(options.format);
  if (!format)
    return ExitWith(
        {Code::kInvalidArgument, fmt::format("--format: {}: docs/FILTERS.md has them", options.format)});
  const SnapshotShape shape{*format, options.rate, false};
  if (Status possible = CheckShape(shape); !possible) {
    return ExitWith({Code::kInvalidArgument, "--fpr: " + possible.error().message});
  }
  const SampleUser user = MakeSample(options, shape);
  const auto users = static_cast<double>(options.users);
  const double state = users * user.state_bytes;
  const double snapshots = users * user.snapshot_bytes;
  const double events = users * options.items_a_day / kSecondsADay;
  if (options.json) {
    const nlohmann::ordered_json json = {{"items_a_user", user.items},
                                         {"state_bytes_a_user", user.state_bytes},
                                         {"snapshot_bytes_a_user", user.snapshot_bytes},
                                         {"state_bytes", state},
                                         {"state_bytes_a_partition", state / options.partitions},
                                         {"disk_bytes", state * kDiskShare},
                                         {"snapshot_topic_bytes", snapshots},
                                         {"items_a_second", events}};
    fmt::print("{}\n", json.dump());
    return kExitOk;
  }
  fmt::print("a user           {} items: {} of state, a snapshot of {} ({}, {})\n", user.items,
             BytesText(user.state_bytes), BytesText(user.snapshot_bytes), options.format, options.rate);
  fmt::print("state            {}, in each of {} partitions {}\n", BytesText(state), options.partitions,
             BytesText(state / options.partitions));
  fmt::print("disk             {} over all daemons: compaction writes the new beside the old\n",
             BytesText(state * kDiskShare));
  fmt::print("snapshot topic   {}, a snapshot a user; up to twice that before Kafka compacts it\n",
             BytesText(snapshots));
  fmt::print("events           {:.0f} items a second on average over a day: plan for your peak\n", events);
  return kExitOk;
}

}  // namespace

Subcommand AddSize(CLI::App& root) {
  auto options = std::make_shared<SizeOptions>();
  CLI::App* app = root.add_subcommand("size", "state, disk and topics that a platform takes; asks no daemon");
  app->add_option("--users", options->users, "users with an item in the window")
      ->required()
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000'000}));
  app->add_option("--items-a-day", options->items_a_day, "items shown to a user on a day, on average")
      ->required()
      ->check(CLI::Range(0.01, 50'000.0));
  app->add_option("--days", options->days, "the filter's window")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  app->add_option("--partitions", options->partitions, "of the input topic")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app->add_option("--format", options->format, "of the filter's snapshots")->capture_default_str();
  app->add_option("--fpr", options->rate, "false positive rate of the filter")->capture_default_str();
  app->add_flag("--json", options->json, "numbers in bytes, as JSON");
  return {app, [options] { return RunSize(*options); }};
}

}  // namespace seen
