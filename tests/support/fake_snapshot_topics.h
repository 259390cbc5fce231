#pragma once
// Snapshot topics as a reader finds them: with the records that a FakeSnapshotTopic has taken.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "consume/snapshot_topics.h"
#include "support/fakes.h"

namespace seen::sim {

/// One partition. A compacted topic may still hold older records of a key; this one doesn't.
class FakeSnapshotTopics final : public SnapshotTopics {
 public:
  explicit FakeSnapshotTopics(const FakeSnapshotTopic& sent) : sent_(sent) {}
  Status Read(FilterIndex filter, int32_t, const OnRecords& on_records) override {
    ++readings;
    if (fails) return Fail(*fails);
    int64_t offset = 0;
    for (const auto& [key, snapshot] : sent_.topic) {
      if (key.first != filter) continue;
      const Record record{offset++, {0}, key.second, snapshot, false};
      if (Status taken = on_records({&record, 1}); !taken) return taken;
    }
    for (const std::string& user_id : tombstones) {
      const Record record{offset++, {0}, user_id, {}, true};
      if (Status taken = on_records({&record, 1}); !taken) return taken;
    }
    return {};
  }
  Status ReadRange(FilterIndex filter, int32_t partition, int64_t, int64_t, const OnRecords& take) override {
    return Read(filter, partition, take);
  }
  Result<Recent> FindRecent(FilterIndex, int32_t, std::chrono::milliseconds) override { return Recent{}; }
  Result<std::map<int32_t, int64_t>> Ends(FilterIndex, std::span<const int32_t>) override {
    return std::map<int32_t, int64_t>();
  }
  int readings = 0;
  std::optional<Error> fails;
  std::vector<std::string> tombstones;

 private:
  const FakeSnapshotTopic& sent_;
};

}  // namespace seen::sim
