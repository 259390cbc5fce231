#include "config/config_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <utility>

#include "base/text.h"
#include "config/config_keys.h"

namespace seen {

namespace {

using Errors = std::vector<ConfigError>;

/// Suggests known keys for an unknown one: the nearest sibling. If none is near, a key of another section
/// that has exactly this name, else all siblings.
std::string KnownKeys(const ConfigNode& section, std::string_view unknown) {
  const std::string_view name = unknown.substr(0, 64);
  std::string nearest;
  size_t distance = std::string::npos;
  for (const ConfigNode& child : section.children) {
    const size_t each = EditDistance(name, child.name);
    if (each >= distance) continue;
    nearest = child.name;
    distance = each;
  }
  const auto one = [](std::string_view key) { return fmt::format("did you mean \"{}\"?", key); };
  if (distance <= std::max<size_t>(2, name.size() / 3)) return one(nearest);
  std::vector<std::string_view> names;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.path.substr(key.path.rfind('.') + 1) == name) return one(key.path);
  }
  names.reserve(section.children.size());
  for (const ConfigNode& child : section.children) names.push_back(child.name);
  return fmt::format("the keys are \"{}\"", fmt::join(names, "\", \""));
}

bool Matches(const TextRule& rule, const std::string& text) {
  if (text.size() > rule.bytes_max) return false;  // also keeps std::regex's recursion shallow
  return std::regex_match(text, std::regex(rule.pattern.begin(), rule.pattern.end()));
}

bool IsAllowed(const ConfigKey& key, const ConfigJson& value) {
  switch (key.type) {
    case ConfigType::kText:
      return value.is_string() && Matches(*key.rule, value.get_ref<const std::string&>());
    case ConfigType::kChoice:
      return value.is_string() && std::find(key.choices.begin(), key.choices.end(),
                                            value.get_ref<const std::string&>()) != key.choices.end();
    case ConfigType::kInteger:
    case ConfigType::kNumber: {
      if (!value.is_number()) return false;
      const auto number = value.get<double>();
      const bool whole = number == std::floor(number);  // as in JSON Schema, 1e3 and 1000.0 are whole
      return number >= key.minimum && number <= key.maximum && (whole || key.type == ConfigType::kNumber);
    }
    case ConfigType::kBoolean:
      return value.is_boolean();
    case ConfigType::kList:
      return value.is_array() && static_cast<double>(value.size()) >= key.minimum &&
             static_cast<double>(value.size()) <= key.maximum;
    case ConfigType::kSection:
    case ConfigType::kMap:
      return value.is_object();
    case ConfigType::kShape:
      return true;
  }
  return false;
}

/// A value as each of the two documents has it.
struct Value {
  ConfigJson shown;
  ConfigJson resolved;
};

class Checker {
 public:
  Errors errors;

  Value Section(const ConfigNode& node, const ConfigJson& given, const std::string& path) {
    for (const auto& [name, value] : given.items()) {
      // Editors read $schema to find the schema.
      if (path.empty() && name == "$schema" && value.is_string()) continue;
      if (node.Find(name) == nullptr) {
        errors.push_back({JoinPath(path, name), "unknown key; " + KnownKeys(node, name)});
      }
    }
    Value result{ConfigJson::object(), ConfigJson::object()};
    for (const ConfigNode& child : node.children) {
      const auto found = given.find(child.name);
      if (found == given.end() && child.key->default_json.empty()) continue;
      Value value = Any(child, found != given.end() ? *found : ConfigJson::parse(child.key->default_json),
                        JoinPath(path, child.name));
      result.shown[child.name] = std::move(value.shown);
      result.resolved[child.name] = std::move(value.resolved);
    }
    return result;
  }

 private:
  Value Any(const ConfigNode& node, const ConfigJson& given, const std::string& path) {
    const ConfigKey& key = *node.key;
    const bool is_text = key.type == ConfigType::kText || key.type == ConfigType::kChoice;
    if (is_text && IsSecretReference(given)) return Secret(key, given, path);
    if (key.nullable && given.is_null()) return {given, given};
    if (!IsAllowed(key, given)) {
      errors.push_back({path, fmt::format("{}: must be {}", key.is_secret ? "its value" : ShowValue(given),
                                          DescribeRange(key))});
      return {given, given};
    }
    switch (key.type) {
      case ConfigType::kSection:
        return Section(node, given, path);
      case ConfigType::kList:
        return List(node, given, path);
      case ConfigType::kMap:
        return Map(given, path);
      case ConfigType::kInteger: {
        const ConfigJson whole =
            given.is_number_float() ? ConfigJson(static_cast<int64_t>(given.get<double>())) : given;
        return {whole, whole};
      }
      default:
        return {key.is_secret ? SecretPlaceholder(key.path) : given, given};
    }
  }

  Value List(const ConfigNode& node, const ConfigJson& given, const std::string& path) {
    Value result{ConfigJson::array(), ConfigJson::array()};
    for (size_t i = 0; i < given.size(); ++i) {
      const std::string element = JoinPath(path, i);
      if (!given[i].is_object()) {
        errors.push_back({element, fmt::format("{}: must be an object", ShowValue(given[i]))});
        continue;
      }
      Value value = Section(node, given[i], element);
      result.shown.push_back(std::move(value.shown));
      result.resolved.push_back(std::move(value.resolved));
    }
    return result;
  }

  Value Map(const ConfigJson& given, const std::string& path) {
    Value result{ConfigJson::object(), ConfigJson::object()};
    for (const auto& [name, value] : given.items()) {
      const std::string entry = JoinPath(path, name);
      const bool is_secret = IsSecretProperty(name);
      result.shown[name] = is_secret && !value.is_object() ? SecretPlaceholder(name) : value;
      if (value.is_string()) {
        result.resolved[name] = value;
      } else if (value.is_number() || value.is_boolean()) {
        result.resolved[name] = JsonText(value);
      } else if (IsSecretReference(value)) {
        auto secret = ReadSecret(value);
        if (!secret) errors.push_back({entry, std::move(secret.error())});
        if (secret) result.resolved[name] = std::move(*secret);
      } else {
        errors.push_back(
            {entry, fmt::format(R"({}: must be a string, a number, a boolean, {{"env": "NAME"}} or )"
                                R"({{"file": "PATH"}})",
                                is_secret ? "its value" : ShowValue(value))});
      }
    }
    return result;
  }

  Value Secret(const ConfigKey& key, const ConfigJson& reference, const std::string& path) {
    auto secret = ReadSecret(reference);
    if (!secret) {
      errors.push_back({path, std::move(secret.error())});
    } else if (!IsAllowed(key, *secret)) {
      errors.push_back(
          {path, fmt::format("the value of {}: must be {}", ShowValue(reference), DescribeRange(key))});
    }
    return {reference, secret ? ConfigJson(std::move(*secret)) : ConfigJson()};
  }
};

}  // namespace

std::string ProblemOf(const TextRule& rule, const std::string& text) {
  return Matches(rule, text) ? std::string() : fmt::format("must be {}", rule.description);
}

CheckedConfig CheckConfig(const ConfigJson& document) {
  CheckedConfig result;
  if (!document.is_object()) {
    result.errors.push_back({"", fmt::format("{}: must be an object", ShowValue(document))});
    return result;
  }
  Checker checker;
  Value value = checker.Section(ConfigTree(), document, "");
  return {std::move(value.shown), std::move(value.resolved), std::move(checker.errors)};
}

namespace {

class ChangeList {
 public:
  std::vector<ConfigChange> all;

  void Section(const ConfigNode& node, const ConfigJson& running, const ConfigJson& read,
               const std::string& path, const ConfigJson::json_pointer& at) {
    for (const ConfigNode& child : node.children) {
      const auto before = running.find(child.name);
      const auto now = read.find(child.name);
      const bool had = before != running.end();
      const bool has = now != read.end();
      if (!had && !has) continue;
      const std::string child_path = JoinPath(path, child.name);
      if (had && has) {
        Any(child, *before, *now, child_path, at / child.name);
      } else {
        Add(child_path, at / child.name, false);
      }
    }
  }

 private:
  void Add(const std::string& path, const ConfigJson::json_pointer& at, bool is_live) {
    all.push_back({path, at, is_live});
  }

  void Any(const ConfigNode& node, const ConfigJson& running, const ConfigJson& read, const std::string& path,
           const ConfigJson::json_pointer& at) {
    if (running == read) return;
    if (running.is_object() && read.is_object() && node.key->type == ConfigType::kSection) {
      return Section(node, running, read, path, at);
    }
    if (running.is_array() && read.is_array() && node.key->type == ConfigType::kList &&
        running.size() == read.size()) {
      for (size_t i = 0; i < read.size(); ++i) {
        const std::string element = JoinPath(path, i);
        const bool same = TextAt(running[i], "/name") == TextAt(read[i], "/name");
        same ? Section(node, running[i], read[i], element, at / i) : Add(element, at / i, false);
      }
      return;
    }
    Add(path, at, node.key->is_live);
  }
};

}  // namespace

std::vector<ConfigChange> CompareConfigs(const ConfigJson& running, const ConfigJson& read) {
  ChangeList changes;
  changes.Section(ConfigTree(), running, read, "", ConfigJson::json_pointer());
  return std::move(changes.all);
}

}  // namespace seen
