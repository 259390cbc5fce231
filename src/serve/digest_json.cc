#include "serve/digest_json.h"

#include <nlohmann/json.hpp>

namespace seen {
namespace {

Hash128 HashAt(const nlohmann::json& object, const char* field) {
  const auto hash = HashFromHex(object.at(field).get<std::string>());
  if (!hash)
    throw nlohmann::json::other_error::create(501, std::string(field) + ": not 32 hexadecimal digits",
                                              &object);
  return *hash;
}

FilterDigest FilterFromJson(const nlohmann::json& object) {
  FilterDigest filter;
  filter.filter = object.at("filter").get<std::string>();
  filter.window_days = object.at("window_days").get<int32_t>();
  filter.set.digest = HashAt(object, "digest");
  filter.set.without_id = HashAt(object, "without_id");
  filter.set.similar = HashAt(object, "similar");
  filter.set.users = object.at("users").get<uint64_t>();
  filter.set.users_without_id = object.at("users_without_id").get<uint64_t>();
  filter.set.items = object.at("items").get<uint64_t>();
  filter.set.removals = object.at("removals").get<uint64_t>();
  return filter;
}

}  // namespace

nlohmann::ordered_json DigestsToJson(const std::vector<FilterDigest>& filters) {
  auto array = nlohmann::ordered_json::array();
  for (const FilterDigest& filter : filters) {
    array.push_back({{"filter", filter.filter},
                     {"window_days", filter.window_days},
                     {"digest", ToHex(filter.set.digest)},
                     {"without_id", ToHex(filter.set.without_id)},
                     {"similar", ToHex(filter.set.similar)},
                     {"users", filter.set.users},
                     {"users_without_id", filter.set.users_without_id},
                     {"items", filter.set.items},
                     {"removals", filter.set.removals}});
  }
  return array;
}

Result<std::vector<FilterDigest>> DigestsFromJson(const nlohmann::json& array) {
  try {
    std::vector<FilterDigest> filters;
    for (const nlohmann::json& object : array) filters.push_back(FilterFromJson(object));
    return filters;
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, std::string("digests: ") + error.what());
  }
}

nlohmann::ordered_json PartitionDigestToJson(const PartitionDigest& digest) {
  return {{"partition", digest.partition},
          {"next_offset", digest.next_offset},
          {"partition_time_ms", digest.partition_time.value},
          {"as_of_ms", digest.as_of.value},
          {"filters", DigestsToJson(digest.filters)}};
}

Result<PartitionDigest> PartitionDigestFromJson(const nlohmann::json& object) {
  try {
    PartitionDigest digest;
    digest.partition = object.at("partition").get<int32_t>();
    digest.next_offset = object.at("next_offset").get<int64_t>();
    digest.partition_time = {object.at("partition_time_ms").get<int64_t>()};
    digest.as_of = {object.at("as_of_ms").get<int64_t>()};
    auto filters = DigestsFromJson(object.at("filters"));
    if (!filters) return Fail(filters.error());
    digest.filters = std::move(*filters);
    return digest;
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, std::string("digest: ") + error.what());
  }
}

}  // namespace seen
