#pragma once
// The short way for the events nearly every front end sends: one flat object (and `items` in it), strings
// without escapes, integers of at most 18 digits, no known name twice. What it accepts it has validated to
// the last byte, with the same result as the long way through a JSON document; everything else, right or
// wrong, it leaves to that.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace seen {

/// The names met in the last object, in order, each as it stood: from the brace or comma before it to the
/// colon. A producer writes all its events alike, and comparing is quicker than scanning: the cursor needn't
/// wait.
struct PlainShape {
  static constexpr size_t kNamesMax = 16;
  static constexpr size_t kBytesMax = 16;
  struct Name {
    std::array<char, kBytesMax> text{};
    uint16_t equal_mask = 0;  // a bit a byte of `text` in use
    uint8_t bytes = 0;        // 0: none
    uint8_t member = 0;
  };
  std::array<Name, kNamesMax> names{};
};

/// One per thread.
class PlainEventReader {
 public:
  /// The event, its views into `payload` and `items` (overwritten; grows, never shrinks). nullopt: not so
  /// plain; nothing is said about the payload. One pass, no allocation once `items` is large enough.
  std::optional<Event> Read(std::string_view payload, std::vector<ExposedItem>& items);

 private:
  PlainShape event_;
  PlainShape item_;
};

}  // namespace seen
