#include "consume/last_published_reader.h"

#include "base/log.h"
#include "flow/partition_flow.h"

namespace seen {
namespace {
constexpr std::chrono::seconds kRetryAfter{2};
constexpr size_t kRowsBytesMax = 8 << 20;  // in memory; a file of the store gets as much
}  // namespace

void LastPublishedReader::Start() {
  thread_.Start("last-published", {}, [this] {
    Step();
    return kEvery;
  });
}

void LastPublishedReader::Stop() { thread_.Stop(); }

void LastPublishedReader::Step() {
  if (clock_.Now() < retry_at_) return;
  for (const PartitionPointer& open : open_.All()) {
    // A partition that still reads old records may become whole by them, so it must catch up first.
    if (!open->CaughtUp() || !open->assigned.load() || open->stopped.load()) continue;
    for (const FilterIndex filter_index : open->flow->last_published.ToRead(clock_.WallNow())) {
      const Status read = ReadOne(open, filter_index);
      if (thread_.stopping()) return;
      // If there is no topic, nothing was published.
      if (read || read.error().code == Code::kNotFound) {
        open->flow->last_published.EndReading(filter_index);
        continue;
      }
      reporter_.PublishFailed(open->partition, PublishStep::kLastPublished, read.error());
      retry_at_ = clock_.Now() + kRetryAfter;
    }
  }
}

Status LastPublishedReader::ReadOne(const PartitionPointer& open, FilterIndex filter_index) {
  std::vector<Row> rows;
  size_t bytes = 0;
  uint64_t records_read = 0;
  const auto take = [&](std::span<const Record> records) -> Status {
    if (thread_.stopping()) return Fail(Code::kUnavailable, "the daemon stops");
    if (open_.Find(open->partition) != open) return Fail(Code::kUnavailable, "the partition was closed");
    for (const Record& record : records) {
      rows.push_back({std::string(record.key), std::string(record.value)});
      bytes += record.key.size() + record.value.size() + sizeof(Row);
    }
    records_read += records.size();
    if (bytes < kRowsBytesMax) return {};
    const Status kept = Keep(*open, filter_index, rows);
    rows.clear();
    bytes = 0;
    return kept;
  };
  const auto& filter = open->flow->state.options().filters[filter_index];
  if (Status read = topics_.Read(static_cast<FilterIndex>(filter_index), open->partition, take); !read)
    return read;
  if (Status kept = Keep(*open, filter_index, rows); !kept) return kept;
  log::Info("the filter is incomplete: its last published snapshots were read, and are merged into new ones",
            {{"partition", open->partition}, {"filter", filter.name}, {"records", records_read}});
  return {};
}

Status LastPublishedReader::Keep(OpenPartition& open, FilterIndex filter_index,
                                 const std::vector<Row>& rows) {
  std::vector<LastPublishedSnapshots::Published> published;
  published.reserve(rows.size());
  for (const Row& row : rows) published.push_back({row.user_id, row.snapshot});
  return open.flow->last_published.Keep(filter_index, published);
}

}  // namespace seen
