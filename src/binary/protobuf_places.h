#pragma once
// Whether a plan's places are in a message. Room binary only.

#include <optional>

#include "binary/protobuf_schema.h"
#include "decode/event_plan.h"

namespace seen {

/// A place that no event of the message can fill; its path is a key of the plan. nullopt: there is none.
std::optional<FormatError> FindBadPlace(const ProtobufSchema& schema, const EventPlan& plan);

}  // namespace seen
