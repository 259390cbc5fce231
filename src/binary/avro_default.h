#pragma once
// Encodes the defaults of fields. Source: Apache Avro 1.11.1, specification, "Complex Types", table "field
// default values". Room binary only.

#include <cstdint>
#include <optional>
#include <string>

#include "binary/avro_schema.h"

namespace seen {

/// `json` as a value of `node`. For a union the first branch that it fits. nullopt: it is no such value, or
/// it needs more than 64 KiB.
std::optional<std::string> EncodeAvroDefault(const AvroSchema& schema, uint32_t node,
                                             const std::string& json);

}  // namespace seen
