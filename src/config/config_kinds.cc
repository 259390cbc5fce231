#include "config/config_kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/config_shapes.h"
#include "model/segment_kind.h"

namespace seen {
namespace {

constexpr int kWindowDaysMax = 3650;

bool IsName(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed);
}

bool IsWindow(const ConfigJson& value) {
  return value.is_number_integer() && value >= 1 && value <= kWindowDaysMax;
}

}  // namespace

std::vector<DeclaredKind> ReadDeclaredKinds(const ConfigJson& document, std::vector<ConfigError>& errors) {
  std::vector<DeclaredKind> declared;
  if (!document.is_object() || !document.contains("filters") || !document["filters"].is_array())
    return declared;
  for (size_t i = 0; i < document["filters"].size(); ++i) {
    const ConfigJson& filter = document["filters"][i];
    if (!filter.is_object() || !filter.contains("kinds")) continue;
    const ConfigJson& kinds = filter["kinds"];
    const std::string path = JoinPath("filters", i) + ".kinds";
    if (!kinds.is_object() || kinds.size() > kDeclaredKindsMax) {
      errors.push_back(
          {path, fmt::format("{}: must be {}", ShowValue(kinds), kDeclaredKindsShape.description)});
      continue;
    }
    for (const auto& [name, kind] : kinds.items()) {
      const std::string at = JoinPath(path, name);
      if (!IsName(name)) {
        errors.push_back({at, "a kind's name has 1 to 64 characters of a-z, 0-9, '_' and '-'"});
        continue;
      }
      if (KindTable().IsKnown(name)) {
        errors.push_back({at, "is built in; a declared kind needs another name"});
        continue;
      }
      if (!kind.is_object() || !kind.contains("window_days") || kind.size() != 1 ||
          !IsWindow(kind["window_days"])) {
        errors.push_back({at, fmt::format("{}: must be {{\"window_days\": N}} with N from 1 to {}",
                                          ShowValue(kind), kWindowDaysMax)});
        continue;
      }
      const bool known = std::any_of(declared.begin(), declared.end(),
                                     [&](const DeclaredKind& other) { return other.name == name; });
      if (known) continue;
      if (declared.size() == kDeclaredKindsMax) {
        errors.push_back(
            {at, fmt::format("more than {} kinds in all filters together; remove some", kDeclaredKindsMax)});
        return declared;
      }
      declared.push_back({name, static_cast<EventKind>(kDeclaredKindFirst + declared.size())});
    }
  }
  return declared;
}

std::vector<KindConfig> ToKinds(const ConfigJson& kinds) {
  std::vector<KindConfig> read;
  for (const auto& [name, kind] : kinds.items())
    read.push_back({name, kind.at("window_days").get<int32_t>()});
  return read;
}

}  // namespace seen
