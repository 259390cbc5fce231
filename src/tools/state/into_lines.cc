// What is stored of every user, as JSON lines: docs/SEENCTL.md, "export".

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "model/delta.h"
#include "model/hashes.h"
#include "model/journal_row.h"
#include "model/set_digest.h"
#include "tools/common_options.h"
#include "tools/state/state_rows.h"

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
  return JsonText(json) + "\n";
}

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

class LinesSink final : public CopySink {
 public:
  LinesSink(std::string filter, const std::string& path)
      : filter_(std::move(filter)), is_stdout_(path.empty()), path_(is_stdout_ ? "standard output" : path) {}
  ~LinesSink() override {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  }
  LinesSink(const LinesSink&) = delete;
  LinesSink& operator=(const LinesSink&) = delete;

  Result<std::string> SortFolder() override { return Fail(Code::kInvalidArgument, "lines are of a store"); }
  Status Begin(std::vector<PartitionHead> heads) override {
    heads_ = std::move(heads);
    if (Status has = CheckFilter(); !has) return has;
    file_ = is_stdout_ ? stdout : std::fopen(path_.c_str(), "wb");
    return file_ == nullptr ? Failed() : Status();
  }
  Status Add(int32_t place, const Row& row, RestingRows* stored) override;
  Status Finish() override { return std::fflush(file_) == 0 ? Status() : Failed(); }

 private:
  Status CheckFilter() const;
  Status Failed() const {
    return Fail(Code::kUnavailable, fmt::format("--out: can't write {}: {}", path_, std::strerror(errno)));
  }

  const std::string filter_;
  const bool is_stdout_;
  const std::string path_;
  std::FILE* file_ = nullptr;
  std::vector<PartitionHead> heads_;
};

Status LinesSink::CheckFilter() const {
  if (filter_.empty()) return {};
  std::set<std::string> names;
  for (const PartitionHead& head : heads_) {
    for (const auto& filter : head.descriptor.filters) names.insert(filter.name);
  }
  if (names.contains(filter_)) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("--filter: {}: the state has {}", filter_, fmt::join(names, ", ")));
}

Status LinesSink::Add(int32_t place, const Row& row, RestingRows* stored) {
  if (static_cast<Table>(row.key[0]) != Table::kDeltas) return {};
  const auto user = UserOf(Table::kDeltas, row.key);
  if (!user) return Fail(user.error());
  if (user->filter == kResolvingFilter) return {};
  const StoreDescriptor& descriptor = heads_[static_cast<size_t>(place)].descriptor;
  if (user->filter.number() >= descriptor.filters.size())
    return Fail(Code::kCorrupt, "a set of a filter that the descriptor doesn't have");
  const std::string& filter = descriptor.filters[user->filter.number()].name;
  if (!filter_.empty() && filter_ != filter) return {};
  auto delta = DecodeDelta(row.value);
  if (!delta) return Fail(delta.error());
  std::string user_id = delta->user_id;
  if (user_id.empty()) {
    auto marked = stored->MarkedIdOf(*user);
    if (!marked) return Fail(marked.error());
    user_id = std::move(*marked);
  }
  const auto ids = IdsOf(*stored, user->user);
  if (!ids) return Fail(ids.error());
  const std::string line =
      UserLine({descriptor.identity.partition, filter, user->user, user_id, *delta, *ids, descriptor.kinds});
  return std::fwrite(line.data(), 1, line.size(), file_) == line.size() ? Status() : Failed();
}

}  // namespace

std::unique_ptr<CopySink> IntoLines(const std::string& filter, const std::string& path) {
  return std::make_unique<LinesSink>(filter, path);
}

}  // namespace seen
