#pragma once
// Resolves many pointers in one pass over a document. Room decode only.

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decode/json_document.h"
#include "decode/name_table.h"

namespace seen {

/// The values found in an event are in slots: a field's slot (see Field), or an attribute's from kFields on.
inline constexpr size_t kSlots = 32;
inline constexpr uint32_t SlotBit(size_t slot) { return uint32_t{1} << slot; }

struct FoundElements {
  std::array<simdjson::dom::element, kSlots> values;
  uint32_t present = 0;               // a bit per slot: its value was found
  NestedDocuments* nested = nullptr;  // nullptr: no pointer steps into a string that holds JSON

  bool Has(size_t slot) const { return ((present >> slot) & 1) != 0; }
};

class PointerTree {
 public:
  /// `steps`: names, or indexes where the document has an array. Several slots may share a pointer.
  void Add(std::span<const std::string> steps, uint8_t slot) { root_.Add(steps, slot); }

  /// If a member is there twice, the last one counts, with everything in it. A pointer may step into a string
  /// that holds JSON, to a depth of kStringsMax. O(members on the way).
  void Resolve(simdjson::dom::object event, FoundElements& found) const {
    found.present = 0;
    root_.VisitMembers(event, found, 0);
  }

 private:
  struct Node {
    NameTable names;  // -> index of a child
    std::vector<Node> children;
    std::vector<size_t> indexes;  // of each child, for arrays
    std::vector<uint8_t> leaves;  // of each child: its only slot if nothing is below it, else kNone
    std::vector<uint8_t> slots;
    uint32_t slots_within = 0;  // its own and those below it

    void Add(std::span<const std::string> steps, uint8_t slot);
    void Visit(simdjson::dom::element element, FoundElements& found, size_t strings) const;
    void VisitWithin(simdjson::dom::element element, FoundElements& found, size_t strings) const;
    void VisitMembers(simdjson::dom::object object, FoundElements& found, size_t strings) const;
  };
  Node root_;
};

}  // namespace seen
