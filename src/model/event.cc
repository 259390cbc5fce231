#include "model/event.h"

namespace seen {

std::string_view RejectReasonName(RejectReason reason) {
  switch (reason) {
    case RejectReason::kNullValue:
      return "null_value";
    case RejectReason::kTooLarge:
      return "too_large";
    case RejectReason::kNotJson:
      return "not_json";
    case RejectReason::kInvalidUtf8:
      return "invalid_utf8";
    case RejectReason::kMissingField:
      return "missing_field";
    case RejectReason::kWrongType:
      return "wrong_type";
    case RejectReason::kEmptyId:
      return "empty_id";
    case RejectReason::kIdTooLong:
      return "id_too_long";
    case RejectReason::kOutOfRange:
      return "out_of_range";
    case RejectReason::kTooFarAhead:
      return "too_far_ahead";
    case RejectReason::kUnknownKind:
      return "unknown_kind";
  }
  return "unknown";
}

std::string_view SkipReasonName(SkipReason reason) {
  switch (reason) {
    case SkipReason::kNone:
      return "none";
    case SkipReason::kCondition:
      return "condition";
    case SkipReason::kKind:
      return "kind";
    case SkipReason::kNoFilter:
      return "no_filter";
    case SkipReason::kReplayMark:
      return "replay_mark";
  }
  return "none";
}

}  // namespace seen
