#pragma once
// The rules of a delta, applied as they are written to the whole history at once. There is no composition and
// no optimization.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/change.h"

namespace seen {

class DeltaOracle {
 public:
  DeltaOracle(std::span<const Change> history, const DeltaLimits& limits) : limits_(limits) {
    for (size_t i = 0; i < history.size(); ++i) {
      const bool resolving = history[i].kind == ChangeKind::kResolving;
      things_.push_back(resolving ? Place(history[i], &history[i + 1]) : Place(history[i], nullptr));
      if (resolving) ++i;
    }
  }

  Delta Expected(const std::string& user_id) const {
    Delta delta;
    std::map<Fingerprint, Day> removals;
    std::map<std::tuple<SegmentKind, uint32_t, int64_t>, Bucket> buckets;
    for (size_t i = 0; i < things_.size(); ++i) {
      const Thing& thing = things_[i];
      if (thing.change == ChangeKind::kErased) {
        delta.erased = std::max(delta.erased.value_or(thing.day), thing.day);
        continue;
      }
      if (TakenBack(i, ChangeKind::kErased)) continue;
      if (thing.change == ChangeKind::kRemoved) {
        const auto [at, added] = removals.try_emplace(thing.fingerprint, thing.day);
        at->second = std::max(at->second, thing.day);
        continue;
      }
      Bucket& bucket = buckets[{thing.kind, thing.width, thing.bucket}];
      bucket.first = std::min(bucket.first, thing.within);
      bucket.last = std::max(bucket.last, thing.within);
      if (thing.kind == SegmentKind::kByCreation) bucket.last_day = std::max(bucket.last_day, thing.time);
      if (!TakenBack(i, ChangeKind::kRemoved)) bucket.times[thing.fingerprint].insert(thing.time);
    }
    for (const auto& [fingerprint, day] : removals) delta.removals.push_back({fingerprint, day});
    for (auto& [place, bucket] : buckets) {
      const auto& [kind, width, number] = place;
      OtherSegment segment{
          {kind, width, static_cast<uint32_t>(number), bucket.first, bucket.last, bucket.last_day}, {}, {}};
      for (const auto& [fingerprint, all] : bucket.times) {
        std::vector<uint32_t> times(all.begin(), all.end());
        if (kind == SegmentKind::kRepeated && times.size() > 64) times.erase(times.begin(), times.end() - 64);
        if (kind == SegmentKind::kByCreation) times = {times.back()};
        if (kind == SegmentKind::kResolving) times = {times.front()};
        const Day day =
            kind == SegmentKind::kByCreation ? Day{static_cast<int32_t>(times.back())} : segment.day();
        const uint64_t most = uint64_t{limits_.items_per_day_max} * (kind == SegmentKind::kSimilar ? 8 : 1);
        if (Smaller(fingerprint, day, kind, bucket, segment.day(), removals) >= most) continue;
        for (const uint32_t time : times) {
          segment.fingerprints.push_back(fingerprint);
          if (IsTimed(kind)) segment.times.push_back(time);
        }
      }
      if (kind == SegmentKind::kExposed) {
        delta.segments.push_back({segment.day(), bucket.first, bucket.last, segment.fingerprints});
      } else {
        delta.others.push_back(segment);
      }
    }
    if (!buckets.empty()) delta.user_id = user_id;
    return delta;
  }

 private:
  struct Thing {
    ChangeKind change;
    SegmentKind kind{};
    Fingerprint fingerprint;
    Day day;  // removals compare with this day
    uint32_t width = 86'400;
    int64_t bucket = 0;
    uint32_t within = 0;  // second within the bucket
    uint32_t time = 0;    // kept beside the fingerprint
  };
  struct Bucket {
    uint32_t first = UINT32_MAX, last = 0, last_day = 0;
    std::map<Fingerprint, std::set<uint32_t>> times;
  };

  Thing Place(const Change& change, const Change* consumed) const {
    Thing thing{change.kind, SegmentKind::kExposed, change.fingerprint, {}, 86'400, 0, 0, 0};
    thing.day = {static_cast<int32_t>(change.second / 86'400)};
    if (change.kind == ChangeKind::kErased || change.kind == ChangeKind::kRemoved) return thing;
    if (change.kind == ChangeKind::kExposedOfCreation) {
      thing.kind = SegmentKind::kByCreation;
      thing.bucket = change.second >> 16;
      thing.time = change.second & 0xffff;
      thing.day = {static_cast<int32_t>(thing.time)};
      return thing;
    }
    if (change.kind == ChangeKind::kServed) thing.kind = SegmentKind::kServed;
    if (change.kind == ChangeKind::kResolving) thing.kind = SegmentKind::kResolving;
    if (change.kind == ChangeKind::kSimilar) thing.kind = SegmentKind::kSimilar;
    if (change.kind >= ChangeKind::kDeclaredFirst) thing.kind = static_cast<SegmentKind>(change.kind);
    if (thing.kind == SegmentKind::kServed || thing.kind == SegmentKind::kResolving) {
      thing.width = limits_.served_width_s;
      thing.day = {static_cast<int32_t>(change.second / thing.width * thing.width / 86'400)};
    }
    thing.bucket = change.second / thing.width;
    thing.within = change.second % thing.width;
    if (change.kind == ChangeKind::kExposed && limits_.repeated) {
      thing.kind = SegmentKind::kRepeated;
      thing.time = thing.within;
    }
    if (consumed) {
      const auto after = static_cast<int64_t>(consumed->second) - thing.bucket * thing.width;
      thing.time = after > 0 ? static_cast<uint32_t>(after) : 0;
    }
    return thing;
  }

  // Whether a change of kind `by` takes thing `i` back. Such a change is later in the log and has the same
  // day or a later one. Or it is earlier in the log and has a later day.
  bool TakenBack(size_t i, ChangeKind by) const {
    for (size_t j = 0; j < things_.size(); ++j) {
      if (things_[j].change != by) continue;
      if (by == ChangeKind::kRemoved && things_[j].fingerprint != things_[i].fingerprint) continue;
      if (j > i ? things_[i].day <= things_[j].day : things_[i].day < things_[j].day) return true;
    }
    return false;
  }

  // How many smaller fingerprints were shown or removed on `day` or later.
  static size_t Smaller(Fingerprint fingerprint, Day day, SegmentKind kind, const Bucket& bucket,
                        Day bucket_day, const std::map<Fingerprint, Day>& removals) {
    std::set<Fingerprint> smaller;
    for (const auto& [other, times] : bucket.times) {
      const Day shown =
          kind == SegmentKind::kByCreation ? Day{static_cast<int32_t>(*times.rbegin())} : bucket_day;
      if (other < fingerprint && shown >= day) smaller.insert(other);
    }
    for (const auto& [other, removed] : removals) {
      if (other < fingerprint && removed >= day) smaller.insert(other);
    }
    return smaller.size();
  }

  const DeltaLimits limits_;
  std::vector<Thing> things_;
};

}  // namespace seen
