// seenctl size: what a platform with a given number of users needs, before it exists.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "filter/snapshot.h"
#include "filter/snapshot_format.h"
#include "flow/publish_table.h"
#include "model/delta.h"
#include "model/hashes.h"
#include "tools/commands.h"
#include "tools/commands/size_model.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr double kSecondsADay = 86'400;
// During a compaction of a level, the new files stand beside the old ones.
constexpr double kDiskShare = 2;

// Processor time in seconds of one core. docs/SCALE.md gives the source of each constant.
constexpr double kEventS = 4.4e-6;        // a live event: decoded, checkpointed, compacted
constexpr double kSnapshotS = 3.3e-6;     // for a user in memory
constexpr double kColdSnapshotS = 30e-6;  // in addition, for a user on the disk
constexpr double kColdByteS = 0.0117e-6;  // in addition, for each byte of that user's row
constexpr double kQueryS = 75e-6;

constexpr double kReadsAColdUser = 1.04;
constexpr double kReadBytesByRow = 1.02;
constexpr double kChangeBytes = 40;  // a user's row in a checkpoint, at one event every few seconds
constexpr double kUpdateBytes = 14;  // an event of one item: schemas/update.md
constexpr double kLevelBytes = 32.0 * 1024 * 1024;  // size of the first level: rocks/options.cc
// Shares of store.memory_mib, as in app/memory_budget.h: the caches of users read lately; followed users.
constexpr double kCachedShare = 0.25;
constexpr double kFollowedShare = 0.10;

/// Each level is ten times as large as the one before. Each level rewrites a row some times.
double WriteAmplification(double partition_bytes) {
  const double levels = std::max(0.0, std::log10(std::max(1.0, partition_bytes / kLevelBytes)));
  return 1.5 + 0.7 * levels;
}

}  // namespace

Needs NeedsOf(const Platform& platform, const UserBytes& user) {
  Needs needs;
  needs.events_a_second_on_average = platform.users * platform.items_a_day / kSecondsADay;
  needs.events_a_second = needs.events_a_second_on_average * platform.peak;
  const double sessions_a_second = needs.events_a_second / platform.session_items;
  const double gap_s = platform.session_s / platform.session_items;
  const double snapshots_a_session =
      platform.debounce_s <= gap_s
          ? platform.session_items
          : std::min(platform.session_items, 1 + std::ceil(platform.session_s / platform.debounce_s));
  needs.snapshots_a_second = sessions_a_second * snapshots_a_session;
  needs.users_in_session =
      std::min(platform.users, sessions_a_second * (platform.session_s + platform.debounce_s));
  if (platform.refresh_s > 0) {  // a user who changed within a round is published once
    needs.users_in_session =
        std::min(platform.users, sessions_a_second * (platform.session_s + platform.refresh_s));
    needs.snapshots_a_second = needs.users_in_session / platform.refresh_s;
    needs.update_bytes_a_second = needs.events_a_second * kUpdateBytes;
  } else {
    needs.followed_bytes =
        needs.users_in_session * static_cast<double>(PublishTable::kBytesAnEntry) / kFollowedShare;
  }
  needs.cold_share = std::clamp(
      1 - platform.memory_bytes * kCachedShare / std::max(1.0, needs.users_in_session * user.state), 0.0,
      1.0);

  const double cold = needs.snapshots_a_second * needs.cold_share;
  needs.intake_cores = needs.events_a_second * kEventS;
  needs.publish_cores =
      needs.snapshots_a_second * kSnapshotS + cold * (kColdSnapshotS + kColdByteS * user.state);
  needs.query_cores = platform.queries_a_second * kQueryS;

  needs.state_bytes = platform.users * user.state;
  needs.disk_bytes = needs.state_bytes * kDiskShare;
  needs.disk_reads_a_second = cold * kReadsAColdUser;
  needs.disk_read_bytes_a_second = cold * user.state * kReadBytesByRow;
  needs.write_amplification = WriteAmplification(needs.state_bytes / platform.partitions);
  needs.disk_write_bytes_a_second = needs.events_a_second * kChangeBytes * needs.write_amplification;

  needs.input_bytes_a_second = needs.events_a_second * platform.event_bytes;
  needs.snapshot_bytes_a_second = needs.snapshots_a_second * user.snapshot;
  needs.snapshot_topic_bytes = platform.users * user.snapshot;
  return needs;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Needs, events_a_second, events_a_second_on_average, snapshots_a_second,
                                   users_in_session, cold_share, intake_cores, publish_cores, query_cores,
                                   state_bytes, disk_bytes, disk_reads_a_second, disk_read_bytes_a_second,
                                   write_amplification, disk_write_bytes_a_second, input_bytes_a_second,
                                   snapshot_bytes_a_second, update_bytes_a_second, snapshot_topic_bytes,
                                   followed_bytes)

namespace {

// A row's key, and RocksDB's overhead for a row: sequence number, index, filter.
constexpr double kRowBytes = 40;
constexpr double kMiB = 1024 * 1024;

struct SizeOptions {
  uint64_t users = 0;
  int32_t days = 30;
  Platform platform;  // users, debounce and memory come from the fields beside it
  double debounce_ms = 1000;
  double memory_mib = 1024;
  std::string format = "split_block_bloom";
  double rate = 0.01;
  bool json = false;
};

struct SampleUser {
  UserBytes bytes;
  uint32_t items = 0;
};

/// Encodes one user as the store does. Renders the snapshot as the publisher does.
SampleUser MakeSample(const SizeOptions& options, const SnapshotShape& shape) {
  SampleUser sample;
  Delta delta;
  delta.user_id = "user-0123456789";
  std::vector<Fingerprint> all;
  double due = 0;
  for (int32_t day = 0; day < options.days; ++day) {
    Segment segment{Day{20'000 + day}, 0, 86'399, {}};
    due += options.platform.items_a_day;
    const auto count = static_cast<uint32_t>(due);  // below one item a day: one item every few days
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
  sample.bytes.state = static_cast<double>(row.size()) + kRowBytes;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  SnapshotMeta meta;
  meta.format = shape.format;
  meta.false_positive_rate = shape.false_positive_rate;
  sample.bytes.snapshot = static_cast<double>(RenderSnapshot(meta, all).size());
  return sample;
}

std::string BytesText(double bytes) { return WithByteUnit(static_cast<uint64_t>(bytes)); }

void PrintJson(const Platform& platform, const SampleUser& user, const Needs& needs) {
  SortedJson json = needs;
  json["items_a_user"] = user.items;
  json["state_bytes_a_user"] = user.bytes.state;
  json["snapshot_bytes_a_user"] = user.bytes.snapshot;
  json["state_bytes_a_partition"] = needs.state_bytes / platform.partitions;
  json["cores"] = needs.cores();
  fmt::print("{}\n", JsonText(json));
}

void PrintSizeText(const SizeOptions& options, const Platform& platform, const SampleUser& user,
                   const Needs& needs) {
  fmt::print("a user           {} items: {} of state, a snapshot of {} ({}, {})\n", user.items,
             BytesText(user.bytes.state), BytesText(user.bytes.snapshot), options.format, options.rate);
  fmt::print("state            {}, in each of {} partitions {}\n", BytesText(needs.state_bytes),
             platform.partitions, BytesText(needs.state_bytes / platform.partitions));
  fmt::print("disk             {} over all daemons: compaction writes new files beside the old ones\n",
             BytesText(needs.disk_bytes));
  fmt::print("snapshot topic   {}, a snapshot a user; up to twice that before Kafka compacts it\n",
             BytesText(needs.snapshot_topic_bytes));
  fmt::print("events           {:.0f} items a second on average over a day\n",
             needs.events_a_second_on_average);
  fmt::print("\nat the peak, {:g} times that, over all daemons\n", platform.peak);
  fmt::print("events           {:.0f} a second; {} a second from Kafka\n", needs.events_a_second,
             BytesText(needs.input_bytes_a_second));
  fmt::print("snapshots        {:.0f} a second; {} a second to Kafka\n", needs.snapshots_a_second,
             BytesText(needs.snapshot_bytes_a_second));
  if (platform.refresh_s > 0)
    fmt::print("updates          {} a second to Kafka\n", BytesText(needs.update_bytes_a_second));
  fmt::print("cores            {:.1f}: {:.1f} for events, {:.1f} for snapshots, {:.1f} for queries\n",
             needs.cores(), needs.intake_cores, needs.publish_cores, needs.query_cores);
  if (platform.refresh_s == 0)
    fmt::print(
        "memory           store.memory_mib of {:.0f} at least over all daemons, for {:.0f} users in "
        "session\n",
        needs.followed_bytes / kMiB, needs.users_in_session);
  fmt::print(
      "disk             {:.0f} reads a second, {} a second; {} a second written ({:.1f} times the changes)\n",
      needs.disk_reads_a_second, BytesText(needs.disk_read_bytes_a_second),
      BytesText(needs.disk_write_bytes_a_second), needs.write_amplification);
  fmt::print("docs/SCALE.md has the formulas, and compares them with measurements\n");
}

int RunSize(const SizeOptions& options) {
  const auto format = ParseSnapshotFormat(options.format);
  if (!format)
    return ExitWith(
        {Code::kInvalidArgument,
         fmt::format("--format: {}: no such format; docs/FILTERS.md lists the formats", options.format)});
  const SnapshotShape shape{*format, options.rate, false};
  if (Status possible = CheckShape(shape); !possible) {
    return ExitWith({Code::kInvalidArgument, "--fpr: " + possible.error().message});
  }
  const SampleUser user = MakeSample(options, shape);
  Platform platform = options.platform;
  platform.users = static_cast<double>(options.users);
  platform.debounce_s = options.debounce_ms / 1000;
  platform.memory_bytes = options.memory_mib * kMiB;
  const Needs needs = NeedsOf(platform, user.bytes);
  if (options.json) {
    PrintJson(platform, user, needs);
  } else {
    PrintSizeText(options, platform, user, needs);
  }
  return kExitOk;
}

}  // namespace

Subcommand AddSize(CLI::App& root) {
  auto options = std::make_shared<SizeOptions>();
  CLI::App* app = root.add_subcommand(
      "size", "the cores, memory, disk, network and topics that a platform needs; asks no daemon");
  app->add_option("--users", options->users, "users with an item in the window")
      ->required()
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000'000}));
  app->add_option("--items-a-day", options->platform.items_a_day,
                  "items shown to a user on a day, on average")
      ->required()
      ->check(NumberIn(0.01, 50'000.0), "NUMBER");
  app->add_option("--days", options->days, "the filter's window")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  app->add_option("--partitions", options->platform.partitions, "of the input topic")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  const auto number = [app](const char* name, double& into, double low, double high, const char* meaning) {
    app->add_option(name, into, meaning)->check(NumberIn(low, high), "NUMBER")->capture_default_str();
  };
  Platform& platform = options->platform;
  number("--peak", platform.peak, 1, 1'000,
         "events a second in the busiest hour, divided by the day's average");
  number("--session-items", platform.session_items, 1, 100'000, "items shown in one visit of a user");
  number("--session-s", platform.session_s, 1, 86'400, "seconds that a visit lasts");
  number("--debounce-ms", options->debounce_ms, 0, 3'600'000, "the filter's snapshot.debounce_ms");
  number("--refresh-s", platform.refresh_s, 0, 86'400,
         "updates.refresh_s, if the filter has snapshot.updates; 0: it hasn't");
  number("--event-bytes", platform.event_bytes, 1, 1e6, "a record with one item, over the network");
  number("--queries", platform.queries_a_second, 0, 1e9, "queries over HTTP, a second");
  number("--memory-mib", options->memory_mib, 64, 1e9, "store.memory_mib of all daemons together");
  app->add_option("--format", options->format, "of the filter's snapshots")->capture_default_str();
  app->add_option("--fpr", options->rate, "false positive rate of the filter")->capture_default_str();
  app->add_flag("--json", options->json, "numbers in bytes, as JSON");
  return {app, [options] { return RunSize(*options); }};
}

}  // namespace seen
