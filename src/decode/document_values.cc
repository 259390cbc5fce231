#include "decode/document_values.h"

#include <charconv>
#include <limits>

#include "decode/event_format.h"
#include "decode/json_document.h"

namespace seen {
namespace {

namespace dom = simdjson::dom;

Problem WrongType(dom::element value, std::string expected) {
  const auto reason = IsBigInteger(value) ? RejectReason::kOutOfRange : RejectReason::kWrongType;
  return {reason, std::string(TypeName(value)), std::move(expected)};
}

std::string_view WriteOut(dom::element value, Digits& digits) {
  char* const end = digits.data() + digits.size();
  const auto written = value.type() == dom::element_type::INT64
                           ? std::to_chars(digits.data(), end, value.get_int64().value_unsafe())
                           : std::to_chars(digits.data(), end, value.get_uint64().value_unsafe());
  return {digits.data(), static_cast<size_t>(written.ptr - digits.data())};
}

/// Quotes a producer's text for a message, but not at any length.
std::string Shown(std::string_view text) {
  constexpr size_t kBytesMax = 64;
  size_t end = std::min(text.size(), kBytesMax);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return "\"" + std::string(text.substr(0, end)) + (end < text.size() ? "...\"" : "\"");
}

/// The range of a time, and the configuration key that says so.
std::string TimeRange(std::string_view key, const EventPlan::FieldPlan& plan) {
  std::string expected(TimeUnitRange(plan.unit));
  if (plan.mapped)
    expected += "; " + std::string(key) + " says unit \"" + std::string(TimeUnitName(plan.unit)) + "\"";
  return expected;
}

}  // namespace

Scalar ScalarOf(dom::element value, Digits& digits) {
  switch (value.type()) {
    case dom::element_type::STRING:
      return {ScalarKind::kString, value.get_string().value_unsafe()};
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      return {ScalarKind::kInteger, WriteOut(value, digits)};
    case dom::element_type::BOOL:
      return {ScalarKind::kBoolean, value.get_bool().value_unsafe() ? "true" : "false"};
    case dom::element_type::NULL_VALUE:
      return {ScalarKind::kNull, {}};
    default:
      return {ScalarKind::kOther, {}};
  }
}

std::optional<std::string_view> ReadId(dom::element value, Digits& digits) {
  const Scalar scalar = ScalarOf(value, digits);
  if (scalar.kind == ScalarKind::kInteger) return scalar.text;
  if (scalar.kind != ScalarKind::kString || scalar.text.empty() || scalar.text.size() > kIdBytesMax)
    return std::nullopt;
  return scalar.text;
}

Problem ProblemOfId(dom::element value) {
  std::string_view id;
  if (value.get(id)) return WrongType(value, "a string or a 64-bit integer");
  if (id.empty()) return {RejectReason::kEmptyId, "empty", {}};
  return {RejectReason::kIdTooLong, std::to_string(id.size()) + " bytes",
          "at most " + std::to_string(kIdBytesMax)};
}

std::optional<TimeMs> ReadTime(dom::element value, const EventPlan::FieldPlan& plan) {
  int64_t count = 0;
  if (Is64BitInteger(value)) return value.get(count) ? std::nullopt : TimeOf(count, plan.unit);
  if (!plan.mapped || IsBigInteger(value)) return std::nullopt;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    if (plan.unit == TimeUnit::kRfc3339) return ParseTimestamp(text);
    if (const auto digits = ParseInteger(text)) return TimeOf(*digits, plan.unit);
    const auto fraction = ParseFraction(text);
    return fraction ? TimeOfFraction(*fraction, plan.unit) : std::nullopt;
  }
  if (value.type() != dom::element_type::DOUBLE || IsBrokenString(value)) return std::nullopt;
  return TimeOfFraction(double{value.get_double().value_unsafe()}, plan.unit);
}

Problem ProblemOfTime(dom::element value, Field field, const EventPlan::FieldPlan& plan) {
  return ProblemOfTime(value, "input.fields." + std::string(FieldName(field)), plan);
}

Problem ProblemOfTime(dom::element value, std::string_view key, const EventPlan::FieldPlan& plan) {
  const std::string range = TimeRange(key, plan);
  Problem wrong_type = {RejectReason::kWrongType, std::string(TypeName(value)),
                        plan.mapped ? range : "an integer"};
  const auto out_of_range = [&](std::string what) {
    return Problem{RejectReason::kOutOfRange, std::move(what), range};
  };
  std::string_view text;
  if (plan.unit == TimeUnit::kRfc3339) return value.get(text) ? wrong_type : out_of_range(Shown(text));
  if (IsBrokenString(value)) return wrong_type;
  if (IsBigInteger(value)) return out_of_range("an integer beyond 2^63");
  if (Is64BitInteger(value)) {
    int64_t count = 0;
    return out_of_range(value.get(count) ? "an integer beyond 2^63" : std::to_string(count));
  }
  if (!plan.mapped) return wrong_type;
  if (value.get(text) == simdjson::SUCCESS)
    return ParseInteger(text) || ParseFraction(text) ? out_of_range(Shown(text)) : wrong_type;
  if (value.type() != dom::element_type::DOUBLE) return wrong_type;
  return out_of_range(std::to_string(value.get_double().value_unsafe()));
}

bool ReadPosition(dom::element value, const EventPlan::FieldPlan& plan, std::optional<int64_t>& position) {
  switch (value.type()) {
    case dom::element_type::INT64:
      position = value.get_int64().value_unsafe();
      return true;
    case dom::element_type::UINT64:
      position = std::numeric_limits<int64_t>::max();
      return true;
    case dom::element_type::NULL_VALUE:
      return true;
    case dom::element_type::STRING:
      if (plan.mapped) position = ParseInteger(value.get_string().value_unsafe());
      return plan.mapped && position.has_value();
    default:
      return false;
  }
}

Problem ProblemOfPosition(dom::element value) { return WrongType(value, "a 64-bit integer or null"); }

std::optional<std::string_view> ReadText(dom::element value, Digits& digits,
                                         const EventPlan::FieldPlan& plan) {
  const Scalar scalar = ScalarOf(value, digits);
  const bool taken = scalar.kind == ScalarKind::kString || scalar.kind == ScalarKind::kNull ||
                     (plan.mapped && scalar.kind == ScalarKind::kInteger);
  return taken ? std::optional(scalar.text) : std::nullopt;
}

Problem ProblemOfText(dom::element value, const EventPlan::FieldPlan& plan) {
  if (plan.mapped) return WrongType(value, "a string, a 64-bit integer or null");
  return {RejectReason::kWrongType, std::string(TypeName(value)), "a string or null"};
}

}  // namespace seen
