#pragma once
// The table of configuration keys, one row per key. Validation, defaults, --print-config,
// docs/CONFIGURATION.md and schemas/config.schema.json all come from this table.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_shapes.h"

namespace seen {

enum class ConfigType {
  kSection,
  kList,
  kMap,
  kText,
  kChoice,
  kInteger,
  kNumber,
  kBoolean,
  kShape,  // the code that reads the value checks it
};

/// The rule for a text. `pattern` is an ECMAScript regular expression over the whole text. The check here and
/// the JSON schema use the same pattern.
struct TextRule {
  std::string_view description;  // completes "must be ..."
  std::string_view pattern;
  size_t bytes_max = 0;
};

struct ConfigKey {
  std::string_view path;  // "filters[].snapshot.topic"; "[]" follows a list's name
  ConfigType type = ConfigType::kText;
  std::string_view unit{};          // empty: a count, a name or a ratio
  std::string_view default_json{};  // empty: no default, the key must be given
  bool nullable = false;
  double minimum = 0;  // of kInteger and kNumber; of a kList, its length
  bool minimum_excluded = false;
  double maximum = 0;
  std::span<const std::string_view> choices{};  // kChoice
  const TextRule* rule = nullptr;               // kText
  bool is_secret = false;                       // kText: never shown
  bool is_live = false;                         // a reload applies it without a restart
  const ValueShape* shape = nullptr;            // kShape
  std::string_view meaning{};
};

std::span<const ConfigKey> ConfigKeys();

/// The table as a tree. A list's children are the keys of its elements.
struct ConfigNode {
  std::string name;
  const ConfigKey* key = nullptr;  // null at the root only
  std::vector<ConfigNode> children;
  const ConfigNode* Find(std::string_view child) const;
};

const ConfigNode& ConfigTree();

/// Describes the values that `key` allows, for errors and docs: "a whole number from 64 to 1048576 (MiB)".
std::string DescribeRange(const ConfigKey& key);

/// Formats a number of the table as people write it: 1048576, 0.5.
std::string NumberText(double number);

// The parts of the table that have their own files.

std::span<const ConfigKey> FiltersConfigKeys();
std::span<const ConfigKey> ItemsConfigKeys();

// Rules for texts, for keys that stand in several files.

inline constexpr TextRule kTopicName = {
    "a topic name Kafka allows: 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-', not '.' or '..'",
    "(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}", 249};
inline constexpr TextRule kPath = {"a path of 1 to 1024 bytes", "[^\\u0000]+", 1024};

}  // namespace seen
