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
  Partition& owned = owned_[partition];
  owned = {};
  AwaitBeat(owned);
  for (auto& [place, log] : logs_) {
    if (place.partition == partition) log.cuts = 0;
  }
  for (const auto& [place, floor] : floors_) {
    if (place.partition == partition) owned.places[place.filter].floor = floor;
  }
  unverified_.insert(partition);
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
  Known* const found = KnownAt(place);
  if (found == nullptr) return;
  Known& known = *found;
  if (known.next < 0 && to >= known.floor) WatchFrom(to, known);  // else AtEnd finds out whether it was cut
  if (known.first >= 0) to = std::min(to, known.first);
  if (from < to) AddForeign({place, from, to, false});
}

void OutputGuard::Disown(int32_t partition) {
  const MutexLock lock(mutex_);
  NoteFloors(partition);
  owned_.erase(partition);
  unverified_.erase(partition);
  std::erase_if(foreign_, [&](const Range& range) { return range.place.partition == partition; });
}

void OutputGuard::RaiseFloor(const OutputPlace& place, int64_t floor) {
  const MutexLock lock(mutex_);
  Known* const known = KnownAt(place);
  if (known != nullptr) Raise(floor, *known);
}

void OutputGuard::Raise(int64_t floor, Known& known) {
  if (known.next >= floor) return;
  known.floor = std::max(known.floor, floor);
  known.next = known.first = -1;
}

// Until the partition is owned.
void OutputGuard::KeepFloor(const OutputPlace& place, int64_t floor) {
  int64_t& kept = floors_.try_emplace(place, -1).first->second;
  kept = std::max(kept, floor);
}

void OutputGuard::ContinueFormer(const OutputPlace& place, int64_t log, std::optional<int64_t> end) {
  const MutexLock lock(mutex_);
  Log& own = logs_[place];
  if (log > own.number - own.cuts) {
    own.number = log + own.cuts;
    if (own.cuts == 0) ForgetEnds(place);
  }
  if (own.cuts > 0 || !end) return;
  Known* const known = KnownAt(place);
  known != nullptr ? Raise(*end, *known) : KeepFloor(place, *end);
}

void OutputGuard::BeginLog(const OutputPlace& place, int64_t former_log) {
  const MutexLock lock(mutex_);
  Log& own = logs_[place];
  own.number = std::max(own.number, former_log) + 1;
  ForgetEnds(place);
}

void OutputGuard::ForgetEnds(const OutputPlace& place) {
  floors_.erase(place);
  const auto owned = owned_.find(place.partition);
  if (owned != owned_.end()) owned->second.places[place.filter] = {};
}

void OutputGuard::KnowFloors(int32_t partition, std::span<const int64_t> ends) {
  if (ends.empty()) return;
  for (FilterIndex i; i < ends.size(); i = FilterIndex(i + 1)) {
    if (ends[i] >= 0) RaiseFloor({i, partition}, ends[i]);
  }
  const MutexLock lock(mutex_);
  const auto owned = owned_.find(partition);
  if (owned != owned_.end()) owned->second.knows_floors = true;
}

bool OutputGuard::KnowsFloors(int32_t partition) const { return Ownership(partition) > 0; }

uint64_t OutputGuard::Ownership(int32_t partition) const {
  const MutexLock lock(mutex_);
  const Partition* const owned = Find(partition);
  return owned != nullptr && owned->knows_floors ? owned->ownership : 0;
}

void OutputGuard::BeatArrived(int32_t partition, uint64_t ownership) {
  const MutexLock lock(mutex_);
  const auto owned = owned_.find(partition);
  if (owned != owned_.end() && owned->second.ownership == ownership) owned->second.beat_arrived = true;
}

bool OutputGuard::MayWrite(int32_t partition) const {
  const MutexLock lock(mutex_);
  const Partition* const owned = Find(partition);
  return owned != nullptr && owned->beat_arrived;
}

int64_t OutputGuard::LogOf(const OutputPlace& place) const {
  const MutexLock lock(mutex_);
  const auto known = logs_.find(place);
  return known == logs_.end() ? 0 : known->second.number;
}

const OutputGuard::Partition* OutputGuard::Find(int32_t partition) const {
  const auto owned = owned_.find(partition);
  return owned == owned_.end() ? nullptr : &owned->second;
}

// Adds the place if its partition is owned.
OutputGuard::Known* OutputGuard::KnownAt(const OutputPlace& place) {
  const auto owned = owned_.find(place.partition);
  return owned == owned_.end() ? nullptr : &owned->second.places[place.filter];
}

void OutputGuard::NoteFloors(int32_t partition) {
  const Partition* const owned = Find(partition);
  if (owned == nullptr) return;
  for (const auto& [filter, known] : owned->places)
    floors_[{filter, partition}] = std::max(known.next, known.floor);
}

std::vector<int32_t> OutputGuard::Owned() const {
  const MutexLock lock(mutex_);
  std::vector<int32_t> partitions;
  partitions.reserve(owned_.size());
  for (const auto& [partition, owned] : owned_) partitions.push_back(partition);
  return partitions;
}

void OutputGuard::OnDelivered(std::span<const Delivered> delivered) {
  const MutexLock lock(mutex_);
  for (const auto& [place, offset] : delivered) {
    Known* const found = KnownAt(place);
    if (found == nullptr) {  // it was sent before the partition was lost
      KeepFloor(place, offset + 1);
      continue;
    }
    Known& known = *found;
    if (offset <= known.last_own || offset < known.floor) Cut(place, known);
    known.last_own = offset;
    if (known.next < 0) WatchFrom(offset, known);
    if (offset > known.next) AddForeign({place, known.next, offset});
    known.next = std::max(known.next, offset + 1);
  }
}

std::map<OutputPlace, int64_t> OutputGuard::Expected() const {
  const MutexLock lock(mutex_);
  std::map<OutputPlace, int64_t> expected;
  for (const auto& [partition, owned] : owned_) {
    for (const auto& [filter, known] : owned.places) {
      if (known.next >= 0) expected[{filter, partition}] = known.next;
    }
  }
  return expected;
}

std::optional<int64_t> OutputGuard::EndOf(const OutputPlace& place) const {
  const MutexLock lock(mutex_);
  const Partition* const owned = Find(place.partition);
  if (owned == nullptr || cut_.contains(place) || taken_.contains(place)) return std::nullopt;
  const auto known = owned->places.find(place.filter);
  if (known == owned->places.end()) return std::nullopt;
  // At least the former owner's word, so that the next one can still find out whether the place was cut.
  if (!owned->knows_floors) {
    const Known& of = known->second;
    if (of.floor < 0) return std::nullopt;
    return std::max({of.floor, of.next, of.suspected, of.last_own + 1});
  }
  if (known->second.next < 0 || known->second.seems_cut) return std::nullopt;
  return std::max(known->second.next, known->second.suspected);
}

int64_t OutputGuard::WrittenTo(const OutputPlace& place) const {
  const MutexLock lock(mutex_);
  const Partition* const owned = Find(place.partition);
  if (owned == nullptr) return -1;
  const auto known = owned->places.find(place.filter);
  return known == owned->places.end() ? -1 : known->second.last_own + 1;
}

void OutputGuard::AtEnd(const OutputPlace& place, std::optional<int64_t> expected, int64_t end) {
  const MutexLock lock(mutex_);
  Known* const found = KnownAt(place);
  if (found == nullptr) return;
  Known& known = *found;
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
  taken_.insert(taken.begin(), taken.end());
  return taken;
}

void OutputGuard::PutBackCut(const OutputPlace& place) {
  const MutexLock lock(mutex_);
  taken_.erase(place);
  cut_.insert(place);
}

void OutputGuard::Requested(const OutputPlace& place) {
  const MutexLock lock(mutex_);
  taken_.erase(place);
}

bool OutputGuard::MayBeCut(int32_t partition) const {
  const MutexLock lock(mutex_);
  const Partition* const owned = Find(partition);
  if (owned == nullptr) return false;
  return std::any_of(owned->places.begin(), owned->places.end(), [&](const auto& one) REQUIRES(mutex_) {
    const OutputPlace place{one.first, partition};
    return one.second.seems_cut || cut_.contains(place) || taken_.contains(place);
  });
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
  Log& log = logs_[place];
  ++log.number;
  ++log.cuts;
  AwaitBeat(owned_[place.partition]);
}

// A beat that was made before says less than the next one must.
void OutputGuard::AwaitBeat(Partition& partition) {
  partition.ownership = ++ownerships_;
  partition.beat_arrived = false;
}

}  // namespace seen
