#pragma once
// Whether a plan's fields lead to values of a schema that they can use. Room binary only.

#include <optional>
#include <string>
#include <utility>

#include "binary/avro_reading.h"
#include "binary/protobuf_schema.h"
#include "decode/event_format.h"
#include "decode/event_plan.h"

namespace seen {

/// The first of each kind. A path is a key of the configuration.
struct BadPlaces {
  std::optional<FormatError> unusable;  // leads to a value that the field can't have
  std::optional<FormatError> missing;   // leads nowhere: one that an exposure needs, or else a mapped one

  void Fail(Field field, std::string message) { Note(unusable, field, std::move(message)); }
  void Miss(Field field, std::string message) { Note(missing, field, std::move(message)); }

 private:
  static void Note(std::optional<FormatError>& first, Field field, std::string message) {
    if (!first) first = FormatError{"input.fields." + std::string(FieldName(field)), std::move(message)};
  }
};
BadPlaces FindBadPlaces(const AvroReading& reading, const EventPlan& plan);
BadPlaces FindBadPlaces(const ProtobufSchema& schema, const EventPlan& plan);

}  // namespace seen
