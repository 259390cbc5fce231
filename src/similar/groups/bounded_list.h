#pragma once
// A list of at most kMax entries, in memory that is allocated once. It clears nothing, and doesn't check for
// room at each entry. Not copyable.

#include <algorithm>
#include <cstddef>
#include <memory>

namespace seen {

template <typename Entry, size_t kMax>
class BoundedList {
 public:
  size_t size() const { return size_; }
  void clear() { size_ = 0; }
  /// There must be space.
  void push_back(const Entry& entry) { entries_[size_++] = entry; }
  const Entry& operator[](size_t i) const { return entries_[i]; }
  Entry* begin() { return entries_.get(); }
  Entry* end() { return entries_.get() + size_; }
  const Entry* begin() const { return entries_.get(); }
  const Entry* end() const { return entries_.get() + size_; }
  template <typename Condition>
  void erase_if(Condition condition) {
    size_ = static_cast<size_t>(std::remove_if(begin(), end(), condition) - begin());
  }

 private:
  std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(kMax);
  size_t size_ = 0;
};

}  // namespace seen
