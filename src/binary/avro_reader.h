#pragma once
// Reads events of Avro. A payload is one datum of a schema, without a header. Source: Apache Avro 1.11.1,
// specification, "Binary Encoding" and "Schema Resolution".

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "binary/avro_schema.h"
#include "decode/binary_reader.h"
#include "decode/event_plan.h"

namespace seen {

/// One per thread. Many readers may share schemas and plan.
///
/// What the values mean as JSON: a string, an enum or a UUID is a string. Bytes are a string, or hex digits
/// if they aren't UTF-8. A decimal is a number with all its digits. A date or a timestamp is an integer in
/// milliseconds since 1970, and a time of day is an integer in its own unit. Left out are null, a duration,
/// and a float or double that isn't finite; in an array they are null.
class AvroReader final : public BinaryReader {
 public:
  /// `writer`: the schema that the payloads were written with. `reader`: the schema that `plan` names fields
  /// of; null: that is `writer` too. A branch of a union that can't be read is an error of the payload that
  /// has it; all else that can't be read is an error here. The error's path is a key of `plan`, or "schema"
  /// or "reader_schema".
  static tl::expected<std::unique_ptr<AvroReader>, FormatError> Make(
      const std::shared_ptr<const AvroSchema>& writer, const std::shared_ptr<const AvroSchema>& reader,
      const std::shared_ptr<const EventPlan>& plan);
  ~AvroReader() override;

  /// It checks only the values on the plan's ways. So it may take a payload that AppendJson rejects for
  /// another value.
  bool Read(std::string_view payload, EventBuffers& buffers, Event& event) override;
  /// Rejections: kNotDecodable, with the record and the field. Values may be nested to a depth of 64. JSON
  /// has at most JsonBytesMax bytes.
  tl::expected<void, Rejection> AppendJson(std::string_view payload, std::string& json) override;
  const FormatError* Missing() const override;

 private:
  struct Parts;
  explicit AvroReader(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace seen
