#pragma once
// The short way: what a plan asks of events of one schema, as a list of steps. Room binary only.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "binary/avro_cursor.h"
#include "binary/avro_reading.h"
#include "decode/event_plan.h"
#include "decode/slot_event.h"

namespace seen {

/// Immutable once made, as long as the reading and the plan are there.
struct AvroSteps {
  static constexpr size_t kStepsMax = 100'000;

  /// What a step does. `a` and `b` are its numbers.
  enum class Do : uint8_t {
    kSkip,        // `a` bytes
    kSkipLong,    // an int, a long or an enum; `b`: as of kTake
    kSkipBytes,   // bytes or a string, with its length; `b`: as of kTake
    kSkipBlocks,  // an array of elements of `a` bytes each
    kBlocks,    // the next block of an array or a map; at its end go to `a`. `b` 1: nobody needs the elements
    kNext,      // the next element begins at `a`, or the next block at `b`
    kTake,      // the value `takes[a]`, perhaps of a union with null, whose branch is `b`; else kNoUnion
    kTakeText,  // likewise a string or bytes, for one slot of the event, `a`
    kTakeNumber,  // likewise a long that is a number
    kTakeTime,    // likewise a long that is a time in milliseconds
    kTakeOther,   // a value with parts, into the slots of the set `a`; `b` 1: of an element of items
    kTakeItems,   // an array of values `takes[a]`
    kTakeTexts,   // items: an array of strings or bytes
    kBranch,      // a union of `b` types: go to `branches[a + type]`
    kGo,          // to `a`
    kCall,        // the steps from `a` on, until kReturn
    kReturn,
    kBeginItems,
    kBeginItem,
    kEndItem,
    kBeginDefault,  // from here on, values are those of `defaults[a]`
    kEndDefault,
    kLongWay,  // the event needs the long way
    kEnd,
  };
  static constexpr uint32_t kNoUnion = 2;
  struct Step {
    Do what = Do::kEnd;
    uint32_t a = 0;
    uint32_t b = 0;
  };
  enum class For : uint8_t { kEvent, kItem, kItemItself };
  struct Value {
    AvroType type = AvroType::kNull;
    AvroLogical logical = AvroLogical::kNone;
    bool is_fraction = false;  // the reader's schema shows an integer as a fraction
    For part = For::kEvent;
    uint32_t slots = 0;                       // a bit per slot
    const AvroReading::Node* node = nullptr;  // for the symbols of an enum, and the size of a fixed
  };

  /// Without steps if the plan or the schema is too much for the short way.
  static AvroSteps Make(const AvroReading& reading, const EventPlan& plan);

  std::vector<Step> steps;
  std::vector<Value> takes;
  std::vector<uint32_t> branches;
  std::vector<std::string_view> defaults;
};

/// Runs the steps over payloads. One per thread.
class AvroShortWay {
 public:
  AvroShortWay(const AvroSteps& steps, std::shared_ptr<const EventPlan> plan)
      : steps_(steps), event_(std::move(plan)) {}

  /// As BinaryReader::Read. It doesn't look into values that it skips.
  bool Read(std::string_view payload, EventBuffers& buffers, Event& event);

 private:
  struct Frame {
    uint64_t left = 0;   // elements of the block, with the present one; of a call: where it returns to
    int64_t bytes = -1;  // of the block, if it says so
    size_t from = 0;     // bytes left in the payload where the block began
  };
  bool Run(std::string_view payload);
  bool Take(const AvroSteps::Value& asked, AvroCursor& cursor);
  template <typename TakeItem>
  bool TakeItems(AvroCursor& cursor, const TakeItem& take_item);
  bool TakeOther(const AvroSteps::Value& asked, AvroCursor& cursor);
  bool TakeValue(const AvroSteps::Value& asked, AvroCursor& cursor, BinaryValue& value);
  std::string_view UuidOf(std::string_view bytes);

  const AvroSteps& steps_;
  SlotEvent event_;
  std::array<Frame, AvroSchema::kDepthMax> frames_;
  using Uuid = std::array<char, 36>;
  static constexpr size_t kUuidsInBlock = 64;
  std::vector<std::unique_ptr<std::array<Uuid, kUuidsInBlock>>> uuids_;  // stays in place
  size_t uuids_used_ = 0;
};

}  // namespace seen
