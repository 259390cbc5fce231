#pragma once
// The shapes of values that aren't a plain number or text, for docs and the JSON schema. The code that reads
// such a value checks it (config_event_format.h).

#include <string_view>

namespace seen {

struct ValueShape {
  std::string_view description;  // completes "must be ..."
  std::string_view schema_json;  // JSON schema of the value
};

inline constexpr ValueShape kFieldShape = {R"(a JSON pointer such as "/data/uid", or {"at": POINTER})",
                                           R"({"anyOf": [{"$ref": "#/$defs/pointer"},
                  {"type": "object", "additionalProperties": false, "required": ["at"],
                   "properties": {"at": {"$ref": "#/$defs/pointer"}}}]})"};

inline constexpr ValueShape kUserFieldShape = {
    R"(a JSON pointer such as "/data/uid", or {"at": POINTER}, or a list of 1 to 4 pointers)",
    R"({"anyOf": [{"$ref": "#/$defs/pointer"},
                  {"type": "array", "minItems": 1, "maxItems": 4, "items": {"$ref": "#/$defs/pointer"}},
                  {"type": "object", "additionalProperties": false, "required": ["at"],
                   "properties": {"at": {"$ref": "#/$defs/pointer"}}}]})"};

inline constexpr ValueShape kIdsIgnoredShape = {
    R"(a list of 1 to 64 texts of at most 512 bytes, such as ["undefined", "0"])",
    R"({"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "string", "maxLength": 512}})"};

inline constexpr ValueShape kTimeFieldShape = {
    R"(a JSON pointer such as "/ts", or {"at": POINTER, "unit": UNIT} with a unit of "ms", "s", "us" or )"
    R"("rfc3339")",
    R"({"anyOf": [{"$ref": "#/$defs/pointer"},
                  {"type": "object", "additionalProperties": false, "required": ["at"],
                   "properties": {"at": {"$ref": "#/$defs/pointer"},
                                  "unit": {"type": "string", "enum": ["ms", "s", "us", "rfc3339"],
                                           "default": "ms"}}}]})"};

inline constexpr ValueShape kKindsShape = {
    R"(an object of 1 to 256 names, each with a kind or null, such as {"item_show": "exposed", "ping": null})",
    R"({"type": "object", "minProperties": 1, "maxProperties": 256,
        "additionalProperties": {"type": ["string", "null"]}})"};

inline constexpr ValueShape kConditionsShape = {
    R"(a condition, {"at": POINTER} with one of "equals": VALUE, "in": [VALUES], "prefix": TEXT or "exists": BOOL, )"
    R"(or {"not": CONDITION}, or a list of 1 to 8 conditions)",
    R"({"anyOf": [{"$ref": "#/$defs/condition"},
                  {"type": "array", "minItems": 1, "maxItems": 8, "items": {"$ref": "#/$defs/condition"}}]})"};

inline constexpr ValueShape kScenesShape = {
    R"(a list of 1 to 256 texts of 1 to 256 bytes, each a scene, or the beginning of scenes followed by "*")",
    R"({"type": "array", "minItems": 1, "maxItems": 256,
        "items": {"type": "string", "maxLength": 256, "pattern": "^(?:[^*]+\\*?|\\*)$"}})"};

inline constexpr ValueShape kDeclaredKindsShape = {
    R"(an object of at most 16 names (1 to 64 characters of a-z, 0-9, '_' and '-'), each with its window, such as )"
    R"({"purchased": {"window_days": 365}})",
    R"({"type": "object", "maxProperties": 16,
        "propertyNames": {"pattern": "^[a-z0-9_-]{1,64}$",
                          "not": {"enum": ["exposed", "served", "removed", "erased"]}},
        "additionalProperties": {
          "type": "object", "additionalProperties": false, "required": ["window_days"],
          "properties": {"window_days": {"type": "integer", "minimum": 1, "maximum": 3650}}}})"};

inline constexpr ValueShape kBoilerplateShape = {
    R"(a list of at most 32 regular expressions (RE2), each of 1 to 512 bytes)",
    R"({"type": "array", "maxItems": 32, "items": {"type": "string", "minLength": 1, "maxLength": 512}})"};

/// Definitions that the shapes refer to: members of the schema's "$defs".
inline constexpr std::string_view kShapeDefinitions = R"({
  "pointer": {
    "description": "Where in an event a value is (RFC 6901). It is never the whole event.",
    "type": "string", "maxLength": 256, "pattern": "^(?:/(?:[^~/]|~[01])*){1,16}$"},
  "condition_value": {
    "anyOf": [{"type": "string", "maxLength": 512}, {"type": "boolean"},
              {"type": "integer", "minimum": -9223372036854775808, "maximum": 18446744073709551615}]},
  "condition": {
    "description": "Holds if the value exists and equals one of these values, with the same type; or as exists and not say.",
    "type": "object", "additionalProperties": false,
    "oneOf": [{"required": ["at", "equals"]}, {"required": ["at", "in"]}, {"required": ["at", "prefix"]},
              {"required": ["at", "exists"]}, {"required": ["not"], "maxProperties": 1}],
    "properties": {
      "not": {"$ref": "#/$defs/condition"},
      "exists": {"type": "boolean"},
      "as_text": {"type": "boolean", "default": false},
      "at": {"$ref": "#/$defs/pointer"},
      "equals": {"$ref": "#/$defs/condition_value"},
      "in": {"type": "array", "minItems": 1, "maxItems": 256, "items": {"$ref": "#/$defs/condition_value"}},
      "prefix": {"type": "string", "minLength": 1, "maxLength": 512}}}})";

}  // namespace seen
