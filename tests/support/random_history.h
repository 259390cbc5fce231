#pragma once
// Random histories of one user, with few items, few days and many collisions. So every rule takes effect.

#include <cstdint>
#include <random>
#include <vector>

#include "model/change.h"

namespace seen::test {

struct HistoryShape {
  uint32_t items = 12;
  uint32_t days = 5;
  uint32_t first_day = 20'000;
  uint32_t removed_percent = 15;
  uint32_t erased_percent = 3;
  uint32_t others_percent = 0;  // served, by creation, resolving, similar, and two declared kinds
  uint32_t seconds = 86'400;    // how many different seconds of a day occur
};

/// Adds one event, which is mostly one change.
inline void AddRandomChange(std::mt19937_64& random, const HistoryShape& shape,
                            std::vector<Change>& history) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  constexpr auto kSeconds = static_cast<uint32_t>(kSecondsPerDay);
  Change change;
  // Spread over the 32 bits, so that Rice gaps of every size occur.
  change.fingerprint = {below(shape.items) * 0x9e3779b1u};
  const uint32_t day = shape.first_day + below(shape.days);
  change.second = day * kSeconds + below(shape.seconds) * (kSeconds / shape.seconds);
  const uint32_t dice = below(100);
  if (dice < shape.erased_percent) {
    change.kind = ChangeKind::kErased;
  } else if (dice < shape.erased_percent + shape.removed_percent) {
    change.kind = ChangeKind::kRemoved;
  } else if (dice < shape.erased_percent + shape.removed_percent + shape.others_percent) {
    switch (below(7)) {
      case 0:
      case 1:
        change.kind = ChangeKind::kServed;
        break;
      case 2:
        change.kind = ChangeKind::kExposedOfCreation;
        change.second = PackDays(shape.first_day + below(shape.days), day);
        break;
      case 3: {
        const uint32_t partition = change.second + below(2'000'000) - 1'000'000;
        for (const Change& one : ResolvingChanges(change.fingerprint, change.second, partition)) {
          history.push_back(one);
        }
        return;
      }
      case 4:
        change.kind = ChangeKind::kSimilar;
        break;
      default:
        change.kind = static_cast<ChangeKind>(kDeclaredKindFirst + (below(2) == 0 ? 0 : 15));
    }
  }
  history.push_back(change);
}

/// The number of changes in the event that begins at `at`. These changes must stay together.
inline size_t LengthAt(const std::vector<Change>& history, size_t at) {
  return history[at].kind == ChangeKind::kResolving ? 2 : 1;
}

/// A history of `length` events.
inline std::vector<Change> RandomHistory(std::mt19937_64& random, size_t length, const HistoryShape& shape) {
  std::vector<Change> history;
  for (size_t i = 0; i < length; ++i) AddRandomChange(random, shape, history);
  return history;
}

}  // namespace seen::test
