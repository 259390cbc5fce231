#pragma once
// Values of a document as fields take them, or what is wrong with them. Room decode only.

#include <simdjson.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "decode/event_plan.h"
#include "decode/scalar.h"
#include "model/event.h"

namespace seen {

/// What is wrong with a value; whoever knows where it stood makes a Rejection of it.
struct Problem {
  RejectReason reason;
  std::string what;
  std::string expected;
};

/// A 64-bit integer, written out, with its sign.
using Digits = std::array<char, 20>;

/// `digits` holds an integer's text.
Scalar ScalarOf(simdjson::dom::element value, Digits& digits);

// Each reader has a twin that finds out, for what it can't read, what is wrong.

/// A string, or an integer written out in `digits`: 1 to kIdBytesMax bytes.
std::optional<std::string_view> ReadId(simdjson::dom::element value, Digits& digits);
Problem ProblemOfId(simdjson::dom::element value);

/// A time in the field's unit. A mapped one may be digits in a string, and one in seconds have a fraction.
std::optional<TimeMs> ReadTime(simdjson::dom::element value, const EventPlan::FieldPlan& plan);
/// `key`: of the configuration, which says the unit of a mapped one: "input.fields.exposed_at".
Problem ProblemOfTime(simdjson::dom::element value, std::string_view key, const EventPlan::FieldPlan& plan);
Problem ProblemOfTime(simdjson::dom::element value, Field field, const EventPlan::FieldPlan& plan);

/// An integer of at most 64 bits; beyond 2^63-1: that. Null leaves `position` as it is. A mapped one may be
/// digits in a string.
bool ReadPosition(simdjson::dom::element value, const EventPlan::FieldPlan& plan,
                  std::optional<int64_t>& position);
Problem ProblemOfPosition(simdjson::dom::element value);

/// A string; null: "". A mapped one may be an integer, written out in `digits`.
std::optional<std::string_view> ReadText(simdjson::dom::element value, Digits& digits,
                                         const EventPlan::FieldPlan& plan);
Problem ProblemOfText(simdjson::dom::element value, const EventPlan::FieldPlan& plan);

}  // namespace seen
