#include "tools/load/replay_progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/check.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

Error SystemError(const std::string& path, const char* step) {
  const Code code = errno == ENOSPC ? Code::kNoSpace : Code::kUnavailable;
  return {code, fmt::format("{}: {}: {}", path, step, std::strerror(errno))};
}

Status SyncPath(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return Fail(SystemError(path, "open"));
  const bool synced = fsync(file) == 0;
  const Error error = SystemError(path, "fsync");
  close(file);
  if (!synced) return Fail(error);
  return {};
}

}  // namespace

Result<std::optional<ReplayPosition>> ReadReplayPosition(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::optional<ReplayPosition>();
  std::ostringstream text;
  text << file.rdbuf();
  const auto malformed = Fail(
      Code::kMalformed, fmt::format("{}: not a progress file; delete it to start from the beginning", path));
  const Json json = Json::parse(text.str(), nullptr, false);
  if (!json.is_object()) return malformed;
  try {
    ReplayPosition position;
    position.source = json.at("source").get<std::string>();
    position.source_bytes = json.at("source_bytes").get<uint64_t>();
    position.target = json.at("target").get<std::string>();
    position.done = json.at("done").get<uint64_t>();
    position.sent = json.at("sent").get<uint64_t>();
    position.rejected = json.at("rejected").get<uint64_t>();
    position.offsets = json.at("offsets").get<std::string>();
    position.finished = json.at("finished").get<bool>();
    return std::optional(position);
  } catch (const Json::exception&) {
    return malformed;
  }
}

Status WriteReplayPosition(const std::string& path, const ReplayPosition& position) {
  const Json json = {{"source", position.source},   {"source_bytes", position.source_bytes},
                     {"target", position.target},   {"done", position.done},
                     {"sent", position.sent},       {"rejected", position.rejected},
                     {"offsets", position.offsets}, {"finished", position.finished}};
  const std::string beside = path + ".new";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << json.dump(2) << '\n';
    file.flush();
    if (!file) return Fail(SystemError(beside, "write"));
  }
  if (auto synced = SyncPath(beside, O_RDONLY); !synced) return synced;
  if (std::rename(beside.c_str(), path.c_str()) != 0) return Fail(SystemError(path, "rename"));
  const auto folder = std::filesystem::path(path).parent_path();
  return SyncPath(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY);
}

Status CheckSameReplay(const std::string& path, const ReplayPosition& stored, const ReplayPosition& wanted) {
  const auto refuse = [&](std::string_view field, const auto& was, const auto& is) {
    return Fail(Code::kRefused,
                fmt::format("{}: {} was {} and is now {}: that is another replay; name another "
                            "progress file, or delete this one to start from the beginning",
                            path, field, was, is));
  };
  if (stored.source != wanted.source) return refuse("source", stored.source, wanted.source);
  if (stored.source_bytes != wanted.source_bytes)
    return refuse("source_bytes", stored.source_bytes, wanted.source_bytes);
  if (stored.target != wanted.target) return refuse("target", stored.target, wanted.target);
  return {};
}

uint64_t ContiguousProgress::Begin() {
  finished_.push_back('\0');
  return next_++;
}

void ContiguousProgress::Finish(uint64_t number) {
  Check(number >= done_ && number < next_, "an entry finishes once, after it began");
  char& flag = finished_[static_cast<size_t>(number - done_) + trimmed_];
  Check(flag == '\0', "an entry finishes once");
  flag = '\1';
  ++finished_ahead_;
  while (trimmed_ < finished_.size() && finished_[trimmed_] == '\1') {
    ++trimmed_;
    ++done_;
    --finished_ahead_;
  }
  if (trimmed_ > 65'536 && trimmed_ * 2 > finished_.size()) {
    finished_.erase(0, trimmed_);
    trimmed_ = 0;
  }
}

}  // namespace seen
