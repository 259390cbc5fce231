#pragma once
// A prepared event format: which names and pointers to look for, and what to do with their values.

#include <array>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "decode/event_format.h"
#include "decode/pointer_tree.h"

namespace seen {

/// What is wrong with a format. `path`: the key in the configuration, such as "input.fields.items" or
/// "filters[2].when".
struct FormatError {
  std::string path;
  std::string message;
};

/// One for all threads: immutable. Its members are for room decode.
struct EventPlan {
  static tl::expected<std::shared_ptr<const EventPlan>, FormatError> Make(const EventFormat& format);
  /// The plan of the default format, with nothing wanted.
  static const std::shared_ptr<const EventPlan>& Default();

  // Field f has slot f, attributes follow, then the further pointers of the user. An element of `items` has
  // slots of its own.
  static constexpr size_t kUserSlots = kFields + EventFormat::kAttributesMax;
  static_assert(kUserSlots + FieldRule::kPointersMax - 1 <= kSlots);

  struct FieldPlan {
    bool mapped = false;  // the format has a rule for it; then more notations are accepted
    TimeUnit unit = TimeUnit::kMilliseconds;
    std::string pointer;  // if mapped, or if `items` is and this is a field of its elements
    std::string path;     // for messages: "user_id", "user_id (/data/uid)"
  };
  const FieldPlan& operator[](Field field) const { return fields[static_cast<size_t>(field)]; }

  std::array<FieldPlan, kFields> fields;
  Wanted wanted;                      // as configured, and what coverage needs
  bool extras = false;                // anything beyond kind, user, items and a time in milliseconds
  bool details = false;               // position or creation time of each item
  bool items_only = false;            // every event is a batch
  bool elements_may_be_text = false;  // an element of `items` may be a string that holds an object
  bool lenient = false;
  bool items_skip_invalid = false;
  bool framed = false;                   // as EventFormat
  std::shared_ptr<BinaryFormat> binary;  // likewise
  bool chooses_user = false;             // several pointers, or ids that are no user's

  std::vector<uint8_t> user_slots;  // in the order in which they are tried
  NameTable ids_ignored;

  // For readers of events that aren't JSON: the places of all slots, in the event and in an element of
  // `items`.
  struct Place {
    std::vector<std::string> steps;
    uint8_t slot;
  };
  std::vector<Place> event_places, element_places;

  // For the long way.
  PointerTree event_pointers;
  PointerTree element_pointers;          // in an element of `items`
  std::vector<std::string> items_steps;  // from the first "*" to the arrays of items; "*": each element
  std::vector<NumberedCondition> items_only_if;  // by slots of element_pointers
  uint32_t condition_slots = 0;

  // For the short way; unused if not `plain`.
  bool plain = true;
  NameTable event_names;
  NameTable element_names;

  KindTable kinds;
  std::vector<NumberedCondition> only_if;
  CoverageTable coverage;

  // For events that this program writes (own_event.h); null: this plan reads them.
  std::shared_ptr<const EventPlan> own;
};

}  // namespace seen
