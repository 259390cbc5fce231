#include "config/config_event_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "binary/binary_format.h"
#include "decode/event_plan.h"
#include "model/segment_kind.h"

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

std::optional<ConfigFieldReader::Rule> ConfigFieldReader::ReadUserField(const ConfigJson& value,
                                                                        const std::string& path) {
  if (!value.is_array()) {
    if (!value.is_null() && !value.is_string() && !value.is_object()) {
      FailShape(path, value, kUserFieldShape);
      return std::nullopt;
    }
    return ReadField(value, false, path);
  }
  if (value.empty() || value.size() > FieldRule::kPointersMax) {
    FailShape(path, value, kUserFieldShape);
    return std::nullopt;
  }
  Rule rule;
  for (size_t i = 0; i < value.size(); ++i) {
    auto at = ReadPointer(value[i], JoinPath(path, i));
    if (!at) return std::nullopt;
    if (i == 0) {
      rule.at = std::move(*at);
    } else {
      rule.others.push_back(std::move(*at));
    }
  }
  return rule;
}

TimeUnit ConfigFieldReader::ReadUnit(const ConfigJson& rule, const std::string& path) {
  if (!rule.contains("unit")) return TimeUnit::kMilliseconds;
  const ConfigJson& value = rule.at("unit");
  const auto unit = value.is_string() ? ParseTimeUnit(value.get_ref<const std::string&>()) : std::nullopt;
  if (!unit) Fail(path, fmt::format(R"({}: must be one of "ms", "s", "us", "rfc3339")", ShowValue(value)));
  return unit.value_or(TimeUnit::kMilliseconds);
}

namespace {

class Reader : private ConfigFieldReader {
 public:
  Reader(std::span<const DeclaredKind> declared, std::vector<ConfigError>& errors)
      : ConfigFieldReader(errors), declared_(declared) {}

  EventFormat Read(const ConfigJson& document) {
    EventFormat format;
    format.wanted.kind = true;
    format.declared_kinds.assign(declared_.begin(), declared_.end());
    const size_t before = errors().size();
    const ConfigJson& input = ConfigMember(document, "input");
    for (size_t i = 0; i < kFields; ++i) {
      const auto field = static_cast<Field>(i);
      const std::string name(FieldName(field));
      const ConfigJson& value = ConfigMember(ConfigMember(input, "fields"), name);
      auto rule = field == Field::kUserId ? ReadUserField(value, "input.fields." + name)
                                          : ReadField(value, IsTime(field), "input.fields." + name);
      if (rule) format.fields[i] = FieldRule{std::move(rule->at), rule->unit, std::move(rule->others)};
    }
    format.ids_ignored = ReadIdsIgnored(ConfigMember(input, "ids_ignored"));
    format.items_only_if = ReadConditions(ConfigMember(input, "items_only_if"), "input.items_only_if");
    format.items_skip_invalid = ConfigMember(input, "items_skip_invalid") == true;
    format.lenient = ConfigMember(input, "lenient") == true;
    format.kinds = ReadKinds(ConfigMember(input, "kinds"));
    format.only_if = ReadConditions(ConfigMember(input, "only_if"), "input.only_if");
    const ConfigJson& filters = ConfigMember(document, "filters");
    for (size_t i = 0; filters.is_array() && i < filters.size(); ++i) {
      const std::string path = JoinPath("filters", i);
      format.filters.push_back({ReadScenes(ConfigMember(filters[i], "scenes"), path + ".scenes"),
                                ReadConditions(ConfigMember(filters[i], "when"), path + ".when")});
    }
    if (errors().size() == before) ReadBinaryFormat(input, format);
    if (errors().size() == before) {
      if (auto plan = EventPlan::Make(format); !plan) Fail(plan.error().path, plan.error().message);
    }
    return format;
  }

 private:
  void ReadBinaryFormat(const ConfigJson& input, EventFormat& format) {
    const auto choice = [&](const char* name, std::span<const std::string_view> names) {
      const auto found = std::find(names.begin(), names.end(), TextOf(input, name));
      return static_cast<uint8_t>(found == names.end() ? 0 : found - names.begin());
    };
    const auto text = [](const ConfigJson& from, const char* name) {
      std::string value = TextOf(from, name);
      return value.empty() ? std::nullopt : std::optional(std::move(value));
    };
    BinaryOptions options;
    options.encoding = static_cast<EventEncoding>(choice("format", kEventEncodingNames));
    options.framing = static_cast<EventFraming>(choice("framing", kEventFramingNames));
    options.schema_file = text(input, "schema_file");
    options.protobuf_message = text(input, "protobuf_message");
    const ConfigJson& registry = ConfigMember(input, "schema_registry");
    constexpr auto kTexts =
        std::to_array<const char*>({"url", "user", "password", "ca", "certificate", "key"});
    if (std::any_of(kTexts.begin(), kTexts.end(),
                    [&](const char* name) { return !TextOf(registry, name).empty(); })) {
      options.registry = RegistryOptions{TextOf(registry, "url"),
                                         TextOf(registry, "user"),
                                         TextOf(registry, "password"),
                                         TextOf(registry, "ca"),
                                         TextOf(registry, "certificate"),
                                         TextOf(registry, "key"),
                                         std::chrono::seconds(registry.at("unknown_s").get<int64_t>())};
    }
    format.framed = options.framing == EventFraming::kConfluent;
    auto binary = MakeBinaryFormat(options);
    if (!binary) return Fail(binary.error().path, binary.error().message);
    format.binary = std::move(*binary);
  }

  static std::string TextOf(const ConfigJson& object, const char* name) {
    const ConfigJson& value = ConfigMember(object, name);
    return value.is_string() ? value.get<std::string>() : std::string();
  }

  std::optional<std::vector<KindMapping>> ReadKinds(const ConfigJson& value) {
    if (value.is_null()) return std::nullopt;
    if (!value.is_object() || value.empty() || value.size() > KindMapping::kMappingsMax) {
      FailShape("input.kinds", value, kKindsShape);
      return std::nullopt;
    }
    const KindTable known(declared_);
    std::vector<KindMapping> mappings;
    for (const auto& [name, kind] : value.items()) {
      if (!kind.is_null() && (!kind.is_string() || !known.IsKnown(kind.get_ref<const std::string&>()))) {
        Fail(JoinPath("input.kinds", name), fmt::format("{}: must be one of {}, or null to skip such events",
                                                        ShowValue(kind), known.Names()));
        continue;
      }
      mappings.push_back({name, kind.is_null() ? std::nullopt : std::optional(kind.get<std::string>())});
    }
    return mappings;
  }

  std::vector<std::string> ReadIdsIgnored(const ConfigJson& value) {
    std::vector<std::string> ids;
    if (value.is_null()) return ids;
    const auto is_id = [](const ConfigJson& id) {
      return id.is_string() && id.get_ref<const std::string&>().size() <= kIdBytesMax;
    };
    if (!value.is_array() || value.empty() || value.size() > EventFormat::kIdsIgnoredMax ||
        !std::all_of(value.begin(), value.end(), is_id)) {
      FailShape("input.ids_ignored", value, kIdsIgnoredShape);
      return ids;
    }
    return value.get<std::vector<std::string>>();
  }

  std::vector<Condition> ReadConditions(const ConfigJson& value, const std::string& path) {
    std::vector<Condition> conditions;
    if (value.is_null()) return conditions;
    const bool list = value.is_array() && !value.empty() && value.size() <= Condition::kConditionsMax;
    if (!list && !value.is_object()) {
      FailShape(path, value, kConditionsShape);
      return conditions;
    }
    for (size_t i = 0; i < (list ? value.size() : 1); ++i) {
      auto condition = ReadCondition(list ? value[i] : value, list ? JoinPath(path, i) : path);
      if (condition) conditions.push_back(std::move(*condition));
    }
    return conditions;
  }

  std::optional<Condition> ReadCondition(const ConfigJson& value, const std::string& path) {
    if (!value.is_object()) {
      FailShape(path, value, kConditionsShape);
      return std::nullopt;
    }
    if (value.contains("not")) {
      CheckKeys(value, {"not"}, path);
      auto condition = ReadCondition(value.at("not"), path + ".not");
      if (condition) condition->negated = !condition->negated;
      return condition;
    }
    CheckKeys(value, {"at", "equals", "in", "prefix", "exists", "as_text", "not"}, path);
    if (value.contains("equals") + value.contains("in") + value.contains("prefix") +
            value.contains("exists") !=
        1) {
      Fail(path,
           fmt::format(R"({}: must have one of "equals", "in", "prefix" and "exists")", ShowValue(value)));
    }
    auto at = ReadPointer(ConfigMember(value, "at"), path + ".at");
    if (!at) return std::nullopt;
    Condition condition{std::move(*at), Condition::Test::kIn, {}};
    for (const char* const name : {"exists", "as_text"}) {
      if (value.contains(name) && !value.at(name).is_boolean())
        Fail(path + "." + name, fmt::format("{}: must be true or false", ShowValue(value.at(name))));
    }
    condition.as_text = ConfigMember(value, "as_text") == true;
    if (value.contains("exists")) {
      condition.test = Condition::Test::kExists;
      condition.negated = value.at("exists") == false;
    }
    if (value.contains("equals")) AddValue(value.at("equals"), path + ".equals", condition);
    if (value.contains("in")) {
      const ConfigJson& values = value.at("in");
      if (!values.is_array() || values.empty() || values.size() > Condition::kValuesMax) {
        Fail(path + ".in",
             fmt::format("{}: must be a list of 1 to {} values", ShowValue(values), Condition::kValuesMax));
        return std::nullopt;
      }
      for (size_t i = 0; i < values.size(); ++i) AddValue(values[i], JoinPath(path + ".in", i), condition);
    }
    if (value.contains("prefix")) {
      const ConfigJson& prefix = value.at("prefix");
      condition.test = Condition::Test::kPrefix;
      if (prefix.is_string() && !prefix.get_ref<const std::string&>().empty()) {
        AddValue(prefix, path + ".prefix", condition);
      } else {
        Fail(path + ".prefix", fmt::format("{}: must be a text of at least one byte", ShowValue(prefix)));
      }
    }
    return condition;
  }

  void AddValue(const ConfigJson& value, const std::string& path, Condition& condition) {
    if (value.is_string() && value.get_ref<const std::string&>().size() <= Condition::kValueBytesMax) {
      condition.values.push_back({ScalarKind::kString, value.get<std::string>()});
    } else if (value.is_number_integer()) {
      condition.values.push_back({ScalarKind::kInteger, JsonText(value)});
    } else if (value.is_boolean()) {
      condition.values.push_back({ScalarKind::kBoolean, JsonText(value)});
    } else {
      Fail(path, fmt::format("{}: must be a text of at most {} bytes, a 64-bit integer, true or false",
                             ShowValue(value), Condition::kValueBytesMax));
    }
  }

  std::vector<std::string> ReadScenes(const ConfigJson& value, const std::string& path) {
    std::vector<std::string> scenes;
    if (value.is_null()) return scenes;
    if (!value.is_array() || value.empty() || value.size() > Coverage::kScenesMax) {
      FailShape(path, value, kScenesShape);
      return scenes;
    }
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string scene = value[i].is_string() ? value[i].get<std::string>() : "";
      const bool star_within = scene.find('*') < scene.size() - 1 && !scene.empty();
      if (scene.empty() || scene.size() > Coverage::kSceneBytesMax || star_within) {
        Fail(JoinPath(path, i), fmt::format("{}: must be a text of 1 to {} bytes, with \"*\" at its end only",
                                            ShowValue(value[i]), Coverage::kSceneBytesMax));
        continue;
      }
      scenes.push_back(scene);
    }
    return scenes;
  }

  std::span<const DeclaredKind> declared_;
};

}  // namespace

EventFormat ReadEventFormat(const ConfigJson& document, std::span<const DeclaredKind> declared,
                            std::vector<ConfigError>& errors) {
  return Reader(declared, errors).Read(document);
}

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
