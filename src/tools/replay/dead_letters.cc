#include "tools/replay/dead_letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kafka/topic_reader.h"
#include "tools/ask/calendar.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr size_t kShownBytesMax = 160;
constexpr std::string_view kUnknown = "(none)";  // for a record that no daemon wrote

std::string Shown(std::string_view value) {
  std::string shown;
  for (const char letter : value.substr(0, kShownBytesMax)) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    } else {
      shown += letter;
    }
  }
  return value.size() > kShownBytesMax ? shown + "..." : shown;
}

std::string Header(const Record& record, const char* name) {
  return std::string(HeaderOf(record, name).value_or(kUnknown));
}

}  // namespace

std::string_view DeadLetters::ReasonOf(const Record& record) {
  return HeaderOf(record, "reason").value_or(kUnknown);
}

bool DeadLetters::IsTruncated(const Record& record) {
  return HeaderOf(record, "truncated").has_value() || HeaderOf(record, "truncated-key").has_value();
}

void DeadLetters::Add(const Record& record) {
  ++records_;
  std::pair name(std::string(ReasonOf(record)), Header(record, "field"));
  if (!groups_.contains(name) && groups_.size() >= kGroupsMax) name.second = "(others)";
  DeadLetterGroup& group = groups_[std::move(name)];
  if (group.records == 0) group.first_at = group.last_at = record.timestamp;
  ++group.records;
  group.truncated += IsTruncated(record) ? 1u : 0u;
  group.first_at = std::min(group.first_at, record.timestamp);
  group.last_at = std::max(group.last_at, record.timestamp);
  if (group.examples.size() >= examples_max_) return;
  group.examples.push_back({Header(record, "source-topic"), Header(record, "source-partition"),
                            Header(record, "source-offset"),
                            record.value_is_null ? "null" : Shown(record.value)});
}

std::string DeadLettersText(const DeadLetters& letters) {
  if (letters.records() == 0) return "no dead letters\n";
  std::vector<const DeadLetters::Groups::value_type*> groups;
  for (const auto& group : letters.groups()) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto* a, const auto* b) { return a->second.records > b->second.records; });
  std::string text;
  for (const auto* each : groups) {
    const auto& [name, group] = *each;
    text +=
        fmt::format("{} of {}: {} records, {} to {}{}\n", name.first, name.second,
                    WithThousands(group.records), TimeText(group.first_at), TimeText(group.last_at),
                    group.truncated > 0 ? fmt::format(", {} cut off", WithThousands(group.truncated)) : "");
    for (const DeadLetterPlace& place : group.examples)
      text += fmt::format("    {} partition {} offset {}: {}\n", place.topic, place.partition, place.offset,
                          place.value);
  }
  return text + fmt::format("{} dead letters\n", WithThousands(letters.records()));
}

std::string DeadLettersJson(const DeadLetters& letters) {
  nlohmann::ordered_json json = {{"records", letters.records()}, {"groups", nlohmann::ordered_json::array()}};
  for (const auto& [name, group] : letters.groups()) {
    nlohmann::ordered_json one = {{"reason", name.first},
                                  {"field", name.second},
                                  {"records", group.records},
                                  {"truncated", group.truncated},
                                  {"first_at_ms", group.first_at.value},
                                  {"last_at_ms", group.last_at.value},
                                  {"examples", nlohmann::ordered_json::array()}};
    for (const DeadLetterPlace& place : group.examples) {
      one["examples"].push_back({{"topic", place.topic},
                                 {"partition", place.partition},
                                 {"offset", place.offset},
                                 {"value", place.value}});
    }
    json["groups"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace seen
