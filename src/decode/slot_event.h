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

/// A value that isn't nested. Null values aren't taken at all.
struct BinaryValue {
  enum class Kind : uint8_t {
    kString,    // `text`, valid UTF-8
    kInteger,   // `integer`
    kUnsigned,  // `integer` holds the bits of an integer of 2^63 or more
    kTime,      // `integer` in ms since 1970, whatever the unit of the schema
    kFraction,  // `fraction`
    kBoolean,   // `integer` is 0 or 1
    kOther,     // bytes, a record, a list, a map
  };
  Kind kind = Kind::kOther;
  std::string_view text = {};
  int64_t integer = 0;
  double fraction = 0;
};

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
  /// False: the long way reads the event.
  bool Finish(Event& event);

 private:
  bool Has(Field field) const { return (present_ >> static_cast<size_t>(field) & 1) != 0; }
  const BinaryValue& ValueOf(Field field) const { return values_[static_cast<size_t>(field)]; }
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
