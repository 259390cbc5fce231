#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text.h"
#include "config/config_keys.h"
#include "config/config_shapes.h"
#include "config/config_text.h"

namespace seen {
namespace {

ConfigJson NumberJson(double number) {
  return number == std::floor(number) ? ConfigJson(static_cast<int64_t>(number)) : ConfigJson(number);
}

ConfigJson NodeSchema(const ConfigNode& node);

ConfigJson ObjectSchema(const ConfigNode& node) {
  ConfigJson properties = ConfigJson::object();
  if (node.key == nullptr) properties["$schema"] = {{"type", "string"}};
  for (const ConfigNode& child : node.children) properties[child.name] = NodeSchema(child);
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

/// The schema of a key's values, without null and references to secrets.
ConfigJson ValueSchema(const ConfigNode& node) {
  const ConfigKey& key = *node.key;
  switch (key.type) {
    case ConfigType::kSection:
      return ObjectSchema(node);
    case ConfigType::kList:
      return {{"type", "array"},
              {"minItems", NumberJson(key.minimum)},
              {"maxItems", NumberJson(key.maximum)},
              {"items", ObjectSchema(node)}};
    case ConfigType::kMap:
      return {{"type", "object"},
              {"additionalProperties",
               {{"anyOf", {{{"type", {"string", "number", "boolean"}}}, {{"$ref", "#/$defs/secret"}}}}}}};
    case ConfigType::kText:
      return {{"type", "string"},
              {"maxLength", key.rule->bytes_max},
              {"pattern", fmt::format("^(?:{})$", key.rule->pattern)}};
    case ConfigType::kChoice: {
      ConfigJson choices = ConfigJson::array();
      for (const std::string_view choice : key.choices) choices.push_back(std::string(choice));
      return {{"type", "string"}, {"enum", std::move(choices)}};
    }
    case ConfigType::kInteger:
    case ConfigType::kNumber:
      return {{"type", key.type == ConfigType::kInteger ? "integer" : "number"},
              {"minimum", NumberJson(key.minimum)},
              {"maximum", NumberJson(key.maximum)}};
    case ConfigType::kBoolean:
      return {{"type", "boolean"}};
    case ConfigType::kShape:
      return ConfigJson::parse(key.shape->schema_json);
  }
  return {};
}

ConfigJson NodeSchema(const ConfigNode& node) {
  const ConfigKey& key = *node.key;
  ConfigJson schema = {{"description", std::string(key.meaning)}};
  if (key.type != ConfigType::kSection && !key.default_json.empty()) {
    schema["default"] = ConfigJson::parse(key.default_json);
  }
  ConfigJson value = ValueSchema(node);
  ConfigJson choices = ConfigJson::array();
  if (key.type == ConfigType::kText || key.type == ConfigType::kChoice)
    choices.push_back({{"$ref", "#/$defs/secret"}});
  if (key.nullable) choices.push_back({{"type", "null"}});
  if (choices.empty()) {
    schema.update(value);
  } else {
    choices.insert(choices.begin(), std::move(value));
    schema["anyOf"] = std::move(choices);
  }
  return schema;
}

ConfigJson SecretSchema() {
  ConfigJson ways = ConfigJson::array();
  for (const char* const way : {"env", "file"}) {
    ways.push_back({{"type", "object"},
                    {"additionalProperties", false},
                    {"required", {way}},
                    {"properties", {{way, {{"type", "string"}}}}}});
  }
  return {{"description", "A string from an environment variable or a file."}, {"oneOf", std::move(ways)}};
}

}  // namespace

std::string ConfigSchema() {
  ConfigJson schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "Configuration of seend"},
      {"description", "Generated from the table of keys. docs/CONFIGURATION.md has the same table as text."}};
  schema.update(ObjectSchema(ConfigTree()));
  schema["$defs"] = {{"secret", SecretSchema()}};
  schema["$defs"].update(ConfigJson::parse(kShapeDefinitions));
  return JsonText(schema, 2) + "\n";
}

}  // namespace seen
