#pragma once
// The snapshot topics in Kafka.

#include <map>
#include <span>
#include <string>

#include "config/config.h"
#include "consume/snapshot_topics.h"
#include "kafka/admin.h"

namespace seen {

class PublishedTopics final : public SnapshotTopics {
 public:
  /// Both arguments must outlive this object.
  PublishedTopics(const Config& config, const Admin& admin) : config_(config), admin_(admin) {}
  Status Read(FilterIndex filter, int32_t partition, const OnRecords& on_records) override;
  Status ReadRange(FilterIndex filter, int32_t partition, int64_t from, int64_t to,
                   const OnRecords& on_records) override;
  Result<Recent> FindRecent(FilterIndex filter, int32_t partition, std::chrono::milliseconds back) override;
  Result<std::map<int32_t, int64_t>> Ends(FilterIndex filter, std::span<const int32_t> partitions) override;

 private:
  const std::string& TopicOf(FilterIndex filter) const { return config_.filters[filter].snapshot->topic; }

  const Config& config_;
  const Admin& admin_;
};

}  // namespace seen
