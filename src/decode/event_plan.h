#pragma once
// An event format made ready: which names and pointers are looked for, and what becomes of their values.

#include <array>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "decode/event_format.h"
#include "decode/pointer_tree.h"

namespace seen {

/// What is wrong with a format. `path` as in the configuration: "input.fields.items", "filters[2].when".
struct FormatError {
  std::string path;
  std::string message;
};

/// One for all threads: immutable. Its members are for room decode.
struct EventPlan {
  static tl::expected<std::shared_ptr<const EventPlan>, FormatError> Make(const EventFormat& format);
  /// Of the default format, with nothing wanted.
  static const std::shared_ptr<const EventPlan>& Default();

  // Field f has slot f, attributes follow.
  static_assert(kFields + EventFormat::kAttributesMax <= kSlots);

  struct FieldPlan {
    bool mapped = false;  // where the format says; then it may be written in more ways
    TimeUnit unit = TimeUnit::kMilliseconds;
    std::string pointer;  // if mapped, or if `items` are and it stands in their elements
    std::string path;     // for messages: "user_id", "user_id (/data/uid)"
  };
  const FieldPlan& operator[](Field field) const { return fields[static_cast<size_t>(field)]; }

  std::array<FieldPlan, kFields> fields;
  Wanted wanted;            // and what coverage needs
  bool extras = false;      // anything beyond kind, user, items and a time in milliseconds
  bool details = false;     // position or creation time of each item
  bool items_only = false;  // every event is a batch

  // The long way.
  PointerTree event_pointers;
  PointerTree element_pointers;          // in an element of `items`
  std::vector<std::string> items_steps;  // from the array met first to the arrays of items; "*": each
  uint32_t condition_slots = 0;

  // The short way; of no use if not `plain`.
  bool plain = true;
  NameTable event_names;
  NameTable element_names;

  KindTable kinds;
  std::vector<NumberedCondition> only_if;
  CoverageTable coverage;

  // For events of this program's own making (own_event.h); null: `this` reads them.
  std::shared_ptr<const EventPlan> own;
};

}  // namespace seen
