#include "tools/read_files.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/durable_file.h"

namespace seen {

Result<std::string> ReadWhole(const std::string& path) {
  std::ostringstream bytes;
  if (path == "-") {
    bytes << std::cin.rdbuf();
    return bytes.str();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kInvalidArgument, fmt::format("{}: {}", path, std::strerror(errno)));
  bytes << file.rdbuf();
  if (file.bad() || bytes.fail()) return Fail(Code::kInvalidArgument, fmt::format("{}: can't be read", path));
  return bytes.str();
}

Result<OwnFolder> OwnFolder::Make(std::string_view option, const std::string& parent,
                                  std::string_view purpose) {
  std::error_code error;
  std::filesystem::path in = parent;
  if (in.empty()) in = std::filesystem::temp_directory_path(error);
  if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", option, error.message()));
  std::string path = (in / fmt::format("seenctl-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(path.data()) == nullptr) {
    const int code = errno;
    return Fail(IsNoSpace(code) ? Code::kNoSpace : Code::kUnavailable,
                fmt::format("{}: can't make a folder in {}: {}. Remedy: name a folder that you can write to",
                            option, in.string(), std::strerror(code)));
  }
  return OwnFolder(std::move(path));
}

OwnFolder::~OwnFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string MistakesText(const std::string& path, std::span<const ConfigError> mistakes) {
  std::string text = path.empty() ? "" : fmt::format("--config: {}: ", path);
  for (const ConfigError& mistake : mistakes) {
    text += fmt::format("{}{}{}{}", &mistake == mistakes.data() ? "" : "; ", mistake.path,
                        mistake.path.empty() ? "" : ": ", mistake.message);
  }
  return text;
}

Result<Config> ReadConfig(const std::string& path, const std::string& brokers,
                          std::vector<std::string> overrides) {
  std::string text = "{}";
  if (!path.empty()) {
    auto whole = ReadWhole(path);
    if (!whole) return Fail(whole.error().code, "--config: " + whole.error().message);
    text = std::move(*whole);
  }
  if (!brokers.empty()) overrides.push_back("kafka.brokers=" + brokers);
  auto config = LoadConfig(text, overrides);
  if (!config) return Fail(Code::kInvalidArgument, MistakesText(path, config.error()));
  if (!brokers.empty()) config->kafka.client.clear();
  return std::move(*config);
}

}  // namespace seen
