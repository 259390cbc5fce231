#include "config/config_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace seen {

const ConfigJson& ConfigMember(const ConfigJson& object, std::string_view name) {
  static const ConfigJson nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(std::string(name));
  return found == object.end() ? nothing : *found;
}

void ConfigFieldReader::Fail(std::string path, std::string message) {
  errors_.push_back({std::move(path), std::move(message)});
}
void ConfigFieldReader::FailShape(const std::string& path, const ConfigJson& value, const ValueShape& shape) {
  Fail(path, fmt::format("{}: must be {}", ShowValue(value), shape.description));
}
void ConfigFieldReader::CheckKeys(const ConfigJson& object, std::initializer_list<std::string_view> known,
                                  const std::string& path) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Fail(JoinPath(path, name), fmt::format("unknown key; the keys are \"{}\"", fmt::join(known, "\", \"")));
  }
}

std::optional<JsonPointer> ConfigFieldReader::ReadPointer(const ConfigJson& value, const std::string& path) {
  if (!value.is_string()) {
    Fail(path, value.is_null()
                   ? R"(missing; give a JSON pointer such as "/data/uid")"
                   : fmt::format("{}: must be a JSON pointer such as \"/data/uid\"", ShowValue(value)));
    return std::nullopt;
  }
  auto pointer = ParseJsonPointer(value.get_ref<const std::string&>());
  if (!pointer) {
    Fail(path, fmt::format("{}: {}", ShowValue(value), pointer.error()));
    return std::nullopt;
  }
  return std::move(*pointer);
}

std::optional<ConfigFieldReader::Rule> ConfigFieldReader::ReadField(const ConfigJson& value, bool is_time,
                                                                    const std::string& path) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_string() && !value.is_object()) {
    FailShape(path, value, is_time ? kTimeFieldShape : kFieldShape);
    return std::nullopt;
  }
  Rule rule;
  if (value.is_object()) {
    if (is_time) {
      CheckKeys(value, {"at", "unit"}, path);
      rule.unit = ReadUnit(value, path + ".unit");
    } else {
      CheckKeys(value, {"at"}, path);
    }
  }
  auto at =
      value.is_string() ? ReadPointer(value, path) : ReadPointer(ConfigMember(value, "at"), path + ".at");
  if (!at) return std::nullopt;
  rule.at = std::move(*at);
  return rule;
}

TimeUnit ConfigFieldReader::ReadUnit(const ConfigJson& rule, const std::string& path) {
  if (!rule.contains("unit")) return TimeUnit::kMilliseconds;
  const ConfigJson& value = rule.at("unit");
  const auto unit = value.is_string() ? ParseTimeUnit(value.get_ref<const std::string&>()) : std::nullopt;
  if (!unit) Fail(path, fmt::format(R"({}: must be one of "ms", "s", "us", "rfc3339")", ShowValue(value)));
  return unit.value_or(TimeUnit::kMilliseconds);
}

}  // namespace seen
