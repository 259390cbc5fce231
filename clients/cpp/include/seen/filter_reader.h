#pragma once
// Answers for one filter from its snapshots and the updates behind them, and says since when an answer may
// miss something. The rules: schemas/update.md, "The reader".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "seen/candidates.h"
#include "seen/internal/additions.h"
#include "seen/internal/generation.h"
#include "seen/internal/user_snapshots.h"
#include "seen/result.h"
#include "seen/snapshot.h"
#include "seen/time.h"
#include "seen/update.h"
#include "seen/watermarks.h"

namespace seen::client {

/// Follows one filter over any number of partitions. Knows nothing of Kafka: the caller hands over the
/// records of three topics, each topic's in its order, the topics in any order among each other.
///
/// Threads: the const functions may run at the same time, but not together with any other one. Hold a
/// std::shared_mutex, or use the reader from one thread.
///
/// It holds every user's snapshot, at most `additions_max` additions of about 13 bytes, and some 30 bytes for
/// each user who has additions.
class FilterReader {
 public:
  static constexpr std::size_t kAdditionsMax = 100'000'000;  // if the caller doesn't say, about 1.3 GB

  /// `partitions`: those that AsOf() speaks of. Records of others are taken as well. `snapshot_topic`: where
  /// its snapshots are from, for MovedTo.
  explicit FilterReader(std::string filter, const std::vector<std::int32_t>& partitions = {},
                        std::size_t additions_max = kAdditionsMax, std::string snapshot_topic = {})
      : filter_(std::move(filter)),
        followed_(partitions),
        additions_max_(std::min<std::size_t>(additions_max, internal::AdditionLog::kHeldMax / 4)),
        snapshot_topic_(std::move(snapshot_topic)) {}

  /// A record of the topic of watermarks; a null value is nullopt. Of each Take: an error says that the
  /// record is refused. Report it.
  [[nodiscard]] std::optional<Error> TakeBeat(std::string_view key, std::optional<std::string_view> value);
  /// A record of the topic of updates. A refused one changes nothing, so it is a gap: the reader is stale
  /// until snapshots have what it held.
  [[nodiscard]] std::optional<Error> TakeUpdate(std::string_view bytes);
  /// A record of the filter's topic of snapshots; nullopt: a tombstone. Of a refused one the user's snapshot
  /// before it stays, and IsRefused(user).
  [[nodiscard]] std::optional<Error> TakeSnapshot(std::int32_t partition, std::string_view user,
                                                  std::optional<std::string_view> bytes) {
    return snapshots_.Take(UpdateUserOf(user), user, partition, bytes);
  }
  /// The caller stands at the end of this partition of snapshots, at this position: Kafka says so to a fetch
  /// that found nothing more (`partition EOF`). A remembered high watermark isn't enough.
  void SnapshotsEnd(std::int32_t partition, std::int64_t position) {
    Partition& its = PartitionOf(partition);
    its.stands_at = position;
    Settle(its);
  }
  /// The caller starts over in this partition of snapshots: call it before the first TakeSnapshot. The reader
  /// isn't fresh until SnapshotsEnd.
  void SnapshotsRestart(std::int32_t partition) {
    Partition& its = PartitionOf(partition);
    its.snapshots_log = its.beat_log;
    its.stands_at.reset();
    for (internal::Generation& generation : its.generations) generation.StartOver();
  }
  /// The caller must start over in this partition of snapshots: the topic was created again, so its offsets
  /// count anew. Ask after each beat. Nothing settles until SnapshotsRestart.
  bool MustRestart(std::int32_t partition) const {
    const Partition* its = Find(partition);
    return its != nullptr && its->MustRestart();
  }
  /// The filter's snapshots are in this topic now, not in the constructor's: begin with a new reader there.
  /// nullopt: they haven't moved, as far as the newest beat says, or the constructor wasn't told a topic.
  std::optional<std::string> MovedTo(std::int32_t partition) const {
    const Partition* its = Find(partition);
    return its == nullptr ? std::nullopt : its->moved_to;
  }

  /// False: not seen, as far as AsOf() reaches. Ids as in Snapshot. `now`: for items that count for a time.
  template <typename Id>
  bool MightContain(std::string_view user, const Id& id, TimeMs now = NowMs(),
                    const DayLimits& limits = {}) const {
    const Fingerprint fingerprint = OwnFingerprint(id);
    return Ask(user, AdditionKind::kSeen, fingerprint, now,
               [&](const Snapshot& snapshot) { return snapshot.MightContain(fingerprint, limits); });
  }
  /// May an item like this one have been seen, or an item of this group? As in Snapshot.
  template <typename Id>
  bool MightBeNear(std::string_view user, const Id& id, TimeMs now = NowMs()) const {
    const Fingerprint fingerprint = OwnFingerprint(id);
    return Ask(user, AdditionKind::kSimilar, internal::InDomain(fingerprint, internal::kNearDomain), now,
               [&](const Snapshot& snapshot) { return snapshot.MightBeNear(fingerprint); });
  }
  template <typename Id>
  bool MightHoldGroup(std::string_view user, const Id& group_id, TimeMs now = NowMs()) const {
    const Fingerprint fingerprint = OwnFingerprint(group_id);
    return Ask(user, AdditionKind::kSimilar, internal::InDomain(fingerprint, internal::kGroupDomain), now,
               [&](const Snapshot& snapshot) { return snapshot.MightHoldGroup(fingerprint); });
  }
  /// The items that the user hasn't seen, as Snapshot::Unseen.
  template <typename Items>
  auto Unseen(std::string_view user, const Items& items, const AlsoSeen& also_seen = {}, TimeMs now = NowMs(),
              const DayLimits& limits = {}) const;

  /// What this partition's users saw until then is in the answers, but for IsRefused users. nullopt: the
  /// reader can't say, so treat it as stale.
  std::optional<TimeMs> AsOf(std::int32_t partition) const {
    const internal::Generation* current = CurrentOf(partition);
    if (current == nullptr || current->AsOfMs() < 0) return std::nullopt;
    return TimeMs(TimeMs::duration(current->AsOfMs()));
  }
  /// The oldest of the partitions that the constructor got; nullopt: of one of them, or it got none.
  std::optional<TimeMs> AsOf() const {
    std::optional<TimeMs> oldest;
    for (const std::int32_t partition : followed_) {
      const auto as_of = AsOf(partition);
      if (!as_of) return std::nullopt;
      oldest = oldest ? std::min(*oldest, *as_of) : *as_of;
    }
    return oldest;
  }
  /// What was shown before it may be missing, however fresh the reader is. nullopt: the newest beat says of
  /// nothing that it's missing.
  std::optional<TimeMs> CompleteSince(std::int32_t partition) const {
    const Partition* its = Find(partition);
    return its == nullptr ? std::nullopt : its->complete_since;
  }
  /// The latest of the partitions that the constructor got.
  std::optional<TimeMs> CompleteSince() const {
    std::optional<TimeMs> latest;
    for (const std::int32_t partition : followed_) latest = std::max(latest, CompleteSince(partition));
    return latest;
  }
  /// The reader has got each live event of the partition's current generation below it; nullopt: not known.
  /// It may have dropped some again because of `additions_max`: AsOf knows that.
  std::optional<std::int64_t> CompleteTo(std::int32_t partition) const {
    const internal::Generation* current = CurrentOf(partition);
    return current == nullptr ? std::nullopt : current->complete;
  }
  /// The user's newest snapshot was refused: what is unseen by the answers may have been seen.
  bool IsRefused(std::string_view user) const {
    bool refused = false;
    snapshots_.ForEach(UpdateUserOf(user), user,
                       [&](const OfUser& its) { refused = refused || its.refused; });
    return refused;
  }

  std::size_t additions() const { return additions_; }
  std::size_t snapshots() const { return snapshots_.size(); }
  /// Memory of the additions with the index of their users.
  std::size_t additions_bytes() const {
    std::size_t bytes = users_.bytes();
    for (const auto& partition : partitions_) bytes += partition->log.bytes();
    return bytes;
  }
  /// Memory of the snapshots, roughly.
  std::size_t snapshots_bytes() const { return snapshots_.bytes(); }

 private:
  static constexpr int kBeatsMax = 60;  // until a generation that none names is forgotten
  static constexpr std::size_t kRebuildAfter = std::size_t{1}
                                               << 30;  // additions; before their numbers come again

  static constexpr std::size_t kHeldBesides = std::size_t{1} << 17;  // additions: the second limit's least

  using OfUser = internal::UserSnapshots::OfUser;
  struct Base {
    std::int64_t published_to, snapshots_to;
  };
  struct Partition {
    explicit Partition(std::int32_t its_number) : number(its_number) {}
    internal::Generation& Of(std::int64_t generation) {
      for (internal::Generation& its : generations) {
        if (its.number == generation) return its;
      }
      return generations.emplace_back(generation);
    }
    bool MustRestart() const { return snapshots_log != beat_log; }

    std::int32_t number;
    // Of the newest beat; `current` is its generation.
    std::optional<std::int64_t> current;
    std::optional<Base> base;
    std::optional<std::string> moved_to;
    std::optional<TimeMs> complete_since;

    std::optional<std::int64_t> beat_log;       // of the newest beat with a generation
    std::optional<std::int64_t> snapshots_log;  // that which is being read; the page's `log`
    std::optional<std::int64_t> stands_at;
    std::vector<internal::Generation> generations;
    internal::AdditionLog log;
  };

  template <typename Id>
  static Fingerprint OwnFingerprint(const Id& id) {
    if constexpr (std::is_same_v<Id, Fingerprint>) {
      return id;
    } else {
      return FingerprintOf(id);
    }
  }

  std::uint32_t IndexOf(std::int32_t partition) {
    const auto [found, is_new] = index_of_.emplace(partition, static_cast<std::uint32_t>(partitions_.size()));
    if (is_new) partitions_.push_back(std::make_unique<Partition>(partition));
    return found->second;
  }
  Partition& PartitionOf(std::int32_t partition) { return *partitions_[IndexOf(partition)]; }

  const Partition* Find(std::int32_t partition) const {
    const auto found = index_of_.find(partition);
    return found == index_of_.end() ? nullptr : partitions_[found->second].get();
  }
  const internal::Generation* CurrentOf(std::int32_t partition) const {
    const Partition* its = Find(partition);
    if (its == nullptr || !its->current) return nullptr;
    for (const internal::Generation& generation : its->generations) {
      if (generation.number == *its->current) return &generation;
    }
    return nullptr;
  }

  void SetCurrent(Partition& partition, std::optional<std::int64_t> generation);
  void TakeMembers(Partition& partition, const Watermark& beat);
  void ForgetUnnamed(Partition& partition);
  void Settle(Partition& partition);
  void Keep(std::uint32_t index, const Update& update, std::uint16_t bit);
  void KeepWithinLimit();

  /// Drops the chunks for which it is true.
  template <typename Drop>
  void DropIf(Partition& partition, Drop drop) {
    additions_ -= partition.log.size();
    partition.log.DropIf(drop);
    additions_ += partition.log.size();
  }
  /// Calls `visit(fingerprint)` for the user's additions that count, until it returns true; whether it did.
  template <typename Visit>
  bool AnyAddition(std::uint64_t hash, std::string_view user, AdditionKind kind, TimeMs now,
                   Visit visit) const {
    return users_.Any(hash, [&](const internal::UserIndex::Slot& slot) {
      const Partition& partition = *partitions_[slot.partition];
      for (std::uint32_t number = slot.newest; partition.log.Holds(number);) {
        const internal::AdditionLog::Addition& addition = partition.log.At(number);
        const internal::AdditionChunk& chunk = partition.log.ChunkOf(addition);
        number = addition.older;
        if (chunk.dropped || chunk.kind != kind) continue;
        if (chunk.until_s != 0 && now >= TimeMs(TimeMs::duration(std::int64_t{1000} * chunk.until_s)))
          continue;
        if (!IsInSnapshot(hash, user, partition.number, chunk) && visit(addition.fingerprint)) return true;
      }
      return false;
    });
  }
  bool IsInSnapshot(std::uint64_t hash, std::string_view user, std::int32_t partition,
                    const internal::AdditionChunk& chunk) const {
    bool is_in = false;
    snapshots_.ForEach(hash, user, [&](const OfUser& its) {
      is_in = is_in || (its.snapshot && its.snapshot->generation() == chunk.generation &&
                        its.snapshot->partition() == partition && its.snapshot->input_offset() >= chunk.to);
    });
    return is_in;
  }

  template <typename AskSnapshot>
  bool Ask(std::string_view user, AdditionKind kind, Fingerprint fingerprint, TimeMs now,
           AskSnapshot ask) const {
    const std::uint64_t hash = UpdateUserOf(user);
    bool seen = false;
    snapshots_.ForEach(hash, user,
                       [&](const OfUser& its) { seen = seen || (its.snapshot && ask(*its.snapshot)); });
    return seen ||
           AnyAddition(hash, user, kind, now, [&](Fingerprint addition) { return addition == fingerprint; });
  }

  const std::string filter_;
  const std::vector<std::int32_t> followed_;
  const std::size_t additions_max_;
  const std::string snapshot_topic_;  // empty: not told
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::unordered_map<std::int32_t, std::uint32_t> index_of_;  // in partitions_
  internal::UserIndex users_;                                 // their slots have indexes in partitions_
  std::size_t additions_ = 0;
  std::size_t since_rebuild_ = 0;  // additions
  std::uint64_t records_ = 0;      // updates taken
  internal::UserSnapshots snapshots_;
};

inline std::optional<Error> FilterReader::TakeBeat(std::string_view key,
                                                   std::optional<std::string_view> value) {
  const auto number = Watermark::PartitionOf(key);
  if (!number) return number.error();
  Watermark beat;  // of a tombstone one without generation: nobody vouches for the partition any more
  if (value) {
    auto parsed = Watermark::Parse(key, *value);
    if (!parsed) return parsed.error();
    if (parsed->updates_error) return parsed->updates_error;
    beat = *std::move(parsed);
  }
  Partition& partition = PartitionOf(*number);
  SetCurrent(partition, beat.generation);
  partition.base.reset();
  partition.moved_to.reset();
  partition.complete_since.reset();
  if (beat.generation) TakeMembers(partition, beat);
  ForgetUnnamed(partition);
  Settle(partition);
  return std::nullopt;
}

/// Of a beat with a generation: what it says of the filter.
inline void FilterReader::TakeMembers(Partition& partition, const Watermark& beat) {
  const auto of_filter = [this](const auto& member) {
    const auto found = member.find(filter_);
    return found == member.end() ? std::nullopt : std::optional(found->second);
  };
  const auto snapshots_to = of_filter(beat.snapshots_to);
  if (beat.published_to && snapshots_to) partition.base = Base{*beat.published_to, *snapshots_to};
  partition.beat_log = of_filter(beat.snapshots_log).value_or(0);
  if (!partition.snapshots_log) partition.snapshots_log = partition.beat_log;
  const auto topic = of_filter(beat.snapshots_topic);
  if (topic && !snapshot_topic_.empty() && *topic != snapshot_topic_) partition.moved_to = topic;
  partition.complete_since = of_filter(beat.complete_since);
}

/// After a beat: the generations that none ever named.
inline void FilterReader::ForgetUnnamed(Partition& partition) {
  const auto is_forgotten = [&partition](const internal::Generation& its) {
    return !its.is_past && its.number != partition.current && its.beats >= kBeatsMax;
  };
  auto& all = partition.generations;
  for (internal::Generation& generation : all) ++generation.beats;
  if (std::none_of(all.begin(), all.end(), is_forgotten)) return;
  DropIf(partition,
         [&](const internal::AdditionChunk& chunk) { return is_forgotten(partition.Of(chunk.generation)); });
  all.erase(std::remove_if(all.begin(), all.end(), is_forgotten), all.end());
}

inline void FilterReader::SetCurrent(Partition& partition, std::optional<std::int64_t> generation) {
  if (partition.current && partition.current != generation) partition.Of(*partition.current).is_past = true;
  partition.current = generation;
  if (generation) partition.Of(*generation).is_past = false;
}

inline std::optional<Error> FilterReader::TakeUpdate(std::string_view bytes) {
  const auto update = Update::Parse(bytes);
  if (!update) return update.error();
  const std::uint16_t bit = update->BitOf(filter_);
  if (bit == 0) return std::nullopt;
  const std::uint32_t index = IndexOf(update->partition());
  Partition& partition = *partitions_[index];
  Keep(index, *update, bit);
  internal::Generation& generation = partition.Of(update->generation());
  generation.beats = 0;
  generation.Take(*update);
  Settle(partition);
  KeepWithinLimit();
  return std::nullopt;
}

inline void FilterReader::Keep(std::uint32_t index, const Update& update, std::uint16_t bit) {
  Partition& partition = *partitions_[index];
  internal::Generation& generation = partition.Of(update.generation());
  const std::int64_t as_of_before_ms = generation.complete ? generation.as_of_ms : -1;
  // The first records of an event end at its own offset: only a snapshot beyond it has the event.
  const bool is_part = update.to() == update.from() && update.to() < std::numeric_limits<std::int64_t>::max();
  const std::int64_t to = update.to() + (is_part ? 1 : 0);
  const auto holds = [&](const internal::UserIndex::Slot& slot) {
    return partitions_[slot.partition]->log.Holds(slot.newest);
  };
  ++records_;
  update.ForEachSection([&](const UpdateSection& section) {
    if ((section.mask() & bit) == 0) return;
    generation.lowest_to = std::min(generation.lowest_to, to);
    since_rebuild_ += section.items();
    if (since_rebuild_ > kRebuildAfter) {
      users_.Rebuild(section.entries(), holds);
      since_rebuild_ = 0;
    }
    users_.Reserve(section.entries(), holds);
    partition.log.Begin({generation.number, to, as_of_before_ms, records_, section.items(), section.until_s(),
                         section.kind(), false});
    additions_ += section.items();
    constexpr std::size_t kAhead = 12;
    for (std::size_t i = 0; i < std::min<std::size_t>(kAhead, section.entries()); ++i)
      users_.Prefetch(section.UserAt(i));
    std::size_t ahead = kAhead;
    section.ForEach([&](const UpdateEntry& entry) {
      if (ahead < section.entries()) users_.Prefetch(section.UserAt(ahead));
      ++ahead;
      std::uint32_t& newest = users_.Find(entry.user, index, partition.log.none()).newest;
      for (std::uint32_t i = 0; i < entry.count; ++i) newest = partition.log.Append(entry[i], newest);
    });
  });
}

inline void FilterReader::Settle(Partition& partition) {
  if (!partition.current || !partition.base || !partition.stands_at ||
      *partition.stands_at < partition.base->snapshots_to || partition.MustRestart() || partition.moved_to)
    return;
  const std::int64_t published_to = partition.base->published_to;
  const auto to_drop = [](const internal::Generation& its) { return its.is_past && its.HasAdditions(); };
  if (std::any_of(partition.generations.begin(), partition.generations.end(), to_drop)) {
    DropIf(partition,
           [&](const internal::AdditionChunk& chunk) { return partition.Of(chunk.generation).is_past; });
  }
  for (internal::Generation& generation : partition.generations) {
    if (generation.is_past) generation.Forget();
  }
  internal::Generation& current = partition.Of(*partition.current);
  current.SettleTo(published_to);
  if (current.lowest_to > published_to) return;
  current.lowest_to = std::numeric_limits<std::int64_t>::max();
  DropIf(partition, [&](const internal::AdditionChunk& chunk) {
    if (chunk.generation != current.number) return false;
    if (chunk.to <= published_to) return true;
    current.lowest_to = std::min(current.lowest_to, chunk.to);
    return false;
  });
}

/// Drops the oldest updates' additions where there are too many.
inline void FilterReader::KeepWithinLimit() {
  const auto held = [this] {
    std::size_t sum = 0;
    for (const auto& partition : partitions_) sum += partition->log.held();
    return sum;
  };
  // What was dropped in the middle still takes memory: hence the second limit.
  while (additions_ > additions_max_ || (additions_ > 0 && held() > 2 * additions_max_ + kHeldBesides)) {
    Partition* oldest = nullptr;
    for (const auto& partition : partitions_) {
      if (partition->log.size() == 0) continue;
      if (oldest == nullptr || partition->log.chunks().front().record < oldest->log.chunks().front().record)
        oldest = partition.get();
    }
    const internal::AdditionChunk& chunk = oldest->log.chunks().front();
    oldest->Of(chunk.generation).Lose(chunk.to, chunk.as_of_before_ms);
    additions_ -= oldest->log.size();
    oldest->log.DropOldest();
    additions_ += oldest->log.size();
  }
}

template <typename Items>
auto FilterReader::Unseen(std::string_view user, const Items& items, const AlsoSeen& also_seen, TimeMs now,
                          const DayLimits& limits) const {
  const std::uint64_t hash = UpdateUserOf(user);
  std::optional<decltype(Snapshot::Empty().Unseen(items))> unseen;
  snapshots_.ForEach(hash, user, [&](const OfUser& its) {
    if (!its.snapshot) return;
    unseen = unseen ? its.snapshot->Unseen(*unseen, also_seen, limits)
                    : its.snapshot->Unseen(items, also_seen, limits);
  });
  if (!unseen) unseen = Snapshot::Empty().Unseen(items, also_seen, limits);
  std::vector<Fingerprint> additions;
  AnyAddition(hash, user, AdditionKind::kSeen, now, [&](Fingerprint addition) {
    additions.push_back(addition);
    return false;
  });
  if (additions.empty()) return *std::move(unseen);
  std::sort(additions.begin(), additions.end());
  unseen->erase(std::remove_if(unseen->begin(), unseen->end(),
                               [&](const auto& item) {
                                 return std::binary_search(additions.begin(), additions.end(),
                                                           FingerprintOf(item));
                               }),
                unseen->end());
  return *std::move(unseen);
}

}  // namespace seen::client
