#pragma once
// What is asked about: candidates, and the ids that count as seen besides a snapshot.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
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

namespace internal {

/// The one spelling of an id: an integer's is its decimal string. Points into the id, or to itself.
class IdText {
 public:
  explicit IdText(std::string_view id) : text_(id) {}
  explicit IdText(const Candidate& candidate) : text_(candidate.id) {}
  template <typename Integer, std::enable_if_t<kIsInteger<Integer>, int> = 0>
  explicit IdText(Integer id) {
    const auto end = std::to_chars(digits_, digits_ + sizeof(digits_), id).ptr;
    text_ = std::string_view(digits_, static_cast<std::size_t>(end - digits_));
  }
  IdText(const IdText&) = delete;
  IdText& operator=(const IdText&) = delete;
  std::string_view text() const { return text_; }

 private:
  char digits_[24];
  std::string_view text_;
};

}  // namespace internal

/// Ids that count as seen besides the snapshot, such as those of this request's earlier pages: events that
/// are under way. Goes by ids: another one of the same fingerprint doesn't count. Look-ups from any thread
/// while none adds.
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
    const internal::IdText text(id);
    const Fingerprint fingerprint = FingerprintOf(id);
    if (!Holds(fingerprint, text.text()))
      ids_.emplace(static_cast<std::uint32_t>(fingerprint), std::string(text.text()));
  }
  template <typename Id>
  bool Contains(const Id& id) const {
    return Contains(FingerprintOf(id), id);
  }
  /// `fingerprint` is that of `id`.
  template <typename Id>
  bool Contains(Fingerprint fingerprint, const Id& id) const {
    return !ids_.empty() && Holds(fingerprint, internal::IdText(id).text());
  }
  bool empty() const { return ids_.empty(); }
  std::size_t size() const { return ids_.size(); }

  /// Calls `visit(fingerprint)` for each id.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [fingerprint, id] : ids_) visit(static_cast<Fingerprint>(fingerprint));
  }

 private:
  bool Holds(Fingerprint fingerprint, std::string_view id) const {
    const auto [first, last] = ids_.equal_range(static_cast<std::uint32_t>(fingerprint));
    return std::any_of(first, last, [id](const auto& entry) { return entry.second == id; });
  }

  std::unordered_multimap<std::uint32_t, std::string> ids_;  // by their fingerprints
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
