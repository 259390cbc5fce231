#include "tools/read_config.h"

#include <fmt/format.h>

#include "tools/whole_file.h"

namespace seen {

Result<Config> ReadConfig(const std::string& path, std::span<const std::string> overrides) {
  std::string text = "{}";
  if (!path.empty()) {
    auto whole = ReadWhole(path);
    if (!whole) return Fail(whole.error().code, "--config: " + whole.error().message);
    text = std::move(*whole);
  }
  auto config = LoadConfig(text, overrides);
  if (config) return std::move(*config);
  std::string mistakes;
  for (const ConfigError& error : config.error()) {
    mistakes += fmt::format("{}{}{}{}", mistakes.empty() ? "" : "; ", error.path,
                            error.path.empty() ? "" : ": ", error.message);
  }
  return Fail(Code::kInvalidArgument,
              path.empty() ? mistakes : fmt::format("--config: {}: {}", path, mistakes));
}

}  // namespace seen
