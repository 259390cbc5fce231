#pragma once
// Reads a document's values for fields, or says what is wrong with them. Room decode only.

#include <simdjson.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "decode/coverage.h"
#include "decode/event_plan.h"
#include "model/event.h"

namespace seen {

/// What is wrong with a value. The caller, who knows the value's place, makes a Rejection of it.
struct Problem {
  RejectReason reason;
  std::string what;
  std::string expected;
};

/// The text of a 64-bit integer, with its sign.
using Digits = std::array<char, 20>;

/// `digits` holds an integer's text.
Scalar ScalarOf(simdjson::dom::element value, Digits& digits);

// Each Read function has a ProblemOf function, which says what is wrong with a value that can't be read.

/// A string of 1 to kIdBytesMax bytes, or an integer, whose text is written to `digits`.
std::optional<std::string_view> ReadId(simdjson::dom::element value, Digits& digits);
Problem ProblemOfId(simdjson::dom::element value);

/// A time in the field's unit. A mapped field may have digits in a string, or a fraction.
std::optional<TimeMs> ReadTime(simdjson::dom::element value, const EventPlan::FieldPlan& plan);
/// `key`: the configuration key that says a mapped field's unit: "input.fields.exposed_at".
Problem ProblemOfTime(simdjson::dom::element value, std::string_view key, const EventPlan::FieldPlan& plan);
Problem ProblemOfTime(simdjson::dom::element value, Field field, const EventPlan::FieldPlan& plan);

/// An integer of at most 64 bits; one beyond 2^63-1 becomes 2^63-1. Null leaves `position` as it is. A mapped
/// field may have digits in a string.
bool ReadPosition(simdjson::dom::element value, const EventPlan::FieldPlan& plan,
                  std::optional<int64_t>& position);
Problem ProblemOfPosition(simdjson::dom::element value);

/// A string; "" for null. A mapped field may have an integer, whose text is written to `digits`.
std::optional<std::string_view> ReadText(simdjson::dom::element value, Digits& digits,
                                         const EventPlan::FieldPlan& plan);
Problem ProblemOfText(simdjson::dom::element value, const EventPlan::FieldPlan& plan);

}  // namespace seen
