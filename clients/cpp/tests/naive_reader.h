#pragma once
// "The reader" of schemas/update.md word by word, over lists: no thought of size or speed.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "updates.h"

namespace seen::client::test {

class NaiveReader {
 public:
  NaiveReader(std::size_t additions_max, const std::optional<std::string>& topic)
      : additions_max_(additions_max), topic_(topic) {}

  void TakeBeat(const BeatParts& beat) {
    Partition& its = partitions_[beat.partition];
    if (its.current && its.current != beat.generation) its.past.insert(*its.current);
    its.current = beat.generation;
    if (its.current) its.past.erase(*its.current);
    its.base.reset();
    if (beat.published_to && beat.snapshots_to) its.base = {*beat.published_to, *beat.snapshots_to};
    its.newest = beat;
    if (beat.generation) {
      its.beat_log = beat.snapshots_log.value_or(0);
      if (!its.log) its.log = its.beat_log;
    }
    for (auto& [generation, beats] : its.beats) ++beats;
    std::set<std::int64_t> forgotten;
    for (const auto& [generation, beats] : its.beats) {
      const bool named = its.current == generation || its.past.count(generation) > 0;
      if (beats >= 60 && !named) forgotten.insert(generation);
    }
    for (const std::int64_t generation : forgotten) Forget(beat.partition, generation);
    Settle(beat.partition);
  }

  void TakeUpdate(const UpdateParts& update) {
    const auto name = std::find(update.filters.begin(), update.filters.end(), "default");
    if (name == update.filters.end()) return;
    const auto bit = name - update.filters.begin();
    Partition& its = partitions_[update.partition];
    Known& known = its.known[update.generation];
    const std::int64_t before = known.complete ? known.as_of : -1;
    ++records_;
    for (const Section& section : update.sections) {
      if ((section.mask >> bit & 1) == 0) continue;
      for (const Entry& entry : section.entries) {
        for (const Fingerprint item : entry.items) {
          additions_.push_back({update.partition, entry.user, section.kind, item, update.generation,
                                update.from == update.to ? update.to + 1 : update.to, section.until_s,
                                records_, before});
        }
      }
    }
    its.beats[update.generation] = 0;
    const bool has_parts_before =
        update.part == 0 || known.parts == std::pair<std::int64_t, int>(update.from, update.part);
    if (has_parts_before && update.to == update.from && !update.sections.empty())
      known.parts = {update.from, update.part + 1};
    if (has_parts_before) Cover(known, update.from, update);
    if (!has_parts_before && update.to > update.from) Cover(known, update.from + 1, update);
    Settle(update.partition);
    while (additions_.size() > additions_max_) DropOldest();
  }

  void TakeSnapshot(std::int32_t partition, const std::string& user, std::int64_t generation,
                    std::int64_t offset, const std::vector<Fingerprint>& items) {
    snapshots_[UpdateUserOf(user)][partition] = {generation, offset, items};
  }
  void TakeTombstone(std::int32_t partition, const std::string& user) {
    snapshots_[UpdateUserOf(user)].erase(partition);
  }
  void SnapshotsEnd(std::int32_t partition, std::int64_t position) {
    partitions_[partition].stands_at = position;
    Settle(partition);
  }
  void SnapshotsRestart(std::int32_t partition) {
    Partition& its = partitions_[partition];
    its.log = its.beat_log;
    its.stands_at.reset();
    for (auto& [generation, known] : its.known) {
      if (known.complete && !known.run) known.run = Run{*known.settled, *known.complete, known.as_of};
      known.complete.reset();
      known.as_of = -1;
      known.settled.reset();
      known.parts.reset();
    }
  }

  bool Answers(const std::string& user, AdditionKind kind, Fingerprint item, std::int64_t now_s) const {
    const std::uint64_t hash = UpdateUserOf(user);
    const auto found = snapshots_.find(hash);
    const auto snapshots = found == snapshots_.end() ? std::map<std::int32_t, Snapshot>() : found->second;
    for (const auto& [partition, snapshot] : snapshots) {
      const auto& items = snapshot.items;
      if (kind == AdditionKind::kSeen && std::count(items.begin(), items.end(), item) > 0) return true;
    }
    return std::any_of(additions_.begin(), additions_.end(), [&](const Addition& addition) {
      if (addition.user != hash || addition.kind != kind || addition.item != item) return false;
      if (addition.until_s != 0 && addition.until_s <= now_s) return false;
      const auto snapshot = snapshots.find(addition.partition);
      return snapshot == snapshots.end() || snapshot->second.generation != addition.generation ||
             snapshot->second.offset < addition.to;
    });
  }

  bool MustRestart(std::int32_t partition) const {
    const auto its = partitions_.find(partition);
    return its != partitions_.end() && its->second.log != its->second.beat_log;
  }
  std::optional<std::string> MovedTo(std::int32_t partition) const {
    const auto its = partitions_.find(partition);
    if (its == partitions_.end() || !its->second.newest.generation || !topic_) return std::nullopt;
    const auto& newest = its->second.newest.snapshots_topic;
    return newest == topic_ ? std::nullopt : newest;
  }
  std::optional<std::int64_t> CompleteSince(std::int32_t partition) const {
    const auto its = partitions_.find(partition);
    if (its == partitions_.end() || !its->second.newest.generation) return std::nullopt;
    return its->second.newest.complete_since_ms;
  }
  std::optional<std::int64_t> CompleteTo(std::int32_t partition) const {
    const Known* known = CurrentOf(partition);
    return known == nullptr ? std::nullopt : known->complete;
  }
  std::optional<std::int64_t> AsOf(std::int32_t partition) const {
    const Known* known = CurrentOf(partition);
    if (known == nullptr || !known->complete) return std::nullopt;
    const std::int64_t as_of = known->lost ? std::min(known->lost->second, known->as_of) : known->as_of;
    return as_of < 0 ? std::nullopt : std::optional(as_of);
  }
  std::size_t additions() const { return additions_.size(); }

 private:
  struct Addition {
    std::int32_t partition;
    std::uint64_t user;
    AdditionKind kind;
    Fingerprint item;
    std::int64_t generation, to;
    std::uint32_t until_s;
    std::uint64_t record;
    std::int64_t as_of_before;
  };
  struct Run {
    std::int64_t from, to, as_of;
  };
  struct Known {
    std::optional<std::int64_t> complete;
    std::int64_t as_of = -1;
    std::optional<std::int64_t> settled;
    std::optional<Run> run;
    std::optional<std::pair<std::int64_t, int>> parts;
    std::optional<std::pair<std::int64_t, std::int64_t>> lost;  // greatest `to`, lowest as_of before
  };
  struct Partition {
    std::optional<std::int64_t> current, stands_at, beat_log, log;
    BeatParts newest;
    std::optional<std::pair<std::int64_t, std::int64_t>> base;
    std::set<std::int64_t> past;
    std::map<std::int64_t, Known> known;
    std::map<std::int64_t, int> beats;
  };
  struct Snapshot {
    std::int64_t generation, offset;
    std::vector<Fingerprint> items;
  };

  static void Cover(Known& known, std::int64_t from, const UpdateParts& update) {
    if (known.complete && from <= *known.complete) {
      if (update.to >= *known.complete) {
        known.complete = update.to;
        if (update.as_of_ms != -1) known.as_of = update.as_of_ms;
      }
    } else if (!known.run || from > known.run->to) {
      known.run = Run{from, update.to, update.as_of_ms};
    } else if (update.to >= known.run->from) {
      if (update.as_of_ms != -1 && update.to >= known.run->to) known.run->as_of = update.as_of_ms;
      known.run->from = std::min(from, known.run->from);
      known.run->to = std::max(update.to, known.run->to);
    }
  }

  const Known* CurrentOf(std::int32_t partition) const {
    const auto found = partitions_.find(partition);
    if (found == partitions_.end() || !found->second.current) return nullptr;
    const auto known = found->second.known.find(*found->second.current);
    return known == found->second.known.end() ? nullptr : &known->second;
  }

  template <typename Drop>
  void DropIf(Drop drop) {
    additions_.erase(std::remove_if(additions_.begin(), additions_.end(), drop), additions_.end());
  }
  void Forget(std::int32_t partition, std::int64_t generation) {
    Partition& its = partitions_[partition];
    its.known.erase(generation);
    its.beats.erase(generation);
    DropIf([&](const Addition& one) { return one.partition == partition && one.generation == generation; });
  }

  void Settle(std::int32_t partition) {
    Partition& its = partitions_[partition];
    if (!its.current || !its.base || !its.stands_at || *its.stands_at < its.base->second) return;
    if (MustRestart(partition) || MovedTo(partition)) return;
    const std::int64_t published_to = its.base->first;
    Known& known = its.known[*its.current];
    if (!known.complete || *known.complete < published_to) known.complete = published_to;
    if (!known.settled || *known.settled < published_to) known.settled = published_to;
    if (known.lost && known.lost->first <= published_to) known.lost.reset();
    DropIf([&](const Addition& one) {
      return one.partition == partition && one.generation == *its.current && one.to <= published_to;
    });
    for (const std::int64_t past : std::set<std::int64_t>(its.past)) Forget(partition, past);
    if (!known.run || known.run->from > *known.complete) return;
    if (known.run->to >= *known.complete && known.run->as_of != -1) known.as_of = known.run->as_of;
    known.complete = std::max(*known.complete, known.run->to);
    known.run.reset();
  }

  void DropOldest() {
    const Addition oldest = additions_.front();
    auto& lost = partitions_[oldest.partition].known[oldest.generation].lost;
    if (!lost) lost = {oldest.to, oldest.as_of_before};
    *lost = {std::max(lost->first, oldest.to), std::min(lost->second, oldest.as_of_before)};
    DropIf([&](const Addition& one) { return one.record == oldest.record; });
  }

  const std::size_t additions_max_;
  const std::optional<std::string> topic_;
  std::map<std::int32_t, Partition> partitions_;
  std::vector<Addition> additions_;  // in the order of their arrival
  std::map<std::uint64_t, std::map<std::int32_t, Snapshot>> snapshots_;
  std::uint64_t records_ = 0;
};

}  // namespace seen::client::test
