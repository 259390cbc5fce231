#pragma once
// For tests of GroupFlow: items of numbers instead of text, the topic of groups as a map, random histories.

#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/day.h"
#include "similar/groups/group_flow.h"

namespace seen::test {

inline uint64_t Mix(uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9u;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

/// The features of a text, which is given as a set of shingles. The features follow the definitions of
/// docs/SIMILAR.md closely enough to be compared: a SimHash of the shingles, minima of four hashes a band, a
/// sketch of all.
inline ItemFeatures FeaturesOf(const std::set<uint32_t>& shingles, bool is_short = false) {
  ItemFeatures features;
  features.words = static_cast<uint32_t>(shingles.size());
  if (shingles.empty()) return features;
  features.length = is_short ? LengthClass::kShort : LengthClass::kLong;
  int sums[64] = {};
  std::array<uint64_t, kBands * 4> minima;
  minima.fill(UINT64_MAX);
  std::set<uint16_t> values;
  for (const uint32_t shingle : shingles) {
    const uint64_t hash = Mix(shingle + 1);
    features.content_hash = Mix(features.content_hash + hash);
    for (int bit = 0; bit < 64; ++bit) sums[bit] += (hash >> bit & 1) != 0 ? 1 : -1;
    for (size_t i = 0; i < minima.size(); ++i) minima[i] = std::min(minima[i], Mix(hash + i));
    values.insert(static_cast<uint16_t>(hash >> 48));
  }
  for (int bit = 0; bit < 64; ++bit) features.simhash |= static_cast<uint64_t>(sums[bit] > 0) << bit;
  for (size_t band = 0; band < kBands; ++band) {
    for (size_t row = 0; row < 4; ++row)
      features.bands[band] = Mix(features.bands[band] + minima[band * 4 + row]);
  }
  features.sketch.values.assign(values.begin(), values.end());
  return features;
}

/// An item of a history. The features live as long as the item.
struct GivenItem {
  std::string id;
  TimeMs created_at;
  bool deleted = false;
  ItemFeatures features;
};

inline PreparedItem Prepared(const GivenItem& item, int64_t offset) {
  return {offset,          item.created_at, item.id,
          item.created_at, item.deleted,    item.deleted ? nullptr : &item.features};
}

/// The compacted topic. Acknowledges all records in AwaitAll, or nothing while it is down.
class MapSink final : public GroupSink {
 public:
  bool TrySend(std::string_view item_id, const ItemGroup* group) override {
    if (queue_max_ != 0 && queued_ == queue_max_) return false;
    ++queued_;
    ++sent;
    if (group == nullptr) {
      topic.erase(std::string(item_id));
    } else {
      topic.insert_or_assign(std::string(item_id), *group);
    }
    return true;
  }
  Status AwaitAll(std::chrono::milliseconds) override {
    if (is_down) return Fail(Code::kUnavailable, "no acknowledgement");
    queued_ = 0;
    return {};
  }
  void HoldAtMost(size_t records) { queue_max_ = records; }

  std::map<std::string, ItemGroup> topic;
  uint64_t sent = 0;
  bool is_down = false;

 private:
  size_t queue_max_ = 0;  // 0: any number
  size_t queued_ = 0;
};

struct ItemHistoryShape {
  size_t length = 60;
  uint32_t families = 4;  // the texts of one differ in few shingles
  uint32_t shingles = 24;
  uint32_t ids = 25;
  int64_t step_ms = kMsPerDay / 3;  // between two items, at most
  uint32_t deleted_percent = 12;
};

/// Inserts, copies, near copies, changes of text, deletions, items that come late, items without a word. Time
/// goes on, so that items leave the window.
inline std::vector<GivenItem> RandomItems(uint64_t seed, const ItemHistoryShape& shape) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t bound) { return static_cast<uint32_t>(random() % bound); };
  std::vector<GivenItem> history;
  TimeMs now{20'000 * kMsPerDay};
  for (size_t i = 0; i < shape.length; ++i) {
    now.value += below(static_cast<uint64_t>(shape.step_ms));
    GivenItem item;
    item.id = "n" + std::to_string(below(shape.ids));
    item.created_at = now;
    if (below(10) == 0) item.created_at.value -= below(12 * kMsPerDay);
    item.deleted = below(100) < shape.deleted_percent;
    std::set<uint32_t> shingles;
    const uint32_t family = below(shape.families);
    if (below(25) != 0) {
      for (uint32_t shingle = 0; shingle < shape.shingles; ++shingle)
        shingles.insert(family * 1000 + shingle);
      for (uint32_t edits = below(4); edits > 0; --edits) {
        shingles.erase(family * 1000 + below(shape.shingles));
        if (below(2) == 0) shingles.insert(family * 1000 + 500 + below(6));
      }
    }
    if (!item.deleted) item.features = FeaturesOf(shingles, family % 3 == 2);
    history.push_back(std::move(item));
  }
  return history;
}

}  // namespace seen::test
