#pragma once
// What a segment of a delta holds, and over which stretch of time. Numbers are part of the format:
// schemas/store.md, "Delta encoding".

#include <cstddef>
#include <cstdint>

namespace seen {

/// Numbers from kDeclaredKindFirst on are kinds that the configuration declares ("clicked").
enum class SegmentKind : uint8_t {
  kExposed = 0,     // shown, by UTC day
  kServed = 1,      // returned by the recommender, by stretches of width_s; counts for six widths more
  kRepeated = 2,    // shown, by UTC day, with the second of each time
  kByCreation = 3,  // shown, by the UTC day the item was created, with the newest day it was shown
  kResolving = 4,   // shown, by stretches of width_s, with the partition time at which it was read
  kSimilar = 5,     // similar to a shown item: near and group fingerprints, by the UTC day of the showing
};

inline constexpr uint8_t kDeclaredKindFirst = 16;
inline constexpr size_t kDeclaredKindsMax = 16;

inline constexpr uint32_t kDayWidth = 86'400;
inline constexpr uint32_t kServedWidths = 6;       // a served segment counts so many widths past its end
inline constexpr uint32_t kRepeatsMax = 64;        // of an item on one day; the newest are kept
inline constexpr uint32_t kSimilarPerItem = 8;     // limits of kind 5 are this many times the limits on items
inline constexpr uint32_t kPackedDayMax = 65'535;  // of kind 3

/// The limit on similar fingerprints that belongs to a limit on items.
constexpr uint32_t TimesSimilar(uint32_t items) {
  return items > UINT32_MAX / kSimilarPerItem ? UINT32_MAX : items * kSimilarPerItem;
}
constexpr bool IsDeclared(SegmentKind kind) { return static_cast<uint8_t>(kind) >= kDeclaredKindFirst; }
constexpr size_t DeclaredPlace(SegmentKind kind) { return static_cast<uint8_t>(kind) - kDeclaredKindFirst; }
/// Whether the kind has a width of its own. All others use days.
constexpr bool HasWidth(SegmentKind kind) {
  return kind == SegmentKind::kServed || kind == SegmentKind::kResolving;
}
/// Whether the kind keeps a value beside each fingerprint.
constexpr bool IsTimed(SegmentKind kind) {
  return kind == SegmentKind::kRepeated || kind == SegmentKind::kByCreation ||
         kind == SegmentKind::kResolving;
}
constexpr bool IsSegmentKind(uint8_t number) {
  return number <= static_cast<uint8_t>(SegmentKind::kSimilar) ||
         (number >= kDeclaredKindFirst && number < kDeclaredKindFirst + kDeclaredKindsMax);
}

}  // namespace seen
