#include "bulk_load/partition_builder.h"

#include <chrono>
#include <thread>

namespace seen {

class ChangeCollector::Writer final : public RowWriter {
 public:
  Writer(ChangeCollector& collector, const Position& position) : collector_(collector), position_(position) {}
  Status Commit() override {
    collector_.position_ = position_;
    collector_.on_changes_(std::move(changes_));
    return {};
  }

 private:
  Status Write(const Row& row) override {
    changes_.Add(row);
    return {};
  }
  ChangeCollector& collector_;
  const Position position_;
  RowBatch changes_;
};

Horizon ChangeCollector::HorizonOf(FilterId filter) const {
  const auto found = horizons_.find(filter);
  return found == horizons_.end() ? Horizon() : found->second;
}

Result<std::unique_ptr<CheckpointWriter>> ChangeCollector::BeginCheckpoint(const Position& position) {
  return std::unique_ptr<CheckpointWriter>(std::make_unique<Writer>(*this, position));
}

namespace {

// The end of the log that the flow is given. The flow counts as far behind this end, so the flow follows no
// users and marks them. The daemon finds the marks at its first start.
constexpr int64_t kFarAhead = int64_t{1} << 60;

// Short, because a shutdown may wait for it.
constexpr int kSchemaWaits = 40;
constexpr std::chrono::milliseconds kSchemaWait{100};

}  // namespace

PartitionBuilder::PartitionBuilder(PartitionOptions options, StoredLimits limits, const std::string& folder,
                                   int64_t from, Reporter& reporter, const Clock& clock)
    : runs_(folder, "partition-" + std::to_string(options.partition), std::move(limits)),
      collector_([this](RowBatch changes) { runs_.Add(std::move(changes)); }),
      flow_(std::move(options), std::nullopt, from, kFarAhead, collector_, letters_, reporter, clock) {}

Status PartitionBuilder::Apply(std::span<const Record> records) {
  int waits = 0;
  while (!records.empty()) {
    const auto taken = flow_.intake.Apply(records);
    if (!taken) return Fail(taken.error());
    records = records.subspan(*taken);
    if (records.empty()) break;
    if (flow_.intake.HeldBy() == HoldReason::kSchema) {
      if (++waits > kSchemaWaits)
        return Fail(Code::kUnavailable,
                    "a record's schema isn't known: the schema registry doesn't answer, or "
                    "doesn't know it (input.schema_registry)");
      std::this_thread::sleep_for(kSchemaWait);
      continue;
    }
    waits = 0;
    if (Status written = Checkpoint(); !written) return written;  // the tail is full
  }
  return {};
}

Status PartitionBuilder::Checkpoint() {
  if (!flow_.intake.HasChanges()) return {};
  flow_.intake.Freeze();
  const auto written = flow_.checkpoint.Write();
  if (!written) return Fail(written.error());
  return {};
}

}  // namespace seen
