#pragma once
// The snapshot topics in Kafka, read once where filters are incomplete.

#include "config/config.h"
#include "run/last_published_reader.h"

namespace seen {

class PublishedTopics final : public SnapshotTopics {
 public:
  /// `config` outlives this.
  explicit PublishedTopics(const Config& config) : config_(config) {}
  Status Read(FilterIndex filter, int32_t partition, const OnRecords& on_records) override;

 private:
  const Config& config_;
};

}  // namespace seen
