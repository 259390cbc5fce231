#pragma once
// The short way from the values of an event that isn't JSON to the event. Its result is the same as that of
// the long way through JSON; what needs more than this is left to the long way.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "decode/coverage.h"
#include "decode/event_buffers.h"
#include "decode/event_plan.h"
#include "decode/pointer_tree.h"
#include "model/event.h"

namespace seen {

/// A value that isn't nested, in 16 bytes. Null values aren't taken at all.
class BinaryValue {
 public:
  enum class Kind : uint8_t {
    kOther,  // bytes, a record, a list, a map
    kString,
    kInteger,
    kUnsigned,  // an integer of 2^63 or more
    kTime,
    kFraction,
    kBoolean,
  };

  BinaryValue() = default;  // kOther
  /// Valid UTF-8, of less than 4 GiB.
  static BinaryValue String(std::string_view text) {
    BinaryValue value(Kind::kString);
    value.bytes_ = static_cast<uint32_t>(text.size());
    value.text_ = text.data();
    return value;
  }
  static BinaryValue Integer(int64_t number) { return {Kind::kInteger, number}; }
  static BinaryValue Unsigned(uint64_t number) {
    return {number > static_cast<uint64_t>(INT64_MAX) ? Kind::kUnsigned : Kind::kInteger,
            static_cast<int64_t>(number)};
  }
  /// In ms since 1970, whatever the unit of the schema.
  static BinaryValue Time(int64_t ms) { return {Kind::kTime, ms}; }
  static BinaryValue Boolean(bool is) { return {Kind::kBoolean, is ? 1 : 0}; }
  static BinaryValue Fraction(double number) {
    BinaryValue value(Kind::kFraction);
    value.fraction_ = number;
    return value;
  }

  Kind kind() const { return kind_; }
  std::string_view text() const { return {text_, bytes_}; }  // of kString
  int64_t integer() const { return integer_; }   // of all kinds but these two; the bits of kUnsigned
  double fraction() const { return fraction_; }  // of kFraction

 private:
  BinaryValue(Kind kind, int64_t integer = 0) : kind_(kind), integer_(integer) {}

  Kind kind_ = Kind::kOther;
  uint32_t bytes_ = 0;
  union {
    int64_t integer_ = 0;
    double fraction_;
    const char* text_;
  };
};
static_assert(sizeof(BinaryValue) == 16);

/// One per thread. Usage for each event: Begin, then Take and the functions of items in any order, then
/// Finish.
class SlotEvent {
 public:
  /// `plan`: one that IsFor.
  explicit SlotEvent(std::shared_ptr<const EventPlan> plan) : plan_(std::move(plan)) {}
  /// False: events of this plan need the long way.
  static bool IsFor(const EventPlan& plan);

  void Begin(EventBuffers& buffers) {
    buffers_ = &buffers;
    buffers.Clear();
    digits_used_ = 0;
    present_ = 0;
    has_items_ = false;
  }
  /// The value of one of the plan's `event_places`. Of several values the last one counts.
  void Take(uint8_t slot, const BinaryValue& value) {
    values_[slot] = value;
    present_ |= SlotBit(slot);
  }
  /// The place for a value, so that it needn't be copied. Of a value for several slots, Take copies it.
  BinaryValue& PlaceOf(uint8_t slot, bool of_item) {
    (of_item ? item_present_ : present_) |= SlotBit(slot);
    return (of_item ? item_values_ : values_)[slot];
  }
  /// The event has the list `items`, perhaps an empty one.
  void BeginItems() { has_items_ = true; }
  // An element of `items` that is a record: BeginItem, TakeOfItem for its `element_places`, EndItem.
  void BeginItem() { item_present_ = 0; }
  void TakeOfItem(uint8_t slot, const BinaryValue& value) {
    item_values_[slot] = value;
    item_present_ |= SlotBit(slot);
  }
  bool EndItem();
  /// An element that is no record: the item's id.
  bool AddItem(const BinaryValue& id);
  /// As AddItem, of a text.
  bool AddText(std::string_view id) {
    // The text may be an object with the item's fields.
    return !(plan_->elements_may_be_text && id.starts_with('{')) && IsId(id) && AddId(id);
  }
  /// `event`: a new one. False: the long way reads the event.
  bool Finish(Event& event);

 private:
  bool Has(Field field) const { return (present_ >> static_cast<size_t>(field) & 1) != 0; }
  const BinaryValue& ValueOf(Field field) const { return values_[static_cast<size_t>(field)]; }
  static bool IsId(std::string_view id) { return !id.empty() && id.size() <= kIdBytesMax; }
  bool AddId(std::string_view id) {
    if (buffers_->items.size() == kItemsMax) return false;
    // Not push_back, which would load at once what was just stored in parts: the processor waits for that.
    buffers_->items.emplace_back().item_id = id;
    if (plan_->details) buffers_->details.push_back({});
    return true;
  }
  bool AddItemWithId(const BinaryValue& id);
  bool ReadId(const BinaryValue& value, std::string_view& id);
  bool ReadTime(Field field, const BinaryValue& value, TimeMs& time) const;
  bool ReadText(Field field, std::string_view& text);
  bool ReadKind(Event& event);
  bool ReadUser(Event& event);
  Attributes ReadAttributes();
  bool ReadItems(Event& event);
  bool ReadDetails(Event& event);
  bool ReadItemDetails(const BinaryValue* position, const BinaryValue* created_at,
                       ItemDetails& details) const;
  Scalar ScalarOf(const BinaryValue& value);

  using Digits = std::array<char, 20>;
  std::string_view DigitsOf(const BinaryValue& value);

  std::shared_ptr<const EventPlan> plan_;
  EventBuffers* buffers_ = nullptr;
  std::array<BinaryValue, kSlots> values_, item_values_;
  uint32_t present_ = 0, item_present_ = 0;
  bool has_items_ = false;
  std::array<Scalar, kSlots> scalars_;
  static constexpr size_t kBlock = 64;
  std::vector<std::unique_ptr<std::array<Digits, kBlock>>> digits_;  // the text of integers; stays in place
  size_t digits_used_ = 0;
};

}  // namespace seen
