#pragma once
// A configuration with overrides, as --set gives them, and its errors as text.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace seen {

constexpr const char* kMinimal = R"({"kafka": {"brokers": "127.0.0.1:9092"}})";

inline tl::expected<Config, std::vector<ConfigError>> LoadWith(const std::vector<std::string>& overrides,
                                                               std::string_view text = kMinimal) {
  return LoadConfig(text, overrides);
}

/// Each error as a line.
inline std::string Lines(const std::vector<ConfigError>& errors) {
  std::string lines;
  for (const ConfigError& error : errors) lines += error.path + ": " + error.message + "\n";
  return lines;
}

/// "" if there is none.
inline std::string ErrorsOf(std::string_view text, const std::vector<std::string>& overrides = {}) {
  const auto config = LoadConfig(text, overrides);
  return config ? "" : Lines(config.error());
}
inline std::string ErrorsWith(const std::vector<std::string>& overrides) {
  return ErrorsOf(kMinimal, overrides);
}

}  // namespace seen
