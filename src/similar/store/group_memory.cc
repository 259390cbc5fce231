#include "similar/store/group_memory.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "model/day.h"
#include "similar/port/options.h"
#include "similar/store/group_records.h"

namespace seen {
namespace {

constexpr size_t kPresenceKeysMin = 64 * 1024;
constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

// The time of a row in seconds, clamped to 1970 to 2106.
uint32_t SecondOf(std::string_view row) {
  const auto time = group_rows::TimeOf(row);
  return time ? static_cast<uint32_t>(std::clamp<int64_t>(time->value / 1000, 0, UINT32_MAX)) : 0;
}

uint64_t PresenceKey(Fingerprint item) { return uint64_t{item.value} << 32; }

}  // namespace

GroupMemory::GroupMemory(uint64_t bytes, int32_t window_days)
    : presence_bytes_max_(bytes / 8),
      kept_ms_(KeptDays(window_days) * kMsPerDay),
      first_ms_(kNever),
      cache_(bytes - presence_bytes_max_),
      presence_(&MakeSpace(0)) {}

void GroupMemory::NoteTime(TimeMs created_at) {
  newest_ = std::max(newest_.value_or(created_at), created_at);
  first_ms_.store(newest_->value - kept_ms_, std::memory_order_relaxed);
}

void GroupMemory::ForgetTimes() {
  newest_.reset();
  first_ms_.store(kNever, std::memory_order_relaxed);
}

void GroupMemory::Prefetch(Fingerprint item) const {
  presence_.load(std::memory_order_acquire)->Prefetch(PresenceKey(item));
}

void GroupMemory::PrefetchSimilar(Fingerprint item) const {
  if (MayHave(item)) cache_.Prefetch(item);
}

bool GroupMemory::MayHave(Fingerprint item) const {
  return presence_.load(std::memory_order_acquire)->Test(PresenceKey(item));
}

std::optional<size_t> GroupMemory::Find(Fingerprint item, SimilarCache::Fingerprints& similar) const {
  const auto cached = cache_.Find(item, similar);
  if (!cached) return std::nullopt;
  return InWindow(TimeMs{int64_t{cached->created_s} * 1000}) ? cached->count : 0;
}

void GroupMemory::Fill(Fingerprint item, const SimilarCache::Ticket& ticket, std::string_view row,
                       std::span<const Fingerprint> similar) {
  cache_.Fill(item, ticket, SecondOf(row), similar);
}

void GroupMemory::Add(Fingerprint item) {
  if (presence_.load(std::memory_order_relaxed)->Add(PresenceKey(item))) ++keys_;
}

void GroupMemory::Changed(Fingerprint item, std::string_view row) {
  cache_.Invalidate(item);
  if (!row.empty()) Cache(item, row, /*only_where_there_is_room=*/false);
}

void GroupMemory::Cache(Fingerprint item, std::string_view row, bool only_where_there_is_room) {
  const auto view = InWindow(group_rows::TimeOf(row)) ? group_rows::ParseSimilarList(row) : std::nullopt;
  if (!view || (only_where_there_is_room && !cache_.HasSpace(item, view->count()))) return;
  SimilarCache::Fingerprints similar;
  for (size_t i = 0; i < view->count(); ++i) similar[i] = view->at(i);
  cache_.Fill(item, cache_.Begin(item), SecondOf(row), std::span(similar).first(view->count()));
}

Status GroupMemory::Rebuild(const std::function<Status(const Take&)>& each) {
  size_t keys = 0;
  if (Status counted = each([&](Fingerprint, std::string_view) { ++keys; }); !counted) return counted;
  PresenceBits& bits = MakeSpace(keys * 2);
  Status added = each([&](Fingerprint item, std::string_view row) {
    bits.Add(PresenceKey(item));
    Cache(item, row, /*only_where_there_is_room=*/true);
  });
  if (!added) return added;
  keys_ = keys;
  rebuild_at_ = std::max(bits.keys_max(), keys * 2);
  presence_.store(&bits, std::memory_order_release);
  return {};
}

// Reuses a former table of that size. A reader that still uses it finds nothing, or too much.
PresenceBits& GroupMemory::MakeSpace(size_t keys) {
  const size_t keys_max = std::bit_floor(
      std::max<size_t>(presence_bytes_max_ / PresenceBits::kBytesAKey, PresenceBits::kKeysMin));
  const size_t wanted = std::min(std::bit_ceil(std::max(keys, kPresenceKeysMin)), keys_max);
  const PresenceBits* const current =
      all_presence_.empty() ? nullptr : presence_.load(std::memory_order_relaxed);
  const auto spare = std::find_if(all_presence_.begin(), all_presence_.end(), [&](const auto& bits) {
    return bits.get() != current && bits->keys_max() == wanted;
  });
  if (spare == all_presence_.end()) {
    return *all_presence_.emplace_back(std::make_unique<PresenceBits>(wanted));
  }
  (*spare)->Clear();
  return **spare;
}

uint64_t GroupMemory::bytes() const {
  return cache_.bytes() + presence_.load(std::memory_order_acquire)->bytes();
}

}  // namespace seen
