#pragma once
// Whether a plan's fields lead to values of a schema that they can use. Room binary only.

#include <optional>

#include "binary/avro_reading.h"
#include "decode/event_plan.h"

namespace seen {

/// The first field that can't be read from any event; nullopt: none. Its path is a key of the configuration.
std::optional<FormatError> FindBadPlace(const AvroReading& reading, const EventPlan& plan);

}  // namespace seen
