#include "owner/output_guard.h"

#include <algorithm>
#include <utility>

namespace seen {
namespace {
constexpr size_t kRangesMax = 1024;  // more are merged
}  // namespace

void OutputGuard::Own(int32_t partition) {
  const MutexLock lock(mutex_);
  NoteFloors(partition);
  auto& known = owned_[partition];
  known.clear();
  for (const auto& [place, floor] : floors_) {
    if (place.partition == partition) known[place.filter].floor = floor;
  }
  unverified_.insert(partition);
  floors_unknown_.insert(partition);
}

std::vector<int32_t> OutputGuard::TakeUnverified() {
  const MutexLock lock(mutex_);
  const auto taken = std::exchange(unverified_, {});
  return {taken.begin(), taken.end()};
}

void OutputGuard::PutBackUnverified(int32_t partition) {
  const MutexLock lock(mutex_);
  if (owned_.contains(partition)) unverified_.insert(partition);
}

void OutputGuard::LookBack(const OutputPlace& place, int64_t from, int64_t to) {
  const MutexLock lock(mutex_);
  const auto owned = owned_.find(place.partition);
  if (owned == owned_.end()) return;
  Known& known = owned->second[place.filter];
  if (known.next < 0 && to >= known.floor) WatchFrom(to, known);  // else AtEnd finds out whether it was cut
  if (known.first >= 0) to = std::min(to, known.first);
  if (from < to) AddForeign({place, from, to, false});
}

void OutputGuard::Disown(int32_t partition) {
  const MutexLock lock(mutex_);
  NoteFloors(partition);
  owned_.erase(partition);
  unverified_.erase(partition);
  floors_unknown_.erase(partition);
  std::erase_if(foreign_, [&](const Range& range) { return range.place.partition == partition; });
}

void OutputGuard::RaiseFloor(const OutputPlace& place, int64_t floor) {
  const MutexLock lock(mutex_);
  const auto owned = owned_.find(place.partition);
  if (owned == owned_.end()) return;
  Known& known = owned->second[place.filter];
  if (known.next >= floor) return;
  known.floor = std::max(known.floor, floor);
  known.next = known.first = -1;
}

void OutputGuard::FloorsKnown(int32_t partition) {
  const MutexLock lock(mutex_);
  floors_unknown_.erase(partition);
}

bool OutputGuard::KnowsFloors(int32_t partition) const {
  const MutexLock lock(mutex_);
  return owned_.contains(partition) && !floors_unknown_.contains(partition);
}

void OutputGuard::NoteFloors(int32_t partition) {
  const auto owned = owned_.find(partition);
  if (owned == owned_.end()) return;
  for (const auto& [filter, known] : owned->second)
    floors_[{filter, partition}] = std::max(known.next, known.floor);
}

std::vector<int32_t> OutputGuard::Owned() const {
  const MutexLock lock(mutex_);
  std::vector<int32_t> partitions;
  partitions.reserve(owned_.size());
  for (const auto& [partition, known] : owned_) partitions.push_back(partition);
  return partitions;
}

void OutputGuard::OnDelivered(std::span<const Delivered> delivered) {
  const MutexLock lock(mutex_);
  for (const auto& [place, offset] : delivered) {
    const auto owned = owned_.find(place.partition);
    if (owned == owned_.end()) {  // it was sent before the partition was lost
      int64_t& floor = floors_.try_emplace(place, -1).first->second;
      floor = std::max(floor, offset + 1);
      continue;
    }
    Known& known = owned->second[place.filter];
    if (offset < std::max(known.last_own, known.floor)) Cut(place, known);
    known.last_own = offset;
    if (known.next < 0) WatchFrom(offset, known);
    if (offset > known.next) AddForeign({place, known.next, offset});
    known.next = std::max(known.next, offset + 1);
  }
}

std::map<OutputPlace, int64_t> OutputGuard::Expected() const {
  const MutexLock lock(mutex_);
  std::map<OutputPlace, int64_t> expected;
  for (const auto& [partition, filters] : owned_) {
    for (const auto& [filter, known] : filters) {
      if (known.next >= 0) expected[{filter, partition}] = known.next;
    }
  }
  return expected;
}

std::optional<int64_t> OutputGuard::EndOf(const OutputPlace& place) const {
  const MutexLock lock(mutex_);
  const auto owned = owned_.find(place.partition);
  if (owned == owned_.end() || cut_.contains(place)) return std::nullopt;
  const auto known = owned->second.find(place.filter);
  if (known == owned->second.end()) return std::nullopt;
  // At least the former owner's word, so that the next one can still find out whether the place was cut.
  if (floors_unknown_.contains(place.partition)) {
    const Known& of = known->second;
    if (of.floor < 0) return std::nullopt;
    return std::max({of.floor, of.next, of.suspected, of.last_own + 1});
  }
  if (known->second.next < 0 || known->second.seems_cut) return std::nullopt;
  return std::max(known->second.next, known->second.suspected);
}

void OutputGuard::AtEnd(const OutputPlace& place, std::optional<int64_t> expected, int64_t end) {
  const MutexLock lock(mutex_);
  const auto owned = owned_.find(place.partition);
  if (owned == owned_.end()) return;
  Known& known = owned->second[place.filter];
  if (known.next < 0) {
    // Others may have written meanwhile, but the log doesn't get shorter by that.
    const bool was_cut = end < known.floor;
    if (std::exchange(known.seems_cut, was_cut) && was_cut) Cut(place, known);
    if (!was_cut || known.floor < 0) WatchFrom(end, known);
    return;
  }
  // A new leader may not know its end yet, so it is asked once more.
  const bool is_cut = expected && end < *expected;
  if (std::exchange(known.seems_cut, is_cut) && is_cut) {
    Cut(place, known);
    WatchFrom(end, known);
    return;
  }
  if (known.suspected > known.next) {
    AddForeign({place, known.next, known.suspected});
    known.next = known.suspected;
  }
  known.suspected = end;
}

std::vector<OutputGuard::Range> OutputGuard::TakeForeign() {
  const MutexLock lock(mutex_);
  return std::exchange(foreign_, {});
}

void OutputGuard::PutBack(const Range& range) {
  const MutexLock lock(mutex_);
  if (owned_.contains(range.place.partition)) AddForeign(range);
}

std::vector<OutputPlace> OutputGuard::TakeCut() {
  const MutexLock lock(mutex_);
  std::vector<OutputPlace> taken;
  std::erase_if(cut_, [&](const OutputPlace& place) REQUIRES(mutex_) {
    const bool owned = owned_.contains(place.partition);
    if (owned) taken.push_back(place);
    return owned;
  });
  return taken;
}

void OutputGuard::PutBackCut(const OutputPlace& place) {
  const MutexLock lock(mutex_);
  cut_.insert(place);
}

void OutputGuard::WatchFrom(int64_t offset, Known& known) { known.next = known.first = offset; }

// If there are many ranges, merged ones include a few of this process's own records. Their users are
// published once more.
void OutputGuard::AddForeign(const Range& range) {
  const auto same = std::find_if(foreign_.rbegin(), foreign_.rend(),
                                 [&](const Range& other) { return other.place == range.place; });
  const bool touches = same != foreign_.rend() && range.from <= same->to && same->from <= range.to;
  if (same != foreign_.rend() && (touches || foreign_.size() >= kRangesMax)) {
    same->from = std::min(same->from, range.from);
    same->to = std::max(same->to, range.to);
    same->is_foreign = same->is_foreign || range.is_foreign;
  } else {
    foreign_.push_back(range);
  }
}

void OutputGuard::Cut(const OutputPlace& place, Known& known) {
  known = {};
  cut_.insert(place);
}

}  // namespace seen
