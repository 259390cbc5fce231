#pragma once
// What is asked about: candidates, and the ids that count as seen besides a snapshot.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "seen/hash.h"
#include "seen/time.h"

namespace seen::client {

/// A candidate that says when it could first be shown, or an earlier time; what that is good for: DayLimits.
struct Candidate {
  std::string_view id;
  TimeMs created_at{};  // 1970: not known
};

inline Fingerprint FingerprintOf(const Candidate& candidate) { return FingerprintOf(candidate.id); }

/// Ids that count as seen besides the snapshot, such as those of this request's earlier pages: events that
/// are under way. Keeps fingerprints, not ids. Look-ups from any thread while none adds.
class AlsoSeen {
 public:
  AlsoSeen() = default;
  AlsoSeen(std::initializer_list<std::string_view> ids) {
    for (const std::string_view id : ids) Add(id);
  }
  template <typename Ids>
  explicit AlsoSeen(const Ids& ids) {
    for (const auto& id : ids) Add(id);
  }

  template <typename Id>
  void Add(const Id& id) {
    fingerprints_.insert(static_cast<std::uint32_t>(FingerprintOf(id)));
  }
  bool Contains(Fingerprint fingerprint) const {
    return !fingerprints_.empty() && fingerprints_.count(static_cast<std::uint32_t>(fingerprint)) != 0;
  }
  bool empty() const { return fingerprints_.empty(); }
  std::size_t size() const { return fingerprints_.size(); }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const std::uint32_t fingerprint : fingerprints_) visit(static_cast<Fingerprint>(fingerprint));
  }

 private:
  std::unordered_set<std::uint32_t> fingerprints_;
};

namespace internal {

template <typename Id>
bool SameId(const Id& a, const Id& b) {
  return a == b;
}
inline bool SameId(const Candidate& a, const Candidate& b) { return a.id == b.id; }

/// The first of each id among items, in order, with its fingerprint.
struct Firsts {
  std::vector<std::uint32_t> items;
  std::vector<Fingerprint> fingerprints;
};

/// `on_item(n, i)`: item i has the id of the n-th of the firsts.
template <typename Items, typename OnItem>
Firsts FirstsOf(const Items& items, OnItem on_item) {
  constexpr std::uint32_t kFree = 0xffffffffU;
  Firsts firsts;
  firsts.items.reserve(items.size());
  firsts.fingerprints.reserve(items.size());
  std::size_t slots = 16;
  while (slots < 2 * items.size()) slots *= 2;
  std::vector<std::uint32_t> table(slots, kFree);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Fingerprint fingerprint = FingerprintOf(items[i]);
    std::size_t slot = static_cast<std::uint32_t>(fingerprint) & (slots - 1);
    for (; table[slot] != kFree; slot = (slot + 1) & (slots - 1)) {
      const std::uint32_t n = table[slot];
      if (firsts.fingerprints[n] == fingerprint && SameId(items[firsts.items[n]], items[i])) break;
    }
    if (table[slot] == kFree) {
      table[slot] = static_cast<std::uint32_t>(firsts.items.size());
      firsts.items.push_back(static_cast<std::uint32_t>(i));
      firsts.fingerprints.push_back(fingerprint);
    }
    on_item(table[slot], i);
  }
  return firsts;
}

}  // namespace internal
}  // namespace seen::client
