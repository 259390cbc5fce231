#include "flow/refresh.h"

#include <utility>

namespace seen {
namespace {
constexpr uint64_t kSlices = 64;  // of a section: the steps of the pace
constexpr uint64_t kSliceKeys = (UINT64_MAX / Refresh::kSections + 1) / kSlices;  // upper halves of keys
}  // namespace

Refresh::Refresh(std::vector<FilterId> filters, std::chrono::milliseconds every)
    : filters_(std::move(filters)), withheld_(filters_.size()), every_(every) {}

bool Refresh::Has(FilterId filter) const {
  return std::find(filters_.begin(), filters_.end(), filter) != filters_.end();
}

const Refresh::Note& Refresh::Oldest(const Notes& notes) {
  return *std::min_element(notes.begin(), notes.end(),
                           [](const Note& a, const Note& b) { return a.to < b.to; });
}

bool Refresh::IsPaced(Instant now) const {
  const Note& oldest = Oldest(taken_);
  return oldest.to != kNoOffset && oldest.to >= hurry_to_ && now - oldest.at <= every_ * 3 / 2;
}

Instant Refresh::TimeOf(uint64_t slice) const {
  return round_at_ + every_ * static_cast<int64_t>(section_ * kSlices + slice) / (kSections * kSlices);
}

std::optional<Refresh::Range> Refresh::Next(Instant now, int64_t next_offset) {
  if (filters_.empty()) return std::nullopt;
  if (since_ == Instant{}) since_ = round_at_ = now;
  for (Notes* const notes : {&published_, &taken_}) {
    if (Oldest(*notes).to < next_offset) continue;
    for (Note& note : *notes) note.at = now;  // nothing has come since
  }
  const bool is_paced = IsPaced(now);
  if (!begun_) {
    const bool gains = !is_paced && stored_.to > taken_[section_].to;
    if (!gains && now < TimeOf(0)) return std::nullopt;
    begun_ = true;
    note_ = taken_[section_] = stored_;
    waits_ = slice_ = to_slice_ = 0;
  }
  if (slice_ == to_slice_) {
    while (to_slice_ < kSlices && (!is_paced || TimeOf(to_slice_ + 1) <= now)) ++to_slice_;
    if (slice_ == to_slice_) return std::nullopt;
    filter_ = 0;
    BeginFilter();
  }
  const uint64_t last = (section_ * kSlices + to_slice_) * kSliceKeys - 1;  // 2^64 - 1 at the end
  return Range{after_, {filters_[filter_], {last, UINT64_MAX}}};
}

void Refresh::BeginFilter() {
  const FilterId filter = filters_[filter_];
  const uint64_t first = (section_ * kSlices + slice_) * kSliceKeys;
  if (first > 0) {
    after_ = UserRef{filter, {first - 1, UINT64_MAX}};
  } else if (filter.number() > 0) {
    after_ = UserRef{FilterId(size_t{filter.number()} - 1), kLastUserKey};
  } else {
    after_.reset();
  }
}

void Refresh::Scanned(const std::optional<UserRef>& up_to, Instant now) {
  if (up_to) {
    after_ = up_to;
    return;
  }
  if (++filter_ < filters_.size()) return BeginFilter();
  slice_ = to_slice_;
  EndSectionIfDone(now);
}

void Refresh::Published(Instant now) {
  --waits_;
  EndSectionIfDone(now);
}

void Refresh::EndSectionIfDone(Instant now) {
  if (!begun_ || slice_ < kSlices || waits_ > 0) return;
  begun_ = false;
  if (note_.to > published_[section_].to) published_[section_] = note_;
  for (size_t& sections : withheld_) {
    if (sections > 0) sections = note_.to == kNoOffset ? kSections : sections - 1;
  }
  section_ = (section_ + 1) % kSections;
  if (section_ > 0) return;
  ++rounds_;
  round_at_ = now;
}

// The section under way began before.
void Refresh::Withhold(FilterId filter) {
  for (size_t i = 0; i < filters_.size(); ++i) {
    if (filters_[i] == filter) withheld_[i] = kSections + (begun_ ? 1 : 0);
  }
}

bool Refresh::Withholds(FilterId filter) const {
  for (size_t i = 0; i < filters_.size(); ++i) {
    if (filters_[i] == filter) return withheld_[i] > 0;
  }
  return false;
}

void Refresh::TakeBack() {
  published_ = taken_ = {};
  note_ = stored_ = {};
}

RefreshStatus Refresh::GetStatus(Instant now) const {
  RefreshStatus status;
  status.rounds = rounds_;
  status.users = users_;
  status.is_paced = IsPaced(now);
  const Note& oldest = Oldest(published_);
  if (oldest.to != kNoOffset)
    status.published_age = std::chrono::duration_cast<std::chrono::milliseconds>(now - oldest.at);
  const Instant since = oldest.to != kNoOffset ? oldest.at : since_;
  status.is_late =
      since != Instant{} && now - since > std::max<std::chrono::milliseconds>(2 * every_, kLateAfter);
  return status;
}

}  // namespace seen
