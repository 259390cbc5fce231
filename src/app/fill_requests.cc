#include "app/fill_requests.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/durable_file.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Result<std::vector<FillRequest>> ReadFillRequests(const std::string& path) {
  std::vector<FillRequest> requests;
  std::ifstream file(path, std::ios::binary);
  if (!file) return requests;
  std::ostringstream text;
  text << file.rdbuf();
  const Json json = Json::parse(text.str(), nullptr, false);
  try {
    for (const Json& each : json.at("fills")) {
      FillRequest& request = requests.emplace_back();
      request.filter = each.at("filter").get<std::string>();
      request.id = each.at("id").get<std::string>();
      request.asked_at = {each.at("asked_at_ms").get<int64_t>()};
      request.partitions = each.at("partitions").get<std::set<int32_t>>();
      request.done = each.value("done", std::set<int32_t>());
    }
  } catch (const std::exception&) {
    return Fail(Code::kCorrupt, path + ": isn't a list of fills");
  }
  return requests;
}

Status WriteFillRequests(const std::string& path, const std::vector<FillRequest>& requests) {
  Json json = {{"fills", Json::array()}};
  for (const FillRequest& request : requests) {
    json["fills"].push_back({{"filter", request.filter},
                             {"id", request.id},
                             {"asked_at_ms", request.asked_at.value},
                             {"partitions", request.partitions},
                             {"done", request.done}});
  }
  return WriteDurably(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace seen
