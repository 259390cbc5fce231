#pragma once
// A set of users, contiguous in memory. Not thread-safe.

#include <span>
#include <vector>

#include "base/tag_index.h"
#include "flow/store_port.h"

namespace seen {

/// The tag of a user in a TagIndex. User keys are hashes, so their bits make a good tag.
inline uint32_t TagOf(const UserRef& ref) {
  return static_cast<uint32_t>(ref.user.low) ^ static_cast<uint32_t>(ref.filter.number() * 0x9e3779b1u);
}

class UserRefSet {
 public:
  bool contains(const UserRef& ref) const { return Find(ref) != TagIndex::kNone; }
  bool empty() const { return refs_.empty(); }
  size_t size() const { return refs_.size(); }
  /// In no order; valid until the next change.
  std::span<const UserRef> refs() const { return refs_; }

  void insert(const UserRef& ref) {
    if (contains(ref)) return;
    index_.Insert(TagOf(ref), static_cast<uint32_t>(refs_.size()));
    refs_.push_back(ref);
  }
  /// Whether it was there.
  bool erase(const UserRef& ref) {
    const uint32_t at = Find(ref);
    if (at == TagIndex::kNone) return false;
    const auto last = static_cast<uint32_t>(refs_.size() - 1);
    index_.Remove(TagOf(ref), at);
    if (at != last) {  // the last moves into the gap
      index_.Remove(TagOf(refs_[last]), last);
      refs_[at] = refs_[last];
      index_.Insert(TagOf(refs_[at]), at);
    }
    refs_.pop_back();
    return true;
  }

 private:
  uint32_t Find(const UserRef& ref) const {
    return index_.Find(TagOf(ref), [&](uint32_t number) { return refs_[number] == ref; });
  }

  TagIndex index_;
  std::vector<UserRef> refs_;
};

}  // namespace seen
