#include "owner/beat.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace seen {
namespace {

std::string TextOf(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t NumberOf(const nlohmann::json& json, const char* name, int64_t otherwise) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

/// The members of an object for which `is_right` is true.
template <typename T>
std::map<std::string, T> MapOf(const nlohmann::json& json, const char* name,
                               bool (nlohmann::json::*is_right)() const noexcept) {
  std::map<std::string, T> values;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_object()) return values;
  for (const auto& [key, value] : found->items()) {
    if ((value.*is_right)()) values[key] = value.template get<T>();
  }
  return values;
}

}  // namespace

std::string EncodeBeat(const Beat& beat) {
  nlohmann::ordered_json json = {{"version", 1}, {"group", beat.from.group}};
  if (!beat.from.instance.empty()) json["instance"] = beat.from.instance;
  if (!beat.from.address.empty()) json["address"] = beat.from.address;
  if (!beat.state.empty()) json["state"] = beat.state;
  if (beat.from.is_replica) json["role"] = "replica";
  if (beat.published_to >= 0) json["published_to"] = beat.published_to;
  if (beat.generation > 0) {
    json["generation"] = beat.generation;
    json["snapshots_to"] = beat.snapshots_to;
    json["snapshots_topic"] = beat.snapshots_topic;
    json["snapshots_log"] = beat.snapshots_log;
    if (!beat.complete_since_ms.empty()) json["complete_since_ms"] = beat.complete_since_ms;
    if (beat.updates_from >= 0) json["updates_from"] = beat.updates_from;
    if (beat.republishing) json["republishing"] = true;
  }
  json["partition"] = beat.partition;
  json["partition_time_ms"] = beat.partition_time.value;
  json["next_offset"] = beat.next_offset;
  json["lag_messages"] = beat.lag_is_known ? beat.lag_messages : std::max<int64_t>(1, beat.lag_messages);
  json["unpublished_users"] = beat.unpublished_users;
  json["heartbeat_ms"] = beat.at.value;
  if (!beat.lag_is_known) json["lag_known"] = false;
  return JsonText(json);
}

std::optional<Beat> ParseBeat(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto partition = json.find("partition");
  if (partition == json.end() || !partition->is_number_unsigned()) return std::nullopt;
  Beat beat;
  beat.from = {TextOf(json, "group"), TextOf(json, "instance"), TextOf(json, "address"),
               TextOf(json, "role") == "replica"};
  beat.partition = partition->get<int32_t>();
  beat.state = TextOf(json, "state");
  beat.partition_time = {NumberOf(json, "partition_time_ms", 0)};
  beat.next_offset = NumberOf(json, "next_offset", 0);
  beat.lag_messages = NumberOf(json, "lag_messages", 0);
  beat.lag_is_known = json.value("lag_known", nlohmann::json()) != false;
  beat.unpublished_users = static_cast<uint64_t>(NumberOf(json, "unpublished_users", 0));
  beat.published_to = NumberOf(json, "published_to", -1);
  beat.generation = NumberOf(json, "generation", 0);
  beat.updates_from = NumberOf(json, "updates_from", -1);
  beat.republishing = json.value("republishing", nlohmann::json()) == true;
  beat.snapshots_to = MapOf<int64_t>(json, "snapshots_to", &nlohmann::json::is_number_integer);
  beat.snapshots_log = MapOf<int64_t>(json, "snapshots_log", &nlohmann::json::is_number_integer);
  beat.snapshots_topic = MapOf<std::string>(json, "snapshots_topic", &nlohmann::json::is_string);
  beat.at = {NumberOf(json, "heartbeat_ms", 0)};
  return beat;
}

void OtherGroups::Hear(std::string_view key, int64_t offset, std::string_view text) {
  const auto beat = ParseBeat(text);
  if (beat && !beat->from.group.empty()) last_[std::string(key)] = {beat->from.group, offset};
}

std::optional<std::string> OtherGroups::Any() const { return WritesSince(OtherGroups(here_)); }

std::optional<std::string> OtherGroups::WritesSince(const OtherGroups& before) const {
  for (const auto& [key, beat] : last_) {
    if (beat.first == here_) continue;
    const auto old = before.last_.find(key);
    if (old == before.last_.end() || old->second.second != beat.second) return beat.first;
  }
  return std::nullopt;
}

}  // namespace seen
