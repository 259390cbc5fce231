#include "binary/protobuf_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <climits>
#include <cmath>

#include "binary/json_values.h"
#include "binary/protobuf_types.h"

namespace seen {
namespace {

namespace pb = google::protobuf;

const PlaceTree* Within(const PlaceTree* places, std::string_view step) {
  return places == nullptr ? nullptr : places->Find(step);
}

/// Writes messages. `places`: what the plan looks at there; null: nothing.
class JsonWriter {
 public:
  JsonWriter(std::string& out, size_t bytes_max) : json_(out), bytes_max_(bytes_max) {}

  /// False: `bytes_max` weren't enough.
  bool Write(const pb::Message& message, const PlaceTree& places) {
    WriteMessage(message, &places);
    return !IsFull();
  }

 private:
  /// A value of a field. `index`: of a repeated field's value; -1: the field has one value.
  struct Value {
    const pb::Message& message;
    const pb::FieldDescriptor& field;
    int index = -1;

    template <typename One, typename OfList>
    auto Get(One one, OfList of_list) const {
      const pb::Reflection& reflection = *message.GetReflection();
      return index < 0 ? (reflection.*one)(message, &field) : (reflection.*of_list)(message, &field, index);
    }
    const pb::Message& Nested() const {
      const pb::Reflection& reflection = *message.GetReflection();
      return index < 0 ? reflection.GetMessage(message, &field)
                       : reflection.GetRepeatedMessage(message, &field, index);
    }
    bool IsMessage() const { return field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE; }
  };

  bool IsFull() const { return json_.size() > bytes_max_; }

  void WriteMessage(const pb::Message& message, const PlaceTree* places) {
    const pb::Descriptor& type = *message.GetDescriptor();
    json_ += '{';
    for (int i = 0; i < type.field_count() && !IsFull(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      const PlaceTree* const within = Within(places, field.name());
      if (!IsThere(message, field, within) || IsNull({message, field})) continue;
      WriteName(field.name());
      if (field.is_map()) {
        WriteMap(message, field, within);
      } else if (field.is_repeated()) {
        WriteList(message, field, within);
      } else {
        WriteValue({message, field}, within);
      }
    }
    json_ += '}';
  }

  void WriteName(std::string_view name) {
    if (json_.back() != '{') json_ += ',';
    AppendJsonString(name, json_);
    json_ += ':';
  }

  // The default of a field without presence is written only where the plan looks at it.
  static bool IsThere(const pb::Message& message, const pb::FieldDescriptor& field, const PlaceTree* places) {
    const pb::Reflection& reflection = *message.GetReflection();
    if (field.is_repeated()) return reflection.FieldSize(message, &field) > 0;
    if (reflection.HasField(message, &field)) return true;
    return !field.has_presence() && field.cpp_type() != pb::FieldDescriptor::CPPTYPE_STRING &&
           places != nullptr && (places->slots | places->item_slots) != 0 && !places->is_id_or_time;
  }

  /// JSON has no text for NaN and infinities.
  static bool IsNull(const Value& value) {
    if (value.field.is_repeated() && value.index < 0) return false;
    switch (value.field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
        return !std::isfinite(value.Get(&pb::Reflection::GetFloat, &pb::Reflection::GetRepeatedFloat));
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        return !std::isfinite(value.Get(&pb::Reflection::GetDouble, &pb::Reflection::GetRepeatedDouble));
      case pb::FieldDescriptor::CPPTYPE_MESSAGE: {
        const pb::FieldDescriptor* const wrapped = WrappedField(*value.field.message_type());
        return wrapped != nullptr && IsNull({value.Nested(), *wrapped});
      }
      default:
        return false;
    }
  }

  void WriteList(const pb::Message& message, const pb::FieldDescriptor& field, const PlaceTree* places) {
    const PlaceTree* const within = Within(places, PlaceTree::kElement);
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int i = 0; i < size && !IsFull(); ++i) {
      json_ += i == 0 ? '[' : ',';
      WriteElement({message, field, i}, within);
    }
    json_ += ']';
  }

  void WriteElement(const Value& value, const PlaceTree* places) {
    if (IsNull(value)) {
      json_ += "null";
    } else {
      WriteValue(value, places);
    }
  }

  // A key may come twice: the last one counts, as in JSON.
  void WriteMap(const pb::Message& message, const pb::FieldDescriptor& field, const PlaceTree* places) {
    const pb::FieldDescriptor& key = *field.message_type()->map_key();
    const pb::FieldDescriptor& value = *field.message_type()->map_value();
    json_ += '{';
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int i = 0; i < size && !IsFull(); ++i) {
      const pb::Message& entry = message.GetReflection()->GetRepeatedMessage(message, &field, i);
      std::string name;
      if (key.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING) {
        name = entry.GetReflection()->GetString(entry, &key);
      } else {
        const size_t before = json_.size();
        WriteValue({entry, key}, nullptr);
        name = json_.substr(before);
        json_.resize(before);
      }
      WriteName(name);
      WriteElement({entry, value}, Within(places, name));
    }
    json_ += '}';
  }

  void WriteValue(const Value& value, const PlaceTree* places) {
    using R = pb::Reflection;
    switch (value.field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_INT32:
        return AppendJsonNumber(value.Get(&R::GetInt32, &R::GetRepeatedInt32), json_);
      case pb::FieldDescriptor::CPPTYPE_INT64:
        return AppendJsonNumber(value.Get(&R::GetInt64, &R::GetRepeatedInt64), json_);
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        return AppendJsonNumber(value.Get(&R::GetUInt32, &R::GetRepeatedUInt32), json_);
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        return AppendJsonNumber(value.Get(&R::GetUInt64, &R::GetRepeatedUInt64), json_);
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
        return AppendJsonNumber(value.Get(&R::GetFloat, &R::GetRepeatedFloat), json_);
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        return AppendJsonNumber(value.Get(&R::GetDouble, &R::GetRepeatedDouble), json_);
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        json_ += value.Get(&R::GetBool, &R::GetRepeatedBool) ? "true" : "false";
        return;
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        const int number = value.Get(&R::GetEnumValue, &R::GetRepeatedEnumValue);
        const pb::EnumValueDescriptor* const named = value.field.enum_type()->FindValueByNumber(number);
        return named == nullptr ? AppendJsonNumber(number, json_) : AppendJsonString(named->name(), json_);
      }
      case pb::FieldDescriptor::CPPTYPE_STRING: {
        const std::string text = value.Get(&R::GetString, &R::GetRepeatedString);
        return value.field.type() == pb::FieldDescriptor::TYPE_BYTES ? AppendJsonBytes(text, json_)
                                                                     : AppendJsonString(text, json_);
      }
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        return WriteNested(value.Nested(), places);
    }
  }

  void WriteNested(const pb::Message& message, const PlaceTree* places) {
    const pb::Descriptor& type = *message.GetDescriptor();
    if (IsTimestamp(type)) {
      const pb::Reflection& reflection = *message.GetReflection();
      AppendJsonNumber(MillisecondsOfTimestamp(reflection.GetInt64(message, type.FindFieldByNumber(1)),
                                               reflection.GetInt32(message, type.FindFieldByNumber(2))),
                       json_);
    } else if (const pb::FieldDescriptor* const wrapped = WrappedField(type)) {
      WriteValue({message, *wrapped}, nullptr);
    } else {
      WriteMessage(message, places);
    }
  }

  std::string& json_;
  const size_t bytes_max_;
};

}  // namespace

struct ProtobufJson::Dynamic {
  pb::DynamicMessageFactory factory;
  const pb::Message* prototype = nullptr;
};

ProtobufJson::ProtobufJson(const ProtobufSchema& schema, const PlaceTree& places)
    : schema_(schema), places_(places), dynamic_(std::make_unique<Dynamic>()) {
  dynamic_->prototype = dynamic_->factory.GetPrototype(&schema.message());
}
ProtobufJson::~ProtobufJson() = default;

tl::expected<void, Rejection> ProtobufJson::Append(std::string_view payload, std::string& json) {
  const auto reject = [&](const std::string& what) {
    return tl::unexpected(
        Rejection{RejectReason::kNotDecodable,
                  {},
                  "not an event of schema message " + schema_.message().full_name() + ": " + what});
  };
  // Each time a new one: a message keeps the memory of the largest payload.
  const std::unique_ptr<pb::Message> message(dynamic_->prototype->New());
  if (payload.size() > INT_MAX ||
      !message->ParsePartialFromArray(payload.data(), static_cast<int>(payload.size())))
    return reject(
        "its " + std::to_string(payload.size()) +
        " bytes are cut off, of another message, nested too deeply, or a string in them isn't UTF-8");
  const size_t before = json.size();
  JsonWriter writer(json, before + JsonBytesMax(payload.size()));
  if (writer.Write(*message, places_)) return {};
  json.resize(before);
  return reject("too many values for " + std::to_string(payload.size()) + " bytes");
}

}  // namespace seen
