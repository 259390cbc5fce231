#pragma once
// Reads the keys that say how events are written, and which filter covers which events: input.fields,
// input.ids_ignored, input.kinds, input.format and what belongs to it, input.only_if, input.items_...,
// input.lenient, filters[].scenes, filters[].when.

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/config_shapes.h"
#include "config/config_text.h"
#include "decode/event_format.h"
#include "decode/event_kinds.h"
#include "decode/field_rule.h"

namespace seen {

// Reads the keys that say where a field of an event or an item stands: a JSON pointer, for a time also a
// unit.

/// The member, or null if it is missing.
const ConfigJson& ConfigMember(const ConfigJson& object, std::string_view name);

/// Reads values and appends mistakes to `errors`, which outlives the reader.
class ConfigFieldReader {
 public:
  explicit ConfigFieldReader(std::vector<ConfigError>& errors) : errors_(errors) {}

  struct Rule {
    JsonPointer at;
    TimeUnit unit = TimeUnit::kMilliseconds;
    std::vector<JsonPointer> others = {};
  };
  /// nullopt: the value is null or invalid.
  std::optional<Rule> ReadField(const ConfigJson& value, bool is_time, const std::string& path);
  /// A list of pointers too.
  std::optional<Rule> ReadUserField(const ConfigJson& value, const std::string& path);
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

/// `document`: as CheckConfig resolved it. `declared`: the kinds that filters declare. input.kinds may name
/// them. Appends mistakes to `errors`; the format still has all that is valid. Of EventFormat::wanted, only
/// `kind` is set.
EventFormat ReadEventFormat(const ConfigJson& document, std::span<const DeclaredKind> declared,
                            std::vector<ConfigError>& errors);

// Reads filters[].kinds: the kinds of events that the configuration declares.

/// All kinds that the filters of `document` declare, each once, in the filters' order. Numbers start at
/// kDeclaredKindFirst. Appends the mistakes in filters[].kinds; returns all that is valid.
std::vector<DeclaredKind> ReadDeclaredKinds(const ConfigJson& document, std::vector<ConfigError>& errors);

/// One filter's kinds. ReadDeclaredKinds has found no mistake in the document.
std::vector<KindConfig> ToKinds(const ConfigJson& kinds);

}  // namespace seen
