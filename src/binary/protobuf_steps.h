#pragma once
// The short way: what a plan asks of events of one message, as steps by field number. Room binary only.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "binary/place_tree.h"
#include "binary/protobuf_cursor.h"
#include "binary/protobuf_schema.h"
#include "decode/slot_event.h"

namespace seen {

/// Immutable once made, as long as the schema is there.
struct ProtobufSteps {
  /// How to read the field's value.
  enum class Take : uint8_t {
    kInt32,
    kInt64,
    kUint32,
    kUint64,
    kSint32,
    kSint64,
    kFixed32,
    kFixed64,
    kSfixed32,
    kSfixed64,
    kBool,
    kEnum,
    kFloat,
    kDouble,
    kText,       // string and bytes
    kTimestamp,  // a message
    kWrapper,    // a message with the value in field 1
    kMessage,
    kSkip,
    kLongWay,  // the event needs the long way
  };
  struct Step {
    uint32_t number = 0;  // the field's
    Take take = Take::kLongWay;
    Take wrapped = Take::kLongWay;   // the value of kWrapper
    bool is_items = false;           // each value is an element of `items`
    bool default_is_absent = false;  // a field without presence
    uint8_t once = 0;    // a second one with this number needs the long way; 0: the last one counts
    uint16_t child = 0;  // of kMessage: in messages; of kEnum: in enums
    uint32_t slots = 0;  // a bit per slot
  };
  /// The value of a field without presence that doesn't come.
  struct Default {
    uint32_t slots = 0;
    BinaryValue value;
  };
  /// What the usual fields need, by their tag of one byte: the field's number and wire type.
  struct Quick {
    enum class Do : uint8_t {
      kStep,  // there is more to it: the field's step
      kSkipVarint,
      kSkipBytes,
      kTakeText,
      kTakeNumber,
      kTakeTextItem,
    };
    Do what = Do::kStep;
    uint8_t slot = 0;  // of the event
    bool default_is_absent = false;
  };
  struct Message {
    static constexpr uint8_t kQuickEnd = 128;
    std::array<Quick, kQuickEnd> quick;  // by tag
    std::vector<Step> steps;             // by number
    std::vector<Default> defaults;

    const Step* Find(uint32_t number) const;
  };
  struct EnumName {
    int32_t number;
    std::string_view name;
  };

  static ProtobufSteps Make(const ProtobufSchema& schema, const PlaceTree& places);

  std::vector<Message> messages;             // the event's first
  std::vector<std::vector<EnumName>> enums;  // each by number
};

/// Runs the steps over payloads. One per thread; `steps` outlive it.
class ProtobufShortWay {
 public:
  ProtobufShortWay(const ProtobufSteps& steps, std::shared_ptr<const EventPlan> plan)
      : steps_(steps), is_for_plan_(SlotEvent::IsFor(*plan)), event_(std::move(plan)) {}

  /// As BinaryReader::Read. It doesn't look into values that it skips.
  bool Read(std::string_view payload, EventBuffers& buffers, Event& event);

 private:
  using Step = ProtobufSteps::Step;
  using Take = ProtobufSteps::Take;

  bool Run(const ProtobufSteps::Message& message, std::string_view bytes, bool of_item);
  bool TakeAny(const ProtobufSteps::Message& message, bool of_item, uint64_t& once, ProtobufCursor& cursor);
  bool TakeField(const Step& step, uint32_t wire, bool of_item, ProtobufCursor& cursor);
  bool TakeItem(const Step& step, uint32_t wire, ProtobufCursor& cursor);
  bool TakePackedItems(const Step& step, std::string_view bytes);
  bool ReadValue(Take take, const Step& step, uint32_t wire, ProtobufCursor& cursor,
                 BinaryValue& value) const;
  bool ReadWrapped(const Step& step, std::string_view bytes, BinaryValue& value) const;
  void Put(uint32_t slots, bool of_item, const BinaryValue& value);

  const ProtobufSteps& steps_;
  const bool is_for_plan_;
  SlotEvent event_;
};

}  // namespace seen
