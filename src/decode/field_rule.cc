#include "decode/field_rule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "decode/event_format.h"

namespace seen {
namespace {

/// Replaces the escapes ~0 and ~1. nullopt: `step` has a tilde that is neither.
std::optional<std::string> Unescaped(std::string_view step) {
  std::string name;
  for (size_t at = 0; at < step.size(); ++at) {
    if (step[at] != '~') {
      name += step[at];
      continue;
    }
    ++at;
    if (at == step.size() || (step[at] != '0' && step[at] != '1')) return std::nullopt;
    name += step[at] == '0' ? '~' : '/';
  }
  return name;
}

}  // namespace

tl::expected<JsonPointer, std::string> ParseJsonPointer(std::string_view text) {
  const auto fail = [](std::string what) { return tl::unexpected<std::string>(std::move(what)); };
  if (!text.starts_with('/')) return fail(R"(must begin with "/", such as "/data/uid")");
  if (text.size() > JsonPointer::kBytesMax) {
    return fail("must have at most " + std::to_string(JsonPointer::kBytesMax) + " bytes");
  }
  JsonPointer pointer{std::string(text), {}};
  for (std::string_view rest = text; !rest.empty();) {
    rest.remove_prefix(1);
    auto name = Unescaped(rest.substr(0, rest.find('/')));
    if (!name) return fail(R"(has a "~" that is neither "~0" (a tilde) nor "~1" (a slash))");
    pointer.steps.push_back(std::move(*name));
    rest.remove_prefix(std::min(rest.size(), rest.find('/')));
  }
  if (pointer.steps.size() > JsonPointer::kStepsMax) {
    return fail("must have at most " + std::to_string(JsonPointer::kStepsMax) + " steps");
  }
  return pointer;
}

size_t ArrayIndexOf(std::string_view step) {
  if (step.empty() || step.size() > 9 || (step.front() == '0' && step.size() > 1)) return SIZE_MAX;
  size_t index = 0;
  for (const char digit : step) {
    if (digit < '0' || digit > '9') return SIZE_MAX;
    index = index * 10 + static_cast<size_t>(digit - '0');
  }
  return index;
}

namespace {

constexpr std::array<std::string_view, 4> kUnits = {"ms", "s", "us", "rfc3339"};
constexpr std::array<std::string_view, 4> kRanges = {
    "milliseconds since 1970 in 0..4294967295999", "seconds since 1970 in 0..4294967295",
    "microseconds since 1970 in 0..4294967295999999",
    "a time with its zone as ISO 8601 writes it, from 1970 to 2106"};

std::optional<TimeMs> InRange(int64_t ms) {
  return ms >= 0 && ms < kExposedAtEnd ? std::optional(TimeMs{ms}) : std::nullopt;
}

/// Takes digits and marks from the front of a text. After a mistake Done stays false.
class Cursor {
 public:
  explicit Cursor(std::string_view rest) : rest_(rest) {}

  int Digits(size_t count) {
    int number = 0;
    for (size_t i = 0; i < count; ++i) number = number * 10 + Digit();
    return number;
  }
  int Digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') {
      ok_ = false;
      return 0;
    }
    const int digit = rest_.front() - '0';
    rest_.remove_prefix(1);
    return digit;
  }
  bool NextIsDigit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
  /// The character taken; 0: the next one isn't in `marks`.
  char OneOf(std::string_view marks) {
    if (rest_.empty() || marks.find(rest_.front()) == std::string_view::npos) return '\0';
    const char mark = rest_.front();
    rest_.remove_prefix(1);
    return mark;
  }
  void Need(std::string_view marks) { ok_ &= OneOf(marks) != '\0'; }
  bool Word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Takes "[Asia/Shanghai]", as Java writes a zone's name after its offset.
  void SkipBracketed() {
    if (rest_.starts_with('[') && rest_.find(']') == rest_.size() - 1 && rest_.size() > 2) rest_ = {};
  }
  bool Done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string_view TimeUnitName(TimeUnit unit) { return kUnits[static_cast<size_t>(unit)]; }
std::string_view TimeUnitRange(TimeUnit unit) { return kRanges[static_cast<size_t>(unit)]; }

std::optional<TimeUnit> ParseTimeUnit(std::string_view name) {
  for (size_t i = 0; i < kUnits.size(); ++i) {
    if (kUnits[i] == name) return static_cast<TimeUnit>(i);
  }
  return std::nullopt;
}

std::optional<TimeMs> TimeOf(int64_t count, TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMilliseconds:
      return InRange(count);
    case TimeUnit::kSeconds:
      return count < 0 || count >= kExposedAtEnd / 1000 ? std::nullopt : InRange(count * 1000);
    case TimeUnit::kMicroseconds:
      return count < 0 ? std::nullopt : InRange(count / 1000);
    case TimeUnit::kRfc3339:
      break;
  }
  return std::nullopt;
}

std::optional<TimeMs> TimeOfFraction(double count, TimeUnit unit) {
  if (unit == TimeUnit::kRfc3339) return std::nullopt;
  const double per_ms = unit == TimeUnit::kSeconds ? 0.001 : unit == TimeUnit::kMilliseconds ? 1 : 1000;
  const double ms = count / per_ms;
  if (!(count >= 0 && ms < static_cast<double>(kExposedAtEnd))) return std::nullopt;
  return InRange(unit == TimeUnit::kSeconds ? std::llround(count * 1000) : static_cast<int64_t>(ms));
}

std::optional<TimeMs> ParseTimestamp(std::string_view text) {
  Cursor at(text);
  const int year = at.Digits(4);
  at.Need("-");
  const int month = at.Digits(2);
  at.Need("-");
  const int day = at.Digits(2);
  at.Need("Tt ");
  const int hour = at.Digits(2);
  at.Need(":");
  const int minute = at.Digits(2);
  const bool has_seconds = at.OneOf(":") != '\0';
  const int second = has_seconds ? at.Digits(2) : 0;
  int ms = 0;
  if (has_seconds && at.OneOf(".,") != '\0') {
    int weight = 100;
    do {
      ms += at.Digit() * weight;
      weight /= 10;
    } while (at.NextIsDigit());
  }
  int offset_minutes = 0;
  if (at.OneOf("Zz") == '\0') {
    at.OneOf(" ");
    if (!at.Word("UTC") && !at.Word("GMT")) {
      const char sign = at.OneOf("+-");
      const int hours = at.Digits(2);
      const bool has_minutes = at.OneOf(":") != '\0' || at.NextIsDigit();
      const int minutes = has_minutes ? at.Digits(2) : 0;
      if (sign == '\0' || hours > 23 || minutes > 59) return std::nullopt;
      offset_minutes = (hours * 60 + minutes) * (sign == '-' ? -1 : 1);
    }
  }
  at.SkipBracketed();
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // 60 is a leap second. Unix time counts it as the first second of the next minute.
  if (!at.Done() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = ((days * 24 + hour) * 60 + minute - offset_minutes) * 60 + second;
  return InRange(seconds * 1000 + ms);
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> ParseFraction(std::string_view text) {
  // from_chars also takes "inf", ".5" and integers.
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return std::nullopt;
  if (digits.find_first_of(".eE") == std::string_view::npos) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace seen
