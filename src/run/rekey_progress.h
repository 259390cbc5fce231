#pragma once
// Measures, from time to time, how far behind re-keying is, over all partitions of the source.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace seen {

/// One thread at a time.
class RekeyProgress {
 public:
  struct Partition {
    int64_t low_watermark = 0;
    int64_t high_watermark = 0;
    int64_t committed = -1;  // -1: nothing yet
    int64_t position = -1;   // this daemon's own, which may be beyond `committed`; -1: not known

    int64_t done() const { return std::max({low_watermark, committed, position}); }
    int64_t lag() const { return std::max<int64_t>(0, high_watermark - done()); }
  };
  using Partitions = std::map<int32_t, Partition>;

  /// Two looks must be at least as far apart as two commits.
  void Look(Partitions now) {
    std::optional<int64_t> behind;
    for (const auto& [number, partition] : now) {
      const auto before = partitions_.find(number);
      // Messages that came since the last look may be in flight, however many they are.
      const int64_t wanted = before == partitions_.end()
                                 ? partition.high_watermark
                                 : std::min(before->second.high_watermark, partition.high_watermark);
      behind = std::max(behind.value_or(0), wanted - partition.done());
    }
    behind_ = behind;
    partitions_ = std::move(now);
  }
  /// For the partition that is furthest behind: the messages that were there at the look before the last one
  /// and aren't re-keyed yet. nullopt: not known.
  std::optional<int64_t> behind() const { return behind_; }
  const Partitions& partitions() const { return partitions_; }

 private:
  Partitions partitions_;
  std::optional<int64_t> behind_;
};

}  // namespace seen
