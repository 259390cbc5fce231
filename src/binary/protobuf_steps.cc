#include "binary/protobuf_steps.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <bit>
#include <map>

#include "binary/protobuf_types.h"

namespace seen {
namespace {

namespace pb = google::protobuf;
using Take = ProtobufSteps::Take;
using Step = ProtobufSteps::Step;
using Quick = ProtobufSteps::Quick;

class StepMaker {
 public:
  ProtobufSteps Make(const pb::Descriptor& type, const PlaceTree& places) {
    AddMessage(type, places, false);
    return std::move(steps_);
  }

 private:
  /// A message's steps while they are made.
  struct Making {
    ProtobufSteps::Message message;
    std::map<const pb::OneofDescriptor*, uint8_t> oneofs;  // -> Step::once
    uint8_t used = 0;                                      // numbers of Step::once
  };

  uint16_t AddMessage(const pb::Descriptor& type, const PlaceTree& places, bool of_item) {
    const size_t at = steps_.messages.size();
    steps_.messages.emplace_back();
    Making making;
    for (int i = 0; i < type.field_count(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      if (const PlaceTree* const place = places.Find(field.name())) AddStep(field, *place, of_item, making);
    }
    // A member that comes takes the place of the others.
    for (int i = 0; i < type.field_count(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      const auto oneof = making.oneofs.find(field.real_containing_oneof());
      if (oneof == making.oneofs.end() || places.Find(field.name()) != nullptr) continue;
      Step step = StepOf(field);
      step.take = Take::kSkip;
      step.once = oneof->second;
      making.message.steps.push_back(step);
    }
    auto& steps = making.message.steps;
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.number < b.number; });
    for (uint8_t tag = 0; tag < ProtobufSteps::Message::kQuickEnd; ++tag)
      making.message.quick[tag] = QuickOf(tag, making.message, of_item);
    steps_.messages[at] = std::move(making.message);
    return static_cast<uint16_t>(at);
  }

  static Quick QuickOf(uint8_t tag, const ProtobufSteps::Message& message, bool of_item) {
    const bool is_bytes = (tag & 7) == ProtobufCursor::kBytes;
    if (tag < 8 || (!is_bytes && (tag & 7) != ProtobufCursor::kVarint)) return {};
    const Step* const step = message.Find(tag >> 3u);
    if (step == nullptr) return {is_bytes ? Quick::Do::kSkipBytes : Quick::Do::kSkipVarint};
    const bool is_text = is_bytes && step->take == Take::kText;
    if (step->is_items) return {is_text ? Quick::Do::kTakeTextItem : Quick::Do::kStep};
    if (step->once != 0 || of_item || !std::has_single_bit(step->slots)) return {};
    Quick quick{Quick::Do::kStep, static_cast<uint8_t>(std::countr_zero(step->slots)),
                step->default_is_absent};
    if (is_text) quick.what = Quick::Do::kTakeText;
    if (!is_bytes && step->take == Take::kInt64) quick.what = Quick::Do::kTakeNumber;
    return quick;
  }

  static Step StepOf(const pb::FieldDescriptor& field) {
    Step step;
    step.number = static_cast<uint32_t>(field.number());
    return step;
  }

  void AddStep(const pb::FieldDescriptor& field, const PlaceTree& place, bool of_item, Making& making) {
    Step step = StepOf(field);
    step.slots = of_item ? place.item_slots : place.slots;
    const bool is_items = place.is_items && !of_item && field.is_repeated() && !field.is_map();
    if (is_items) {
      SetItems(field, place, step);
    } else if (!field.is_repeated()) {
      SetValue(field, place, of_item, step);
    }
    if (!is_items) step.once = OnceOf(field, making);
    const bool is_implicit = !field.has_presence() && !field.is_repeated() && step.take != Take::kLongWay;
    if (is_implicit && (step.take == Take::kText || place.is_id_or_time)) {
      step.default_is_absent = true;
      if (step.take == Take::kEnum) step.take = Take::kLongWay;
    } else if (is_implicit) {
      making.message.defaults.push_back({step.slots, DefaultOf(field)});
    }
    making.message.steps.push_back(step);
  }

  // Messages that come twice are merged: the long way does that.
  static uint8_t OnceOf(const pb::FieldDescriptor& field, Making& making) {
    const pb::OneofDescriptor* const oneof = field.real_containing_oneof();
    if (oneof == nullptr && field.message_type() == nullptr) return 0;
    if (oneof == nullptr) return ++making.used;
    const auto [found, is_new] = making.oneofs.emplace(oneof, 0);
    if (is_new) found->second = ++making.used;
    return found->second;
  }

  void SetValue(const pb::FieldDescriptor& field, const PlaceTree& place, bool of_item, Step& step) {
    step.take = TakeOf(field);
    if (step.take == Take::kMessage) {
      step.child = AddMessage(*field.message_type(), place, of_item);
      return;
    }
    // The pointer may lead into JSON in a text.
    if (!place.within.empty() || place.is_items) step.take = Take::kLongWay;
    SetPart(field, step);
  }

  void SetItems(const pb::FieldDescriptor& field, const PlaceTree& place, Step& step) {
    static const PlaceTree kNoPlaces;
    const PlaceTree* const element = place.Find(PlaceTree::kElement);
    if (place.HasSlots() || MeaningOf(field) == ProtobufMeaning::kTimestamp) return;  // the long way
    step.is_items = true;
    step.take = TakeOf(field);
    if (step.take == Take::kMessage)
      step.child = AddMessage(*field.message_type(), element == nullptr ? kNoPlaces : *element, true);
    SetPart(field, step);
  }

  void SetPart(const pb::FieldDescriptor& field, Step& step) {
    if (step.take == Take::kWrapper) step.wrapped = TakeOf(*WrappedField(*field.message_type()));
    if (step.take == Take::kEnum) step.child = AddEnum(*field.enum_type());
  }

  static Take TakeOf(const pb::FieldDescriptor& field) {
    switch (field.type()) {
      case pb::FieldDescriptor::TYPE_INT32:
        return Take::kInt32;
      case pb::FieldDescriptor::TYPE_INT64:
        return Take::kInt64;
      case pb::FieldDescriptor::TYPE_UINT32:
        return Take::kUint32;
      case pb::FieldDescriptor::TYPE_UINT64:
        return Take::kUint64;
      case pb::FieldDescriptor::TYPE_SINT32:
        return Take::kSint32;
      case pb::FieldDescriptor::TYPE_SINT64:
        return Take::kSint64;
      case pb::FieldDescriptor::TYPE_FIXED32:
        return Take::kFixed32;
      case pb::FieldDescriptor::TYPE_FIXED64:
        return Take::kFixed64;
      case pb::FieldDescriptor::TYPE_SFIXED32:
        return Take::kSfixed32;
      case pb::FieldDescriptor::TYPE_SFIXED64:
        return Take::kSfixed64;
      case pb::FieldDescriptor::TYPE_BOOL:
        return Take::kBool;
      case pb::FieldDescriptor::TYPE_ENUM:
        return Take::kEnum;
      case pb::FieldDescriptor::TYPE_FLOAT:
        return Take::kFloat;
      case pb::FieldDescriptor::TYPE_DOUBLE:
        return Take::kDouble;
      case pb::FieldDescriptor::TYPE_STRING:
      case pb::FieldDescriptor::TYPE_BYTES:
        return Take::kText;
      case pb::FieldDescriptor::TYPE_MESSAGE:
        if (IsTimestamp(*field.message_type())) return Take::kTimestamp;
        return WrappedField(*field.message_type()) != nullptr ? Take::kWrapper : Take::kMessage;
      case pb::FieldDescriptor::TYPE_GROUP:
        break;
    }
    return Take::kLongWay;
  }

  uint16_t AddEnum(const pb::EnumDescriptor& type) {
    std::map<int32_t, std::string_view> names;
    // Of several names of a number the first one counts.
    for (int i = 0; i < type.value_count(); ++i)
      names.emplace(type.value(i)->number(), type.value(i)->name());
    auto& added = steps_.enums.emplace_back();
    for (const auto& [number, name] : names) added.push_back({number, name});
    return static_cast<uint16_t>(steps_.enums.size() - 1);
  }

  static BinaryValue DefaultOf(const pb::FieldDescriptor& field) {
    switch (MeaningOf(field)) {
      case ProtobufMeaning::kBoolean:
        return BinaryValue::Boolean(false);
      case ProtobufMeaning::kFraction:
        return BinaryValue::Fraction(0);
      case ProtobufMeaning::kEnum:
        return BinaryValue::String(field.default_value_enum()->name());
      default:
        return BinaryValue::Integer(0);
    }
  }

  ProtobufSteps steps_;
};

}  // namespace

ProtobufSteps ProtobufSteps::Make(const ProtobufSchema& schema, const PlaceTree& places) {
  return StepMaker().Make(schema.message(), places);
}

}  // namespace seen
