#pragma once
// Reads the keys that say where a field of an event or an item stands: a JSON pointer, for a time also a
// unit.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/config_shapes.h"
#include "config/config_text.h"
#include "decode/field_rule.h"

namespace seen {

/// The member, or null if it is missing.
const ConfigJson& ConfigMember(const ConfigJson& object, std::string_view name);

/// Reads values and appends mistakes to `errors`, which outlives the reader.
class ConfigFieldReader {
 public:
  explicit ConfigFieldReader(std::vector<ConfigError>& errors) : errors_(errors) {}

  struct Rule {
    JsonPointer at;
    TimeUnit unit = TimeUnit::kMilliseconds;
  };
  /// nullopt: the value is null or invalid.
  std::optional<Rule> ReadField(const ConfigJson& value, bool is_time, const std::string& path);
  std::optional<JsonPointer> ReadPointer(const ConfigJson& value, const std::string& path);
  void CheckKeys(const ConfigJson& object, std::initializer_list<std::string_view> known,
                 const std::string& path);
  void Fail(std::string path, std::string message);
  void FailShape(const std::string& path, const ConfigJson& value, const ValueShape& shape);

 protected:
  const std::vector<ConfigError>& errors() const { return errors_; }

 private:
  TimeUnit ReadUnit(const ConfigJson& rule, const std::string& path);

  std::vector<ConfigError>& errors_;
};

}  // namespace seen
