#pragma once
// The short way for the events nearly every front end sends: one flat object (and `items` in it), strings
// without escapes, integers of at most 18 digits, no known name twice; what nobody looks for may be nested.
// What it accepts it has validated to the last byte, with the same result as the long way through a JSON
// document; everything else, right or wrong, it leaves to that.

#include <array>
#include <memory>
#include <string_view>

#include "decode/event_buffers.h"
#include "decode/event_plan.h"
#include "decode/scalar.h"

namespace seen {

/// The names in the last object, in order, each as it stood: from the brace or comma before it to the
/// colon. A producer writes all its events alike, and comparing is quicker than scanning: the cursor needn't
/// wait.
struct PlainShape {
  static constexpr size_t kNamesMax = 16;
  static constexpr size_t kBytesMax = 16;
  struct Name {
    std::array<char, kBytesMax> text{};
    uint16_t equal_mask = 0;  // a bit a byte of `text` in use
    uint8_t bytes = 0;        // 0: none
    uint32_t slot_bit = 0;    // 0: a name nobody looks for
  };
  std::array<Name, kNamesMax> names{};
};

/// One per thread. Of use for plans that are `plain` only.
class PlainEventReader {
 public:
  explicit PlainEventReader(std::shared_ptr<const EventPlan> plan)
      : plan_(std::move(plan)),
        extent_(plan_->details  ? Extent::kDetails
                : plan_->extras ? Extent::kExtras
                                : Extent::kBasics) {}

  /// The event, its views into `payload` and `buffers`. False: not so plain; nothing is said about the
  /// payload, and `event` means nothing. One pass, no allocation once the buffers are large enough.
  bool Read(std::string_view payload, EventBuffers& buffers, Event& event);

 private:
  enum class Extent { kBasics, kExtras, kDetails };
  template <Extent kExtent>
  bool ReadAs(std::string_view payload, EventBuffers& buffers, Event& event);
  bool ReadKind(const Scalar& value, Event& event) const;
  bool ReadExtras(uint32_t present, Event& event) const;
  bool ReadDetails(uint32_t present, EventBuffers& buffers, Event& event) const;

  const Scalar& ValueOf(Field field) const { return values_[static_cast<size_t>(field)]; }

  std::shared_ptr<const EventPlan> plan_;
  Extent extent_;
  PlainShape event_;
  PlainShape item_;
  std::array<Scalar, kSlots> values_;  // of the slots that are present
};

}  // namespace seen
