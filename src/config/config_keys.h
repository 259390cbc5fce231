#pragma once
// The table of configuration keys, one row per key. Validation, defaults, the struct Config, --print-config,
// docs/CONFIGURATION.md and schemas/config.schema.json all come from this table.
//
// A new key is two lines: a member of a struct in config.h, and a row in config_keys.cc that names the
// member.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/config_shapes.h"
#include "config/config_text.h"

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

struct ConfigKey;

/// Where values go.
struct ConfigTarget {
  Config& config;
  FilterConfig* filter;  // of a key below "filters[]"
};

struct ConfigKey {
  std::string_view path;  // "filters[].snapshot.topic"; "[]" follows a list's name
  ConfigType type = ConfigType::kText;
  std::string_view default_json{};  // empty: no default, the key must be given
  std::string_view meaning{};
  std::string_view unit{};  // empty: a count, a name or a ratio
  bool nullable = false;
  double minimum = 0;  // of kInteger and kNumber; of a kList, its length
  double maximum = 0;
  std::span<const std::string_view> choices{};  // kChoice
  const TextRule* rule = nullptr;               // kText
  const ValueShape* shape = nullptr;            // kShape
  bool is_secret = false;                       // kText: never shown
  bool is_live = false;                         // a reload applies it without a restart
  void (*into)(const ConfigKey&, const ConfigJson&, const ConfigTarget&) = nullptr;  // sets the member
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

/// Sets each member that a row names. `document` has passed CheckConfig: every key has its type.
void ReadValues(const ConfigJson& document, Config& config);

/// Describes the values that `key` allows, for errors and docs: "a whole number from 64 to 1048576 (MiB)".
std::string DescribeRange(const ConfigKey& key);

// Rules for texts, for keys that stand in several files.

inline constexpr TextRule kTopicName = {
    "a topic name Kafka allows: 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-', not '.' or '..'",
    "(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}", 249};
// Literals can be joined, constants can't. The schema prints each pattern whole.
#define SEEN_HOST_PORT                            \
  "(\\[[0-9a-zA-Z:.%]{2,60}\\]|[^\\s,/:\\[\\]]+)" \
  ":([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
inline constexpr TextRule kHostPort = {"HOST:PORT or [IPv6]:PORT with a port from 1 to 65535", SEEN_HOST_PORT,
                                       260};
/// One or several of kHostPort with commas between. librdkafka would take a protocol in front (SSL://h:1),
/// but only security.protocol gives it what the protocol needs.
inline constexpr TextRule kBrokerList = {
    "host:port or [IPv6]:port with a port from 1 to 65535, several separated by commas without spaces, "
    "at most 1024 bytes; a protocol stands in kafka.client, as \"security.protocol\"",
    SEEN_HOST_PORT "(," SEEN_HOST_PORT ")*", 1024};
#undef SEEN_HOST_PORT
/// Completes "VALUE: ..."; empty: `text` follows the rule.
std::string ProblemOf(const TextRule& rule, const std::string& text);
inline constexpr TextRule kPath = {"a path of 1 to 1024 bytes", "[^\\u0000]+", 1024};

/// JSON Schema, draft 2020-12: schemas/config.schema.json. The schema accepts the same documents as
/// LoadConfig, with two exceptions. The schema doesn't check the rules between keys, and doesn't require
/// kafka.brokers: --set or --embedded-kafka may replace this key. In config_reference.cc.
std::string ConfigSchema();

}  // namespace seen
