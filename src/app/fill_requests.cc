#include "app/fill_requests.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

Status Failed(const std::string& path, const char* step) {
  return Fail(errno == ENOSPC ? Code::kNoSpace : Code::kUnavailable,
              fmt::format("{}: {}: {}", path, step, std::strerror(errno)));
}

Status SyncPath(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return Failed(path, "open");
  const bool synced = ::fsync(file) == 0;
  Status outcome = synced ? Status() : Failed(path, "fsync");
  ::close(file);
  return outcome;
}

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
                             {"partitions", request.partitions}});
  }
  const std::string beside = path + ".new";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
    file.flush();
    if (!file) return Failed(beside, "write");
  }
  if (Status synced = SyncPath(beside, O_RDONLY); !synced) return synced;
  if (std::rename(beside.c_str(), path.c_str()) != 0) return Failed(path, "rename");
  return SyncPath(std::filesystem::path(path).parent_path().string(), O_RDONLY | O_DIRECTORY);
}

}  // namespace seen
