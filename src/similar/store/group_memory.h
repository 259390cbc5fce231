#pragma once
// The part of the table of groups that memory holds. It has the items that aren't alone, the similar items of
// many of them, and the times that are in the window. Most look-ups end here, without a read from disk.
//
// Threads. Writer (one): newest, NoteTime, ForgetTimes, Add, Changed, Fits, Rebuild. Any thread: the rest,
// without a lock.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/hashes.h"
#include "similar/store/item_presence.h"
#include "similar/store/similar_cache.h"

namespace seen {

class GroupMemory {
 public:
  GroupMemory(uint64_t bytes, int32_t window_days);

  /// False: the item's time has left the window, or there is none.
  bool InWindow(std::optional<TimeMs> created_at) const {
    return created_at && created_at->value >= first_ms_.load(std::memory_order_relaxed);
  }
  /// Milliseconds: items before it have left the window. Compactions use it; they don't outlive the table.
  const std::atomic<int64_t>& first_ms() const { return first_ms_; }
  /// The greatest time of an item; nullopt: none.
  std::optional<TimeMs> newest() const { return newest_; }
  /// Moves the end of the window to `created_at` if that is later. The caller has checked the time.
  void NoteTime(TimeMs created_at);
  void ForgetTimes();

  void Prefetch(Fingerprint item) const;
  void PrefetchSimilar(Fingerprint item) const;
  /// False: the item is alone or unknown.
  bool MayHave(Fingerprint item) const;
  /// Puts the item's similar items into `similar` and returns their number, 0 if the item has left the
  /// window. nullopt: read them from disk, between Begin and Fill.
  std::optional<size_t> Find(Fingerprint item, SimilarCache::Fingerprints& similar) const;
  SimilarCache::Ticket Begin(Fingerprint item) const { return cache_.Begin(item); }
  /// `row`: as stored, or empty. `similar`: the row's, or none if the item has left the window.
  void Fill(Fingerprint item, const SimilarCache::Ticket& ticket, std::string_view row,
            std::span<const Fingerprint> similar);

  /// Notes that the item isn't alone.
  void Add(Fingerprint item);
  /// The item's row was written. `row`: the new row; empty: there is none, or it must be read from disk.
  void Changed(Fingerprint item, std::string_view row);
  /// False: after a Rebuild there would be fewer false answers.
  bool Fits() const { return keys_ <= rebuild_at_; }
  /// Rebuilds from the stored rows. `each` calls its function with each stored item's row in the window, and
  /// is called twice. Until Rebuild ends, readers use the former bits.
  using Take = std::function<void(Fingerprint item, std::string_view row)>;
  Status Rebuild(const std::function<Status(const Take&)>& each);
  void ClearCache() { cache_.Clear(); }

  uint64_t bytes() const;

 private:
  PresenceBits& MakeSpace(size_t keys);
  void Cache(Fingerprint item, std::string_view row, bool only_where_there_is_room);

  const uint64_t presence_bytes_max_;
  const int64_t kept_ms_;                                    // how long an item's row stays
  std::optional<TimeMs> newest_;                             // the writer's
  std::atomic<int64_t> first_ms_;                            // the writer sets it
  SimilarCache cache_;                                       // any thread
  std::vector<std::unique_ptr<PresenceBits>> all_presence_;  // the writer's; readers may use any
  std::atomic<PresenceBits*> presence_;                      // the writer sets it
  size_t keys_ = 0;                                          // the writer's: the number of keys, about
  size_t rebuild_at_ = 0;                                    // the writer's
};

}  // namespace seen
