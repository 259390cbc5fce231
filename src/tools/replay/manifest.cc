#include "tools/replay/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "base/text.h"
#include "model/hashes.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {

void AddOffset(OffsetRanges& ranges, int64_t offset) { AddOffsets(ranges, offset, offset); }

void AddOffsets(OffsetRanges& ranges, int64_t first, int64_t last) {
  if (!ranges.empty() && ranges.back().second + 1 == first) {
    ranges.back().second = last;
  } else {
    ranges.emplace_back(first, last);
  }
}

bool HasOffset(const OffsetRanges& ranges, int64_t offset) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), offset,
                                      [](int64_t at, const auto& range) { return at < range.first; });
  return after != ranges.begin() && offset <= std::prev(after)->second;
}

uint64_t CountOf(const OffsetRanges& ranges) {
  uint64_t count = 0;
  for (const auto& [first, last] : ranges) count += static_cast<uint64_t>(last - first + 1);
  return count;
}

namespace {

constexpr size_t kRangesMax = 10'000;

/// Every two neighbours become one. Replaying a line between them twice changes nothing.
void Coarsen(OffsetRanges& ranges) {
  for (size_t i = 0; i < ranges.size() / 2; ++i) ranges[i] = {ranges[2 * i].first, ranges[2 * i + 1].second};
  if (ranges.size() % 2 == 1) ranges[ranges.size() / 2] = ranges.back();
  ranges.resize((ranges.size() + 1) / 2);
}

}  // namespace

uint64_t LineOutcomes::Begin() {
  outcomes_.push_back(static_cast<char>(LineOutcome::kPending));
  return next_++;
}

void LineOutcomes::Finish(uint64_t number, LineOutcome outcome) {
  Check(number >= done_ && number < next_, "an entry finishes once, after it began");
  Check(outcome != LineOutcome::kPending, "an entry finishes with an outcome");
  char& place = outcomes_[static_cast<size_t>(number - done_) + trimmed_];
  Check(place == static_cast<char>(LineOutcome::kPending), "an entry finishes once");
  place = static_cast<char>(outcome);
  ++finished_ahead_;
  while (trimmed_ < outcomes_.size() && outcomes_[trimmed_] != static_cast<char>(LineOutcome::kPending)) {
    const auto ended = static_cast<LineOutcome>(outcomes_[trimmed_]);
    counts_.sent += ended == LineOutcome::kSent ? 1 : 0;
    counts_.rejected += ended == LineOutcome::kRejected ? 1 : 0;
    counts_.skipped += ended == LineOutcome::kSkipped ? 1 : 0;
    if (ended == LineOutcome::kRejected) {
      AddOffset(rejected_, static_cast<int64_t>(done_));
      if (rejected_.size() > kRangesMax) Coarsen(rejected_);
    }
    ++trimmed_;
    ++done_;
    --finished_ahead_;
  }
  if (trimmed_ > 65'536 && trimmed_ * 2 > outcomes_.size()) {
    outcomes_.erase(0, trimmed_);
    trimmed_ = 0;
  }
}

NLOHMANN_JSON_SERIALIZE_ENUM(ManifestFile::State, {{ManifestFile::State::kPartly, "partly"},
                                                   {ManifestFile::State::kDone, "done"},
                                                   {ManifestFile::State::kDamaged, "damaged"}})
template <typename Json>
void to_json(Json& json, const Anchor& anchor) {
  json = {anchor.offset, anchor.timestamp.value, anchor.hash};
}
template <typename Json>
void from_json(const Json& json, Anchor& anchor) {
  anchor = {json.at(0).template get<int64_t>(),
            {json.at(1).template get<int64_t>()},
            json.at(2).template get<uint64_t>()};
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LineCounts, sent, rejected, skipped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ManifestFile, name, size, first_block_hash, lines, rejected,
                                                bytes_not_read, state, damage)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ManifestTopic, name, range, next_offsets, rejected, records,
                                                done, anchors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Manifest, run, target, files, topics, finished, rules,
                                                by_rules, acknowledged)

namespace {

constexpr int kVersion = 3;

}  // namespace

LineCounts Manifest::Counts() const {
  LineCounts counts;
  for (const ManifestFile& file : files) counts += file.lines;
  for (const ManifestTopic& topic : topics) counts += topic.records;
  return counts;
}

bool Manifest::IsDamaged() const {
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return file.state == ManifestFile::State::kDamaged; });
}

ManifestFile* Manifest::FindFile(std::string_view name) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

ManifestTopic* Manifest::FindTopic(std::string_view name) {
  const auto found =
      std::find_if(topics.begin(), topics.end(), [&](const auto& topic) { return topic.name == name; });
  return found == topics.end() ? nullptr : &*found;
}

Result<std::optional<Manifest>> ReadManifest(const std::string& path) {
  std::error_code error;
  const auto about = std::filesystem::status(path, error);
  if (about.type() == std::filesystem::file_type::not_found) return std::optional<Manifest>();
  if (about.type() != std::filesystem::file_type::regular)
    return Fail(Code::kInvalidArgument, fmt::format("--progress: {}: not a file. Name a file", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(FileError(errno, "--progress: can't open", path));
  std::ostringstream text;
  text << file.rdbuf();
  auto malformed =
      Fail(Code::kMalformed,
           fmt::format(
               "--progress: {}: not a progress file of this version; delete it to start from the beginning",
               path));
  try {
    const auto json = SortedJson::parse(text.str());
    if (json.at("version").get<int>() != kVersion) return malformed;
    auto manifest = json.get<Manifest>();
    for (ManifestFile& each : manifest.files) each.name = Printable(each.name);
    return std::optional(std::move(manifest));
  } catch (const SortedJson::exception&) {
    return malformed;
  }
}

std::string ManifestJson(const Manifest& manifest) {
  SortedJson json = manifest;
  json.update(SortedJson(manifest.Counts()));
  json["version"] = kVersion;
  return JsonText(json, 1) + "\n";
}

std::string ManifestText(const Manifest& manifest) {
  const LineCounts counts = manifest.Counts();
  std::string text = fmt::format("run {} into topic {}: {}, {} sent, {} rejected, {} skipped\n", manifest.run,
                                 manifest.target,
                                 !manifest.finished     ? "not finished"
                                 : manifest.IsDamaged() ? "finished, except for damaged files"
                                                        : "finished",
                                 counts.sent, counts.rejected, counts.skipped);
  for (const ManifestFile& file : manifest.files) {
    text +=
        fmt::format("{:<8} {:>12} lines {:>8} rejected  {}{}\n", SortedJson(file.state).get<std::string>(),
                    file.lines.done(), file.lines.rejected, file.name,
                    file.bytes_not_read > 0 ? fmt::format(", {} bytes not read", file.bytes_not_read) : "");
  }
  for (const ManifestTopic& topic : manifest.topics) {
    text += fmt::format("{:<8} {:>12} records {:>6} rejected  {} {}\n", topic.done ? "done" : "partly",
                        topic.records.done(), topic.records.rejected, topic.name, topic.range);
  }
  return text;
}

Status WriteManifest(const std::string& path, const Manifest& manifest) {
  const Status written = WriteDurably(path, ManifestJson(manifest));
  if (!written)
    return Fail(written.error().code, fmt::format("--progress: {}: {}", path, written.error().message));
  return {};
}

Result<std::optional<FileLock>> LockManifest(const std::string& path) {
  if (path.empty()) return std::optional<FileLock>();
  // Reads the file first: a wrong path must not get a lock file beside it.
  if (const auto read = ReadManifest(path); !read) return Fail(read.error());
  auto lock = FileLock::Take(path + ".lock", true, false);
  if (!lock) return Fail(lock.error().code, fmt::format("--progress: {}: {}", path, lock.error().message));
  return std::optional(std::move(*lock));
}

std::string SkippingRules(const Config& config, std::string_view times) {
  const auto shown = SortedJson::parse(config.effective_json);
  SortedJson rules = {{"times", times}};
  for (const char* const key :
       {"fields", "ids_ignored", "items_only_if", "items_skip_invalid", "kinds", "only_if"})
    rules[key] = shown.at("input").at(key);
  for (const SortedJson& filter : shown.at("filters"))
    rules["filters"].push_back(SortedJson::array({filter.at("scenes"), filter.at("when")}));
  return fmt::format("{:016x}", RecordHash({}, JsonText(rules)));
}

Result<Manifest> OpenManifest(const std::string& path, const std::string& topic, const std::string& rules,
                              bool quiet) {
  std::optional<Manifest> stored;
  if (!path.empty()) {
    auto read = ReadManifest(path);
    if (!read) return Fail(read.error());
    stored = std::move(*read);
  }
  if (!stored) {
    std::random_device chance;
    return Manifest{.run = fmt::format("{:08x}{:08x}", chance(), chance()),
                    .target = topic,
                    .files = {},
                    .topics = {},
                    .rules = rules};
  }
  if (stored->target != topic) {
    return Fail(Code::kRefused,
                fmt::format("--progress: {}: the file is of topic {}, and --topic is {}: name another file",
                            path, stored->target, topic));
  }
  if (stored->by_rules > 0 && stored->rules != rules) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("--progress: {}: earlier runs skipped {} events by other fields, kinds, conditions, "
                    "filters, --since or --until. Remedy: put those back, or name another file to send "
                    "everything again; an event that comes twice changes nothing",
                    path, WithThousands(stored->by_rules)));
  }
  stored->rules = rules;
  if (!quiet) {
    const LineCounts counts = stored->Counts();
    fmt::print(stderr, "seenctl: continuing from {}: {} sent, {} rejected before\n", path,
               WithThousands(counts.sent), WithThousands(counts.rejected));
  }
  return std::move(*stored);
}

}  // namespace seen
