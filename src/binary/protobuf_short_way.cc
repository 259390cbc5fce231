#include <algorithm>
#include <bit>
#include <cmath>

#include "binary/protobuf_steps.h"
#include "binary/protobuf_types.h"
#include "binary/valid_text.h"

namespace seen {
namespace {

using Kind = BinaryValue::Kind;
using Take = ProtobufSteps::Take;
using Step = ProtobufSteps::Step;
using Quick = ProtobufSteps::Quick;

template <typename Number>
int64_t UnZigzag(Number number) {
  return static_cast<std::make_signed_t<Number>>((number >> 1) ^ (0 - (number & 1)));
}

/// The wire type of a value that isn't packed.
uint32_t WireOf(Take take) {
  switch (take) {
    case Take::kFixed32:
    case Take::kSfixed32:
    case Take::kFloat:
      return ProtobufCursor::kFixed32;
    case Take::kFixed64:
    case Take::kSfixed64:
    case Take::kDouble:
      return ProtobufCursor::kFixed64;
    case Take::kText:
    case Take::kTimestamp:
    case Take::kWrapper:
    case Take::kMessage:
      return ProtobufCursor::kBytes;
    default:
      return ProtobufCursor::kVarint;
  }
}

BinaryValue EmptyValueOf(Take take) {
  switch (take) {
    case Take::kText:
      return BinaryValue::String({});
    case Take::kBool:
      return BinaryValue::Boolean(false);
    case Take::kFloat:
    case Take::kDouble:
      return BinaryValue::Fraction(0);
    default:
      return BinaryValue::Integer(0);
  }
}

bool IsEmpty(const BinaryValue& value) {
  if (value.kind() == Kind::kString) return value.text().empty();
  return value.kind() == Kind::kFraction ? value.fraction() == 0 : value.integer() == 0;
}

bool ReadTimestamp(std::string_view bytes, BinaryValue& value) {
  ProtobufCursor cursor(bytes);
  uint64_t seconds = 0, nanos = 0;
  while (!cursor.AtEnd()) {
    uint32_t number = 0, wire = 0;
    if (!cursor.TakeTag(number, wire)) return false;
    if (number > 2) {
      if (!cursor.Skip(wire)) return false;
    } else if (wire != ProtobufCursor::kVarint || !cursor.TakeVarint(number == 1 ? seconds : nanos)) {
      return false;
    }
  }
  value =
      BinaryValue::Time(MillisecondsOfTimestamp(static_cast<int64_t>(seconds), static_cast<int32_t>(nanos)));
  return true;
}

}  // namespace

const Step* ProtobufSteps::Message::Find(uint32_t number) const {
  const auto at = std::lower_bound(steps.begin(), steps.end(), number,
                                   [](const Step& step, uint32_t wanted) { return step.number < wanted; });
  return at != steps.end() && at->number == number ? &*at : nullptr;
}

bool ProtobufShortWay::Read(std::string_view payload, EventBuffers& buffers, Event& event) {
  if (!is_for_plan_) return false;
  event_.Begin(buffers);
  return Run(steps_.messages.front(), payload, false) && event_.Finish(event);
}

bool ProtobufShortWay::Run(const ProtobufSteps::Message& message, std::string_view bytes, bool of_item) {
  for (const ProtobufSteps::Default& each : message.defaults) Put(each.slots, of_item, each.value);
  ProtobufCursor cursor(bytes);  // stays in registers: no function that isn't in line gets its address
  uint64_t once = 0;             // bits of the numbers that came
  std::string_view text;
  uint64_t number = 0;
  while (!cursor.AtEnd()) {
    const uint8_t tag = cursor.NextByte();
    const Quick quick = tag < ProtobufSteps::Message::kQuickEnd ? message.quick[tag] : Quick();
    if (quick.what == Quick::Do::kStep) {
      ProtobufCursor copy = cursor;
      if (!TakeAny(message, of_item, once, copy)) return false;
      cursor = copy;
      continue;
    }
    cursor.SkipByte();
    switch (quick.what) {
      case Quick::Do::kSkipVarint:
        if (!cursor.TakeVarint(number)) return false;
        break;
      case Quick::Do::kTakeNumber:
        if (!cursor.TakeVarint(number) || (number == 0 && quick.default_is_absent)) return false;
        event_.PlaceOf(quick.slot, false) = BinaryValue::Integer(static_cast<int64_t>(number));
        break;
      case Quick::Do::kTakeText:
        if (!cursor.TakeBytes(text) || !IsValidText(text) || (text.empty() && quick.default_is_absent))
          return false;
        event_.PlaceOf(quick.slot, false) = BinaryValue::String(text);
        break;
      case Quick::Do::kTakeTextItem:
        event_.BeginItems();
        if (!cursor.TakeBytes(text) || !IsValidText(text) || !event_.AddText(text)) return false;
        break;
      default:  // kSkipBytes
        if (!cursor.TakeBytes(text)) return false;
    }
  }
  return true;
}

bool ProtobufShortWay::TakeAny(const ProtobufSteps::Message& message, bool of_item, uint64_t& once,
                               ProtobufCursor& cursor) {
  uint32_t number = 0, wire = 0;
  if (!cursor.TakeTag(number, wire)) return false;
  const Step* const step = message.Find(number);
  if (step == nullptr) return cursor.Skip(wire);
  if (step->once != 0) {
    const uint64_t bit = uint64_t{1} << (step->once & 63);
    if (step->once > 63 || (once & bit) != 0) return false;
    once |= bit;
  }
  return step->is_items ? TakeItem(*step, wire, cursor) : TakeField(*step, wire, of_item, cursor);
}

bool ProtobufShortWay::TakeField(const Step& step, uint32_t wire, bool of_item, ProtobufCursor& cursor) {
  if (step.take == Take::kSkip) return cursor.Skip(wire);
  if (step.take == Take::kMessage) {
    std::string_view bytes;
    if (wire != ProtobufCursor::kBytes || !cursor.TakeBytes(bytes)) return false;
    Put(step.slots, of_item, {});
    return Run(steps_.messages[step.child], bytes, of_item);
  }
  if (step.slots == 0) return false;  // what stands within a text
  BinaryValue& value = event_.PlaceOf(static_cast<uint8_t>(std::countr_zero(step.slots)), of_item);
  if (!ReadValue(step.take, step, wire, cursor, value)) return false;
  // Perhaps another value came before.
  if (step.default_is_absent && IsEmpty(value)) return false;
  if (const uint32_t others = step.slots & (step.slots - 1); others != 0) Put(others, of_item, value);
  return true;
}

bool ProtobufShortWay::TakeItem(const Step& step, uint32_t wire, ProtobufCursor& cursor) {
  const uint32_t own_wire = WireOf(step.take);
  std::string_view bytes;
  if (wire == ProtobufCursor::kBytes && own_wire != wire)
    return cursor.TakeBytes(bytes) && TakePackedItems(step, bytes);
  event_.BeginItems();
  if (step.take != Take::kMessage) {
    BinaryValue value;
    return ReadValue(step.take, step, wire, cursor, value) && event_.AddItem(value);
  }
  event_.BeginItem();
  return wire == own_wire && cursor.TakeBytes(bytes) && Run(steps_.messages[step.child], bytes, true) &&
         event_.EndItem();
}

bool ProtobufShortWay::TakePackedItems(const Step& step, std::string_view bytes) {
  ProtobufCursor cursor(bytes);
  if (!cursor.AtEnd()) event_.BeginItems();
  while (!cursor.AtEnd()) {
    BinaryValue value;
    if (!ReadValue(step.take, step, WireOf(step.take), cursor, value) || !event_.AddItem(value)) return false;
  }
  return true;
}

void ProtobufShortWay::Put(uint32_t slots, bool of_item, const BinaryValue& value) {
  for (; slots != 0; slots &= slots - 1) {
    const auto slot = static_cast<uint8_t>(std::countr_zero(slots));
    of_item ? event_.TakeOfItem(slot, value) : event_.Take(slot, value);
  }
}

// Left to the long way: what protobuf takes for an unknown field, and values that JSON leaves out.
bool ProtobufShortWay::ReadValue(Take take, const Step& step, uint32_t wire, ProtobufCursor& cursor,
                                 BinaryValue& value) const {
  if (wire != WireOf(take)) return false;
  uint64_t number = 0;
  uint32_t number32 = 0;
  std::string_view bytes;
  switch (wire) {
    case ProtobufCursor::kFixed32:
      if (!cursor.TakeFixed(number32)) return false;
      break;
    case ProtobufCursor::kFixed64:
      if (!cursor.TakeFixed(number)) return false;
      break;
    case ProtobufCursor::kBytes:
      if (!cursor.TakeBytes(bytes)) return false;
      break;
    default:
      if (!cursor.TakeVarint(number)) return false;
  }
  switch (take) {
    case Take::kInt32:
      value = BinaryValue::Integer(static_cast<int32_t>(number));
      return true;
    case Take::kInt64:
    case Take::kSfixed64:
      value = BinaryValue::Integer(static_cast<int64_t>(number));
      return true;
    case Take::kUint32:
      value = BinaryValue::Integer(static_cast<uint32_t>(number));
      return true;
    case Take::kUint64:
    case Take::kFixed64:
      value = BinaryValue::Unsigned(number);
      return true;
    case Take::kSint32:
      value = BinaryValue::Integer(UnZigzag(static_cast<uint32_t>(number)));
      return true;
    case Take::kSint64:
      value = BinaryValue::Integer(UnZigzag(number));
      return true;
    case Take::kFixed32:
      value = BinaryValue::Integer(number32);
      return true;
    case Take::kSfixed32:
      value = BinaryValue::Integer(static_cast<int32_t>(number32));
      return true;
    case Take::kBool:
      value = BinaryValue::Boolean(number != 0);
      return true;
    case Take::kEnum: {
      const auto& names = steps_.enums[step.child];
      const auto at = std::lower_bound(
          names.begin(), names.end(), static_cast<int32_t>(number),
          [](const ProtobufSteps::EnumName& name, int32_t wanted) { return name.number < wanted; });
      if (at == names.end() || at->number != static_cast<int32_t>(number)) return false;
      value = BinaryValue::String(at->name);
      return true;
    }
    case Take::kFloat:
      value = BinaryValue::Fraction(double{std::bit_cast<float>(number32)});
      return std::isfinite(value.fraction());
    case Take::kDouble:
      value = BinaryValue::Fraction(std::bit_cast<double>(number));
      return std::isfinite(value.fraction());
    case Take::kText:
      value = BinaryValue::String(bytes);
      return IsValidText(bytes);
    case Take::kTimestamp:
      return ReadTimestamp(bytes, value);
    case Take::kWrapper:
      return ReadWrapped(step, bytes, value);
    default:
      return false;
  }
}

bool ProtobufShortWay::ReadWrapped(const Step& step, std::string_view bytes, BinaryValue& value) const {
  ProtobufCursor cursor(bytes);
  value = EmptyValueOf(step.wrapped);
  while (!cursor.AtEnd()) {
    uint32_t number = 0, wire = 0;
    if (!cursor.TakeTag(number, wire)) return false;
    if (number == 1) {
      if (!ReadValue(step.wrapped, step, wire, cursor, value)) return false;
    } else if (!cursor.Skip(wire)) {
      return false;
    }
  }
  return true;
}

}  // namespace seen
