// export: writes what is stored about every user, as JSON lines.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/byte_hash.h"
#include "model/delta.h"
#include "model/hashes.h"
#include "model/journal_row.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/state/state_source.h"

namespace seen {
namespace {

/// Item ids by fingerprint, as far as the journal knows them.
using ItemIds = std::map<uint32_t, std::string>;

struct StoredUser {
  int32_t partition = 0;
  std::string_view filter;
  UserKey key;
  std::string_view user_id;  // empty: the id is gone
  const Delta& delta;
  const ItemIds& ids;
  const std::vector<std::string>& kinds;  // declared kinds, by number - 16
};

constexpr int64_t kMsPerSecond = 1000;

std::string KindNameOf(SegmentKind kind, const std::vector<std::string>& declared) {
  constexpr std::string_view kNames[] = {"exposed",     "served",    "repeated",
                                         "by_creation", "resolving", "similar"};
  if (!IsDeclared(kind)) return std::string(kNames[static_cast<size_t>(kind)]);
  const size_t place = DeclaredPlace(kind);
  return place < declared.size() ? declared[place] : "kind " + std::to_string(static_cast<int>(kind));
}

nlohmann::ordered_json ItemOf(Fingerprint fingerprint, const StoredUser& user) {
  nlohmann::ordered_json item = {{"fingerprint", fingerprint.value}};
  const auto known = user.ids.find(fingerprint.value);
  if (known != user.ids.end()) item["item_id"] = known->second;
  return item;
}

nlohmann::ordered_json ExposedOf(const Segment& segment, const StoredUser& user) {
  const int64_t start_ms = StartOf(segment.day).value;
  nlohmann::ordered_json json = {{"kind", "exposed"},
                                 {"from_ms", start_ms},
                                 {"to_ms", start_ms + kMsPerDay},
                                 {"first_at_ms", start_ms + segment.first_second * kMsPerSecond},
                                 {"last_at_ms", start_ms + segment.last_second * kMsPerSecond},
                                 {"items", nlohmann::ordered_json::array()}};
  for (const Fingerprint fingerprint : segment.fingerprints)
    json["items"].push_back(ItemOf(fingerprint, user));
  return json;
}

nlohmann::ordered_json OtherOf(const OtherSegment& segment, const StoredUser& user) {
  const auto start_ms = static_cast<int64_t>(segment.StartSecond()) * kMsPerSecond;
  nlohmann::ordered_json json = {{"kind", KindNameOf(segment.kind, user.kinds)},
                                 {"from_ms", start_ms},
                                 {"to_ms", start_ms + segment.width_s * kMsPerSecond}};
  if (segment.kind == SegmentKind::kByCreation) {
    json["last_day"] = DayText(segment.day());
  } else {
    json["first_at_ms"] = start_ms + segment.first_second * kMsPerSecond;
    json["last_at_ms"] = start_ms + segment.last_second * kMsPerSecond;
  }
  json["items"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
    nlohmann::ordered_json item = ItemOf(segment.fingerprints[i], user);
    if (segment.kind == SegmentKind::kRepeated) item["at_ms"] = start_ms + segment.times[i] * kMsPerSecond;
    if (segment.kind == SegmentKind::kByCreation)
      item["last_day"] = DayText(Day{static_cast<int32_t>(segment.times[i])});
    json["items"].push_back(std::move(item));
  }
  return json;
}

/// A user's stored set as one line of JSON: docs/SEENCTL.md, "export".
std::string UserLine(const StoredUser& user) {
  nlohmann::ordered_json json = {{"partition", user.partition},
                                 {"filter", user.filter},
                                 {"user_id", nullptr},
                                 {"user_key", ToHex(Hash128{user.key.high, user.key.low})}};
  if (!user.user_id.empty()) json["user_id"] = user.user_id;
  json["segments"] = nlohmann::ordered_json::array();
  for (const Segment& segment : user.delta.segments) json["segments"].push_back(ExposedOf(segment, user));
  for (const OtherSegment& segment : user.delta.others) json["segments"].push_back(OtherOf(segment, user));
  json["removals"] = nlohmann::ordered_json::array();
  for (const Removal& removal : user.delta.removals) {
    nlohmann::ordered_json item = ItemOf(removal.fingerprint, user);
    item["day"] = DayText(removal.day);
    json["removals"].push_back(std::move(item));
  }
  json["erased"] = nullptr;
  if (user.delta.erased) json["erased"] = DayText(*user.delta.erased);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

struct ExportOptions {
  StateSourceOptions source;
  std::string filter;  // empty: all
  std::string out;     // empty: standard output
  bool quiet = false;
};

/// Writes lines into a file, or to standard output.
class LineOutput {
 public:
  static Result<LineOutput> Open(const std::string& path) {
    std::FILE* const file = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
    if (file == nullptr)
      return Fail(Code::kUnavailable, fmt::format("--out: {}: {}", path, std::strerror(errno)));
    return LineOutput(file, path.empty() ? "standard output" : path);
  }
  LineOutput(LineOutput&& other) noexcept
      : file_(std::exchange(other.file_, nullptr)), name_(std::move(other.name_)) {}
  LineOutput& operator=(LineOutput&&) = delete;
  ~LineOutput() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  }

  Status Write(const std::string& line) {
    return std::fwrite(line.data(), 1, line.size(), file_) == line.size() ? Status() : Failed();
  }
  Status Finish() { return std::fflush(file_) == 0 ? Status() : Failed(); }

 private:
  LineOutput(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}
  Status Failed() const {
    return Fail(Code::kUnavailable, fmt::format("--out: can't write {}: {}", name_, std::strerror(errno)));
  }
  std::FILE* file_;
  std::string name_;
};

/// The ids of the user's items, as far as the journal knows them.
Result<ItemIds> IdsOf(RestingRows& rows, const UserKey& user) {
  ItemIds ids;
  if (!rows.has_journal()) return ids;
  JournalRow row;
  bool decoded = true;
  const Status read = rows.ForEachJournalRow(user, [&](std::string_view value) {
    decoded = decoded && DecodeJournalRow(value, row);
    if (!decoded) return;
    for (const JournalItem& item : row.items)
      ids.try_emplace(FingerprintOf(item.item_id).value, item.item_id);
  });
  if (!read) return Fail(read.error());
  if (!decoded) return Fail(Code::kCorrupt, "a row of the journal can't be read");
  return ids;
}

Status ExportPartition(const ExportOptions& options, int32_t partition, RestingRows& rows, LineOutput& out,
                       Progress& progress, uint64_t& users) {
  const StoreDescriptor& descriptor = rows.descriptor();
  return rows.ForEachFrom(
      Table::kDeltas, View(KeyOf(Table::kDeltas, {})),
      [&](std::string_view key, std::string_view value) -> Status {
        const auto user = UserOf(Table::kDeltas, key);
        if (!user) return Fail(user.error());
        if (user->filter == kResolvingFilter) return {};
        if (user->filter.number() >= descriptor.filters.size())
          return Fail(Code::kCorrupt, "a set of a filter that the descriptor doesn't have");
        const std::string& filter = descriptor.filters[user->filter.number()].name;
        if (!options.filter.empty() && options.filter != filter) return {};
        auto delta = DecodeDelta(value);
        if (!delta) return Fail(delta.error());
        std::string user_id = delta->user_id;
        if (user_id.empty()) {
          auto marked = rows.MarkedIdOf(*user);
          if (!marked) return Fail(marked.error());
          user_id = std::move(*marked);
        }
        const auto ids = IdsOf(rows, user->user);
        if (!ids) return Fail(ids.error());
        progress.Update(++users);
        if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: not all users are written");
        return out.Write(UserLine({partition, filter, user->user, user_id, *delta, *ids, descriptor.kinds}));
      });
}

int RunExport(const ExportOptions& options) {
  if (options.source.directory.empty() == options.source.backups.empty())
    return ExitWith({Code::kInvalidArgument, "export: give either --dir or --from"});
  if (options.source.backup && options.source.backups.empty())
    return ExitWith({Code::kInvalidArgument, "--backup: give --from, the directory of backups"});
  const auto source = StateSource::Open(options.source);
  if (!source) return ExitWith(source.error());
  auto out = LineOutput::Open(options.out);
  if (!out) return ExitWith(out.error());
  CatchInterrupts();
  Progress progress("export", 0, "users", options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  uint64_t users = 0;
  for (const int32_t partition : source->Partitions()) {
    auto rows = source->Open(partition);
    if (!rows && rows.error().code == Code::kNotFound) continue;  // a partition that was still being created
    if (!rows) return ExitWith(rows.error());
    const Status written = ExportPartition(options, partition, **rows, *out, progress, users);
    if (!written)
      return ExitWith(
          {written.error().code, fmt::format("partition {}: {}", partition, written.error().message)});
  }
  if (Status finished = out->Finish(); !finished) return ExitWith(finished.error());
  return kExitOk;
}

}  // namespace

Subcommand AddExport(CLI::App& root) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* app = root.add_subcommand("export", "what is stored of every user, as JSON lines");
  AddStateSourceOptions(*app, options->source);
  app->add_option("--filter", options->filter, "only this filter; default: all filters");
  app->add_option("--out", options->out, "write to this file; default: standard output");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunExport(*options); }};
}

}  // namespace seen
