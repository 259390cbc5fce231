#pragma once
// A schema that events are written with, whatever its language.

#include <memory>
#include <tl/expected.hpp>

#include "decode/binary_reader.h"
#include "decode/event_plan.h"

namespace seen {

/// Immutable: any thread.
class WriterSchema {
 public:
  virtual ~WriterSchema() = default;
  /// A reader of one thread. The error's path is a key of the configuration, such as "input.fields.user_id",
  /// or empty: the schema itself can't be read.
  virtual tl::expected<std::unique_ptr<BinaryReader>, FormatError> NewReader(
      std::shared_ptr<const EventPlan> plan) const = 0;
};
using WriterSchemaPointer = std::shared_ptr<const WriterSchema>;

}  // namespace seen
