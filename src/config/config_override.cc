#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "config/config_check.h"
#include "config/config_keys.h"
#include "config/config_text.h"

namespace seen {
namespace {

struct Override {
  std::string_view key;
  ConfigJson value;
};

ConfigJson ParseValue(std::string_view text) {
  // Text that isn't JSON is a string: --set store.directory=/tmp/state needs no quotes.
  if (!text.empty()) {
    if (auto parsed = ParseConfigText(text)) return std::move(*parsed);
  }
  return std::string(text);
}

/// Whether `value` holds a secret itself. A reference to a secret doesn't count.
bool HoldsSecret(std::string_view name, const ConfigJson& value) {
  if (IsSecretReference(value) || value.is_null()) return false;
  if (!value.is_object()) return IsSecretProperty(name) || name.ends_with("token");
  for (const auto& [member, inner] : value.items()) {
    if (HoldsSecret(member, inner)) return true;
  }
  return false;
}

/// The index of the element that `step` names: "[1]", or the element's name. An error if there is none.
tl::expected<size_t, std::string> FindElement(const ConfigJson& list, const ConfigNode& node,
                                              std::string_view step) {
  const size_t count = list.is_array() ? list.size() : 0;
  if (step.starts_with('[')) {
    size_t index = 0;
    const char* const end = step.data() + step.size() - 1;
    const auto [stop, failed] = std::from_chars(step.data() + 1, end, index);
    if (!step.ends_with(']') || stop != end || failed != std::errc{}) {
      return tl::unexpected(fmt::format("{} is not an index like [0]", ShowValue(std::string(step))));
    }
    if (index >= count)
      return tl::unexpected(fmt::format("there is no [{}]: {} has {}", index, node.name, count));
    return index;
  }
  std::string names;
  for (size_t i = 0; i < count; ++i) {
    const ConfigJson& element = list[i];
    if (!element.is_object()) continue;
    const std::string name = element.value("name", ConfigJson("default")).is_string()
                                 ? element.value("name", ConfigJson("default")).get<std::string>()
                                 : std::string();
    if (name == step) return i;
    names += (names.empty() ? "" : ", ") + name;
  }
  return tl::unexpected(fmt::format("no entry of {} is named {}; there are: {}", node.name,
                                    ShowValue(std::string(step)), names.empty() ? "none" : names));
}

/// Cuts the next step off `rest`: the text up to '.', or a "[...]".
std::string_view NextStep(std::string_view& rest) {
  size_t end =
      rest.starts_with('[') ? std::min(rest.find(']'), rest.size() - 1) + 1 : rest.find_first_of(".[");
  end = std::min(end, rest.size());
  const std::string_view step = rest.substr(0, end);
  rest.remove_prefix(end);
  if (rest.starts_with('.')) rest.remove_prefix(1);
  return step;
}

/// Replaces null, as of a missing value, by the default of a list or by an empty object.
void Materialise(ConfigJson& value, const ConfigNode& node) {
  if (!value.is_null()) return;
  value =
      node.key->type == ConfigType::kList ? ConfigJson::parse(node.key->default_json) : ConfigJson::object();
}

std::optional<std::string> Apply(ConfigJson& document, Override change, std::string& path) {
  ConfigJson* at = &document;
  const ConfigNode* node = &ConfigTree();
  std::string_view rest = change.key;
  bool at_list = false;  // the next step selects an element
  while (true) {
    if (at_list) {
      at_list = false;
      const auto index = FindElement(*at, *node, NextStep(rest));
      if (!index) return index.error();
      at = &(*at)[*index];
      path = JoinPath(path, *index);
    } else {
      if (!at->is_object())
        return fmt::format("{} is {}, not an object", path.empty() ? "the configuration" : path,
                           ShowValue(*at));
      const bool is_map = node != nullptr && node->key != nullptr && node->key->type == ConfigType::kMap;
      // Names of librdkafka's properties contain dots, so the rest of the key is one name.
      const std::string_view step = is_map || node == nullptr ? std::exchange(rest, {}) : NextStep(rest);
      at = &(*at)[std::string(step)];
      path = JoinPath(path, step);
      node = node == nullptr ? nullptr : node->Find(step);
      at_list = node != nullptr && node->key->type == ConfigType::kList;
    }
    if (rest.empty()) break;
    if (node != nullptr) Materialise(*at, *node);
    if (node == nullptr && at->is_null()) *at = ConfigJson::object();
  }
  *at = std::move(change.value);
  return std::nullopt;
}

}  // namespace

std::vector<ConfigError> ApplyOverrides(ConfigJson& document, std::span<const std::string> overrides,
                                        std::vector<std::string>& paths) {
  std::vector<ConfigError> errors;
  for (const std::string& text : overrides) {
    const size_t equals = text.find('=');
    const std::string_view key = std::string_view(text).substr(0, equals);
    if (equals == std::string::npos || key.empty() || !IsUtf8(text)) {
      errors.push_back(
          {"--set", fmt::format("{}: must be KEY=VALUE, e.g. store.memory_mib=256", ShowValue(text))});
      continue;
    }
    std::string path;
    ConfigJson value = ParseValue(std::string_view(text).substr(equals + 1));
    if (HoldsSecret(key, value)) {  // every user of the machine can read a process's arguments
      errors.push_back(
          {fmt::format("--set {}", key),
           R"(a secret can't be on the command line. Give {"file": "PATH"} or {"env": "NAME"})"});
      continue;
    }
    auto problem = Apply(document, {key, std::move(value)}, path);
    if (problem) {
      errors.push_back({fmt::format("--set {}", key), std::move(*problem)});
    } else {
      paths.push_back(std::move(path));
    }
  }
  return errors;
}

}  // namespace seen
