#pragma once
// The short way, for the events that nearly every front end sends. Such an event is one flat object, which
// may have `items`. Its strings have no escapes, its integers have at most 18 digits, and no known name is
// there twice. Values that aren't read may be nested. The short way validates each event that it accepts to
// the last byte. Its result is the same as that of the long way through a JSON document. All other events,
// valid or not, are left to the long way.

#include <array>
#include <memory>
#include <string_view>

#include "decode/coverage.h"
#include "decode/document_event.h"
#include "decode/event_plan.h"

namespace seen {

/// The names of the last object, in order, each as it was written: from the brace or comma before it to the
/// colon. A producer writes all of its events alike. Comparing is faster than scanning, because the cursor
/// needn't wait.
struct PlainShape {
  static constexpr size_t kNamesMax = 16;
  static constexpr size_t kBytesMax = 16;
  struct Name {
    std::array<char, kBytesMax> text{};
    uint16_t equal_mask = 0;  // a bit for each byte of `text` in use
    uint8_t bytes = 0;        // 0: none
    uint32_t slot_bit = 0;    // 0: a name that isn't read
  };
  std::array<Name, kNamesMax> names{};
};

/// One per thread. For plans that are `plain` only.
class PlainEventReader {
 public:
  explicit PlainEventReader(std::shared_ptr<const EventPlan> plan)
      : plan_(std::move(plan)),
        extent_(plan_->details  ? Extent::kDetails
                : plan_->extras ? Extent::kExtras
                                : Extent::kBasics) {}

  /// Reads the event, whose views point into `payload` and `buffers`. False: the payload isn't plain, which
  /// says nothing about its validity; `event` means nothing. One pass, no allocation once the buffers are
  /// large enough.
  bool Read(std::string_view payload, EventBuffers& buffers, Event& event);

 private:
  enum class Extent { kBasics, kExtras, kDetails };
  template <Extent kExtent>
  bool ReadAs(std::string_view payload, EventBuffers& buffers, Event& event);
  bool ReadKind(const Scalar& value, Event& event) const;
  bool ReadExtras(uint32_t present, Event& event) const;
  bool ReadUser(uint32_t present, Event& event) const;
  bool ReadDetails(uint32_t present, EventBuffers& buffers, Event& event) const;

  const Scalar& ValueOf(Field field) const { return values_[static_cast<size_t>(field)]; }

  std::shared_ptr<const EventPlan> plan_;
  Extent extent_;
  PlainShape event_;
  PlainShape item_;
  std::array<Scalar, kSlots> values_;  // of the slots that are present
};

}  // namespace seen
