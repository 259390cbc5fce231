#pragma once
// What is held in memory of the table of groups: which items aren't alone, what many of them are like, and
// which times still count. Most look-ups end here, without a read from disk.
//
// Threads. Writer (one): NoteTime, ForgetTimes, Add, Changed, Fits, Rebuild. Any thread: the rest, without a
// lock.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item_store/like_cache.h"
#include "item_store/presence_bits.h"
#include "model/fingerprint.h"

namespace seen {

class GroupMemory {
 public:
  GroupMemory(uint64_t bytes, int32_t window_days);

  /// False: the item's time has left the window, or there is none.
  bool InWindow(std::optional<TimeMs> created_at) const {
    return created_at && created_at->value >= first_ms_.load(std::memory_order_relaxed);
  }
  /// Items before it have left the window, milliseconds. For compactions, which outlive no table.
  const std::atomic<int64_t>& first_ms() const { return first_ms_; }
  /// The greatest time of an item; nullopt: none.
  std::optional<TimeMs> newest() const { return newest_; }
  /// The window follows `created_at`, which is believed.
  void NoteTime(TimeMs created_at);
  void ForgetTimes();

  void Prefetch(Fingerprint item) const;
  void PrefetchLikes(Fingerprint item) const;
  /// False: the item is alone or unknown.
  bool MayHave(Fingerprint item) const;
  /// What the item is like: how many were put into `likes`, 0 where it has left the window. nullopt: it must
  /// be read from disk, between Begin and Fill.
  std::optional<size_t> Find(Fingerprint item, LikeCache::Likes& likes) const;
  LikeCache::Ticket Begin(Fingerprint item) const { return cache_.Begin(item); }
  /// `row`: as it is stored, or empty. `likes`: of it, none where it has left the window.
  void Fill(Fingerprint item, const LikeCache::Ticket& ticket, std::string_view row,
            std::span<const Fingerprint> likes);

  /// The item isn't alone.
  void Add(Fingerprint item);
  /// The item's row was written: `row`; empty: it has none, or must be read.
  void Changed(Fingerprint item, std::string_view row);
  /// False: Rebuild would find fewer false answers.
  bool Fits() const { return keys_ <= rebuild_at_; }
  /// Of what is stored: `each` calls the function with each stored item's row in the window, and is called
  /// twice. Whoever reads meanwhile goes on with the former bits.
  using Take = std::function<void(Fingerprint item, std::string_view row)>;
  Status Rebuild(const std::function<Status(const Take&)>& each);
  void ClearCache() { cache_.Clear(); }

  uint64_t bytes() const;

 private:
  PresenceBits& MakeRoom(size_t keys);
  void Cache(Fingerprint item, std::string_view row, bool only_where_there_is_room);

  const uint64_t presence_bytes_max_;
  const int64_t kept_ms_;                                    // how long an item's row stays
  std::optional<TimeMs> newest_;                             // the writer's
  std::atomic<int64_t> first_ms_;                            // the writer sets it
  LikeCache cache_;                                          // any thread
  std::vector<std::unique_ptr<PresenceBits>> all_presence_;  // the writer's; readers may be in any
  std::atomic<PresenceBits*> presence_;                      // the writer sets it
  size_t keys_ = 0;                                          // the writer's: about so many are in it
  size_t rebuild_at_ = 0;                                    // the writer's
};

}  // namespace seen
