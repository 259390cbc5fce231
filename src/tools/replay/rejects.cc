#include "tools/replay/rejects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

namespace seen {
namespace {

constexpr size_t kTextBytesMax = 4096;
constexpr size_t kExampleBytesMax = 200;

using Json = nlohmann::ordered_json;

}  // namespace

Rejects::~Rejects() {
  if (file_ >= 0) close(file_);
}

Status Rejects::OpenFile(const std::string& path) {
  path_ = path;
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) return Fail(Broken());
  return {};
}

Status Rejects::Add(std::string_view reason, std::string_view message, const std::string& where,
                    std::string_view text) {
  ++total_;
  auto found = reasons_.find(reason);
  if (found == reasons_.end()) found = reasons_.emplace(reason, Reason{}).first;
  ++found->second.count;
  if (found->second.examples.size() < kExamplesMax) {
    found->second.examples.push_back(
        {where, std::string(message), std::string(text.substr(0, kExampleBytesMax))});
  }
  if (file_ < 0) return {};
  auto line = Json::parse(where);
  line["reason"] = reason;
  line["message"] = message;
  line["text"] = text.substr(0, kTextBytesMax);
  const std::string bytes = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const auto written = write(file_, bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) return Fail(Broken());
  return {};
}

Status Rejects::Sync() {
  if (file_ >= 0 && fsync(file_) != 0) return Fail(Broken());
  return {};
}

Error Rejects::Broken() const {
  return {Code::kUnavailable, fmt::format("--rejects: {}: {}", path_, std::strerror(errno))};
}

Status Rejects::CheckShare(uint64_t rejected, uint64_t lines) const {
  if (static_cast<double>(rejected) <= share_max_ * static_cast<double>(lines)) return {};
  const auto commonest = std::max_element(reasons_.begin(), reasons_.end(), [](const auto& a, const auto& b) {
    return a.second.count < b.second.count;
  });
  std::string example;
  if (commonest != reasons_.end()) {
    const Example& first = commonest->second.examples.front();
    example = fmt::format(" Most: {}, such as {}: {}.", commonest->first, first.where, first.message);
  }
  return Fail(Code::kMalformed,
              fmt::format("--rejects-max: {} of {} lines can't be sent, over {:g}%.{} Remedy: correct the "
                          "fields that --config maps, or give a greater --rejects-max",
                          rejected, lines, share_max_ * 100, example));
}

Result<double> ParseShare(std::string_view option, std::string_view text) {
  double percent = -1;
  if (text.ends_with('%')) {
    const auto read = std::from_chars(text.data(), text.data() + text.size() - 1, percent);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() - 1 && percent >= 0 && percent <= 100)
      return percent / 100;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {}: expected a share from 0% to 100%, such as 1%", option, text));
}

}  // namespace seen
