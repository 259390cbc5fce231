#include "bulk_load/partition_builder.h"

#include "base/check.h"

namespace seen {
namespace {

// Far behind the log's end: publication is left to marks, which the daemon finds at its first start.
constexpr int64_t kFarAhead = int64_t{1} << 60;

}  // namespace

bool PartitionBuilder::NoLetters::TrySend(const DeadLetter&) {
  Check(false, "an event that was decoded before is rejected");
  return true;
}

PartitionBuilder::PartitionBuilder(PartitionOptions options, StoredLimits limits, const std::string& folder,
                                   Reporter& reporter, const Clock& clock)
    : runs_(folder, "partition-" + std::to_string(options.partition), std::move(limits)),
      collector_([this](RowBatch changes) { runs_.Add(std::move(changes)); }),
      flow_(std::move(options), std::nullopt, 0, kFarAhead, collector_, no_letters_, reporter, clock) {}

Status PartitionBuilder::Apply(std::span<Record> records) {
  int64_t offset = next_offset_;
  for (Record& record : records) record.offset = offset++;
  std::span<const Record> left = records;
  while (!left.empty()) {
    const auto taken = flow_.intake.Apply(left);
    if (!taken) return Fail(taken.error());
    left = left.subspan(*taken);
    if (left.empty()) break;
    if (Status written = Checkpoint(); !written) return written;  // the tail is full
  }
  next_offset_ = offset;
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
