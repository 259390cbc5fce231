// unseen, show, snapshot: questions about one user.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/ask/calendar.h"
#include "tools/ask/daemon_client.h"
#include "tools/ask/unseen_report.h"
#include "tools/check/snapshot_report.h"
#include "tools/check/snapshot_topic.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/whole_file.h"

namespace seen {
namespace {

struct UnseenOptions {
  AskOptions daemon;
  std::string user;
  std::vector<std::string> items;
  std::vector<std::string> also_seen;
  std::string created_at;
  bool one_per_group = false;
  bool json = false;
};

int RunUnseen(const UnseenOptions& options) {
  std::optional<TimeMs> created_at;
  if (!options.created_at.empty()) {
    const auto time = ParseTime("--created-at", options.created_at, SystemClock().WallNow());
    if (!time) return ExitWith(time.error());
    created_at = *time;
  }
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto answer = daemon->UnseenAnswer(options.daemon.filter, options.user, options.items,
                                           options.also_seen, created_at, options.one_per_group);
  if (!answer) return ExitWith(answer.error());
  try {
    fmt::print("{}", options.json ? answer->dump() + "\n" : UnseenText(*answer));
    if (!options.json) fmt::print(stderr, "{}", SimilarText(*answer));  // scripts read only standard output
  } catch (const nlohmann::json::exception& error) {
    return ExitWith({Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what())});
  }
  return kExitOk;
}

struct ShowOptions {
  AskOptions daemon;
  std::string user;
  bool json = false;
};

// The day if `ms` is the beginning of a day, otherwise the second.
std::string TimeWords(int64_t ms) {
  return ms % kMsPerDay == 0 ? DayText(DayOf({ms})) : TimeText({ms}).substr(0, 19) + "Z";
}

std::string SegmentLine(const nlohmann::json& segment) {
  const auto& until = segment.at("counts_until_ms");
  std::string line = fmt::format(
      "{:20}  {:12} {:>8} {:>9}  {}", TimeWords(segment.at("from_ms").get<int64_t>()),
      segment.at("kind").get<std::string>(), segment.at("items").get<uint64_t>(),
      segment.at("bytes").get<uint64_t>(), until.is_null() ? "never" : TimeWords(until.get<int64_t>()));
  if (segment.contains("exposures"))
    line += fmt::format(", {} exposures", segment["exposures"].get<uint64_t>());
  return segment.at("in_window").get<bool>() ? line : line + "  past the window";
}

int RunShow(const ShowOptions& options) {
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto answer = daemon->Segments(options.daemon.filter, options.user);
  if (!answer) return ExitWith(answer.error());
  if (options.json) {
    fmt::print("{}\n", answer->dump(2));
    return kExitOk;
  }
  try {
    const auto& user = *answer;
    const auto items = user.at("items").get<uint64_t>();
    const auto bytes = user.at("bytes").get<uint64_t>();
    fmt::print("{} in filter {}: {} items that count, {} stored{}, {} removals, partition {}, lag {}\n",
               options.user, options.daemon.filter, WithThousands(items), WithByteUnit(bytes),
               items > 0 ? fmt::format(" ({:.2f} bytes an item)",
                                       static_cast<double>(bytes) / static_cast<double>(items))
                         : "",
               user.at("removals").get<uint64_t>(), user.at("partition").get<int64_t>(),
               user.at("lag_messages").is_null() ? "unknown" : user.at("lag_messages").dump());
    if (user.at("segments").empty()) return kExitOk;
    fmt::print("{:20}  {:12} {:>8} {:>9}  {}\n", "of (UTC)", "kind", "items", "bytes", "counts until");
    for (const auto& segment : user.at("segments")) fmt::print("{}\n", SegmentLine(segment));
  } catch (const nlohmann::json::exception& error) {
    return ExitWith({Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what())});
  }
  return kExitOk;
}

struct SnapshotOptions {
  AskOptions daemon;
  KafkaOptions kafka;
  std::string file;
  std::string user;
  std::vector<std::string> test_ids;
  std::string save;
  bool from_topic = false;
  bool json = false;
};

Result<std::string> FetchSnapshot(const SnapshotOptions& options) {
  if (options.file.empty() == options.user.empty()) {
    return Fail(Code::kInvalidArgument, "snapshot: give either a FILE (- for standard input) or --user");
  }
  if (!options.file.empty()) return ReadWhole(options.file);
  if (!options.from_topic) {
    auto daemon = DaemonClient::Make(options.daemon.http);
    if (!daemon) return Fail(daemon.error());
    return daemon->Snapshot(options.daemon.filter, options.user);
  }
  const auto settings = options.kafka.Settings();
  if (!settings) return Fail(settings.error());
  SnapshotTopic topic({options.kafka.brokers, *settings, options.kafka.topic});
  if (auto read = topic.CatchUp(options.user); !read) return Fail(read.error());
  const std::string* bytes = topic.Find(options.user);
  if (bytes == nullptr) {
    return Fail(Code::kNotFound,
                fmt::format("{}: no snapshot in topic {}", options.user, options.kafka.topic));
  }
  return *bytes;
}

int RunSnapshot(const SnapshotOptions& options) {
  const auto bytes = FetchSnapshot(options);
  if (!bytes) return ExitWith(bytes.error());
  if (!options.save.empty()) {
    std::ofstream file(options.save, std::ios::binary | std::ios::trunc);
    file.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
    file.flush();
    if (!file)
      return ExitWith({Code::kUnavailable, fmt::format("--save: {}: can't be written", options.save)});
  }
  const auto about = DescribeSnapshot(*bytes, options.test_ids);
  if (!about) return ExitWith(about.error());
  fmt::print("{}", options.json ? about->dump(2) + "\n" : SnapshotText(*about));
  return kExitOk;
}

}  // namespace

Subcommand AddUnseen(CLI::App& root) {
  auto options = std::make_shared<UnseenOptions>();
  CLI::App* app = root.add_subcommand("unseen", "which of these items the user has not seen");
  AddAskOptions(*app, options->daemon);
  app->add_option("user", options->user, "user id")->required();
  app->add_option("items", options->items, "item ids, in order of preference")->required();
  app->add_option("--also-seen", options->also_seen, "count this item as seen too; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--created-at", options->created_at,
                  "when these items were created: the daemon doesn't check days that ended before");
  app->add_flag("--one-per-group", options->one_per_group, "no two items that are alike");
  app->add_flag("--json", options->json, "answer as JSON");
  return {app, [options] { return RunUnseen(*options); }};
}

Subcommand AddShow(CLI::App& root) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* app = root.add_subcommand("show", "what is kept about a user: segments and their sizes");
  AddAskOptions(*app, options->daemon);
  app->add_option("user", options->user, "user id")->required();
  app->add_flag("--json", options->json, "answer as JSON");
  return {app, [options] { return RunShow(*options); }};
}

Subcommand AddSnapshot(CLI::App& root) {
  auto options = std::make_shared<SnapshotOptions>();
  options->kafka.topic = "seen-filters";
  CLI::App* app = root.add_subcommand("snapshot", "describe a snapshot and test item ids against it");
  AddAskOptions(*app, options->daemon);
  AddKafkaOptions(*app, options->kafka);
  app->get_option("--topic")->description("the snapshot topic, with --from-topic");
  app->add_option("file", options->file, "file with a snapshot's bytes; - is standard input");
  app->add_option("--user", options->user, "ask the daemon for this user's snapshot");
  app->add_flag("--from-topic", options->from_topic,
                "with --user: the last published snapshot, not the daemon's answer");
  app->add_option("--test", options->test_ids, "item ids to test")->expected(1, -1);
  app->add_option("--save", options->save, "write the bytes to this file");
  app->add_flag("--json", options->json, "answer as JSON");
  return {app, [options] { return RunSnapshot(*options); }};
}

}  // namespace seen
