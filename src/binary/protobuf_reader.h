#pragma once
// Reads events of Protobuf. A payload is one message of a schema, without a header. Source: protobuf.dev,
// "Encoding" and "Field Presence".

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "binary/protobuf_schema.h"
#include "decode/binary_reader.h"
#include "decode/event_plan.h"

namespace seen {

/// One per thread. Many readers may share schema and plan.
///
/// What a message means as JSON:
/// - Members have the names of the .proto file. A repeated field is an array, a map is an object.
/// - An enum's value is its name, or its number if the schema has no name for it.
/// - Bytes are a string, or hex digits if they aren't UTF-8.
/// - A google.protobuf.Timestamp is an integer in milliseconds since 1970. A wrapper, such as
///   google.protobuf.StringValue, is the value in it. Every other message is an object, also Duration.
/// - Left out are fields that aren't set, and a float or double that isn't finite; in an array or a map it
///   is null.
/// - A field without presence (of proto3, without `optional`) has its default if it isn't set, where the plan
///   looks at it: 0, false, or the enum's first name. But an empty text is left out, and so is the default of
///   an id or a time.
/// - Required fields may be missing. Extensions and unknown fields are skipped.
class ProtobufReader final : public BinaryReader {
 public:
  /// The error's path is a key of `plan`.
  static tl::expected<std::unique_ptr<ProtobufReader>, FormatError> Make(
      std::shared_ptr<const ProtobufSchema> schema, std::shared_ptr<const EventPlan> plan);
  ~ProtobufReader() override;

  /// It checks only the values on the plan's ways. So it may take a payload that AppendJson rejects for
  /// another value.
  bool Read(std::string_view payload, EventBuffers& buffers, Event& event) override;
  /// Rejections: kNotDecodable. Messages may be nested to a depth of 100. JSON has at most
  /// JsonBytesMax bytes.
  tl::expected<void, Rejection> AppendJson(std::string_view payload, std::string& json) override;
  const FormatError* Missing() const override;

 private:
  struct Parts;
  explicit ProtobufReader(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace seen
