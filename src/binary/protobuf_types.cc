#include "binary/protobuf_types.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <string_view>

namespace seen {

namespace pb = google::protobuf;

namespace {

// A schema may bring its own file with the well-known name.
bool HasField(const pb::Descriptor& type, int number, pb::FieldDescriptor::Type of) {
  const pb::FieldDescriptor* const field = type.FindFieldByNumber(number);
  return field != nullptr && !field->is_repeated() && field->type() == of;
}

}  // namespace

ProtobufMeaning MeaningOf(const pb::FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return ProtobufMeaning::kText;
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return ProtobufMeaning::kEnum;
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return ProtobufMeaning::kBoolean;
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return ProtobufMeaning::kFraction;
    case pb::FieldDescriptor::CPPTYPE_MESSAGE: {
      if (IsTimestamp(*field.message_type())) return ProtobufMeaning::kTimestamp;
      const pb::FieldDescriptor* const wrapped = WrappedField(*field.message_type());
      return wrapped == nullptr ? ProtobufMeaning::kMessage : MeaningOf(*wrapped);
    }
    default:
      return ProtobufMeaning::kInteger;
  }
}

bool IsTimestamp(const pb::Descriptor& type) {
  return type.full_name() == "google.protobuf.Timestamp" &&
         HasField(type, 1, pb::FieldDescriptor::TYPE_INT64) &&
         HasField(type, 2, pb::FieldDescriptor::TYPE_INT32);
}

const pb::FieldDescriptor* WrappedField(const pb::Descriptor& type) {
  const std::string_view name = type.full_name();
  constexpr std::string_view kPackage = "google.protobuf.", kEnd = "Value";
  if (!name.starts_with(kPackage) || !name.ends_with(kEnd) || type.field_count() != 1) return nullptr;
  const pb::FieldDescriptor& field = *type.field(0);
  const bool is_plain = field.number() == 1 && !field.has_presence() && !field.is_repeated();
  return is_plain && field.cpp_type() != pb::FieldDescriptor::CPPTYPE_ENUM ? &field : nullptr;
}

int64_t MillisecondsOfTimestamp(int64_t seconds, int32_t nanos) {
  constexpr int64_t kSecondsMax = INT64_MAX / 1000 - 3;  // nanos may be any, of more than 2 seconds
  return std::clamp(seconds, -kSecondsMax, kSecondsMax) * 1000 + nanos / 1'000'000;
}

std::string TypeNameOf(const pb::FieldDescriptor& field, bool of_element) {
  if (field.is_map() && !of_element) return "a map";
  const std::string name = field.message_type() != nullptr ? "message " + field.message_type()->full_name()
                           : field.enum_type() != nullptr  ? "enum " + field.enum_type()->full_name()
                                                           : std::string(field.type_name());
  return (field.is_repeated() && !of_element ? "repeated " : "") + name;
}

}  // namespace seen
