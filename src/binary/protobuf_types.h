#pragma once
// What the types of Protobuf mean to this program. Room binary only.

#include <cstdint>
#include <string>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace seen {

/// One value of a field. Wrapped values (google/protobuf/wrappers.proto) are of the type in the wrapper.
enum class ProtobufMeaning : uint8_t { kText, kEnum, kInteger, kFraction, kBoolean, kTimestamp, kMessage };
ProtobufMeaning MeaningOf(const google::protobuf::FieldDescriptor& field);

bool IsTimestamp(const google::protobuf::Descriptor& type);
/// The field with the value; null: the type isn't a wrapper.
const google::protobuf::FieldDescriptor* WrappedField(const google::protobuf::Descriptor& type);

/// Milliseconds since 1970; cut, and beyond 64 bits the last one.
int64_t MillisecondsOfTimestamp(int64_t seconds, int32_t nanos);

/// For messages: "repeated int64", "message shop.Item", "a map".
std::string TypeNameOf(const google::protobuf::FieldDescriptor& field, bool of_element);

}  // namespace seen
