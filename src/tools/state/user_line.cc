#include "tools/state/user_line.h"

#include <nlohmann/json.hpp>

#include "model/byte_hash.h"
#include "tools/ask/calendar.h"

namespace seen {
namespace {

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

}  // namespace

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

}  // namespace seen
