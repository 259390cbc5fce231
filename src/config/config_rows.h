#pragma once
// How the rows of config_keys.cc are written: a kind of row, then what is special about it.
//
//     Whole("http.threads", "threads", "2", {1, 256}, "Threads that answer requests.")
//         .Into<&Config::http, &HttpConfig::threads>()

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "config/config_keys.h"

namespace seen {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsDuration : std::false_type {};
template <typename Count, typename Unit>
struct IsDuration<std::chrono::duration<Count, Unit>> : std::true_type {};

template <int shift, typename T>
void SetMember(const ConfigKey& key, const ConfigJson& value, T& to) {
  if (value.is_null()) return;
  if constexpr (IsOptional<T>::value) {
    SetMember<shift>(key, value, to.emplace());
  } else if constexpr (IsDuration<T>::value) {
    to = std::chrono::seconds(value.get<int64_t>());
  } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
    if (value.is_boolean()) {
      to = static_cast<T>(value.get<bool>());
      return;
    }
    const auto choice =
        std::find(key.choices.begin(), key.choices.end(), value.get_ref<const std::string&>());
    to = static_cast<T>(choice - key.choices.begin());
  } else if constexpr (std::is_integral_v<T>) {
    to = static_cast<T>(value.get<T>() << shift);
  } else {
    to = value.get<T>();
  }
}

template <typename T>
T& SectionOf(T& section) {
  return section;
}
template <typename T>
T& SectionOf(std::optional<T>& section) {
  return section ? *section : section.emplace();
}

/// A row.
class ConfigRow {
 public:
  constexpr ConfigRow(ConfigType type, std::string_view path, std::string_view default_json,
                      std::string_view meaning)
      : key_{.path = path, .type = type, .default_json = default_json, .meaning = meaning} {
    key_.nullable = default_json == "null";
  }
  constexpr operator ConfigKey() const { return key_; }

  template <typename Change>
  constexpr ConfigRow With(const Change& change) const {
    ConfigRow row = *this;
    change(row.key_);
    return row;
  }

  /// null is allowed, though it isn't the default.
  constexpr ConfigRow OrNull() const {
    ConfigRow row = *this;
    row.key_.nullable = true;
    return row;
  }
  constexpr ConfigRow Secret() const {
    ConfigRow row = *this;
    row.key_.is_secret = true;
    return row;
  }
  constexpr ConfigRow Live() const {
    ConfigRow row = *this;
    row.key_.is_live = true;
    return row;
  }
  /// The member that gets the value. Seconds become durations; `shift` turns MiB (20) and GiB (30) into
  /// bytes. A choice becomes the enumerator, or the bool, with its number. null leaves the member as it is.
  template <auto Section, auto Member, int shift = 0>
  constexpr ConfigRow Into() const {
    return With([](ConfigKey& key) {
      key.into = [](const ConfigKey& of, const ConfigJson& value, const ConfigTarget& target) {
        SetMember<shift>(of, value, SectionOf(target.config.*Section).*Member);
      };
    });
  }
  template <auto Member>
  constexpr ConfigRow Into() const {
    return With([](ConfigKey& key) {
      key.into = [](const ConfigKey& of, const ConfigJson& value, const ConfigTarget& target) {
        if constexpr (std::is_invocable_v<decltype(Member), Config&>) {
          SetMember<0>(of, value, target.config.*Member);
        } else {
          SetMember<0>(of, value, target.filter->*Member);
        }
      };
    });
  }

 private:
  ConfigKey key_;
};

constexpr ConfigRow Section(std::string_view path, std::string_view default_json, std::string_view meaning) {
  return {ConfigType::kSection, path, default_json, meaning};
}
constexpr ConfigRow Map(std::string_view path, std::string_view meaning) {
  return {ConfigType::kMap, path, "{}", meaning};
}
constexpr ConfigRow Flag(std::string_view path, std::string_view default_json, std::string_view meaning) {
  return {ConfigType::kBoolean, path, default_json, meaning};
}
constexpr ConfigRow Text(std::string_view path, std::string_view default_json, const TextRule& rule,
                         std::string_view meaning) {
  return ConfigRow(ConfigType::kText, path, default_json, meaning).With([&](ConfigKey& key) {
    key.rule = &rule;
  });
}
constexpr ConfigRow Choice(std::string_view path, std::string_view default_json,
                           std::span<const std::string_view> choices, std::string_view meaning) {
  return ConfigRow(ConfigType::kChoice, path, default_json, meaning).With([&](ConfigKey& key) {
    key.choices = choices;
  });
}
constexpr ConfigRow Shaped(std::string_view path, std::string_view default_json, const ValueShape& shape,
                           std::string_view meaning) {
  return ConfigRow(ConfigType::kShape, path, default_json, meaning).With([&](ConfigKey& key) {
    key.shape = &shape;
  });
}

struct ConfigRange {
  double minimum = 0;
  double maximum = 0;
};
constexpr ConfigRow Ranged(ConfigType type, std::string_view path, std::string_view unit,
                           std::string_view default_json, const ConfigRange& range,
                           std::string_view meaning) {
  return ConfigRow(type, path, default_json, meaning).With([&](ConfigKey& key) {
    key.unit = unit;
    key.minimum = range.minimum;
    key.maximum = range.maximum;
  });
}
constexpr ConfigRow List(std::string_view path, std::string_view default_json, const ConfigRange& length,
                         std::string_view meaning) {
  return Ranged(ConfigType::kList, path, "", default_json, length, meaning);
}
constexpr ConfigRow Number(std::string_view path, std::string_view default_json, const ConfigRange& range,
                           std::string_view meaning) {
  return Ranged(ConfigType::kNumber, path, "", default_json, range, meaning);
}
constexpr ConfigRow Whole(std::string_view path, std::string_view unit, std::string_view default_json,
                          const ConfigRange& range, std::string_view meaning) {
  return Ranged(ConfigType::kInteger, path, unit, default_json, range, meaning);
}

}  // namespace seen
