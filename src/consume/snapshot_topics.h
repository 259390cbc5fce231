#pragma once
// The topics that filters publish into, for reading them back.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "base/result.h"
#include "flow/log_port.h"
#include "model/filter_number.h"

namespace seen {

/// Any thread. kNotFound: there is no such topic; kUnavailable: the brokers don't answer.
class SnapshotTopics {
 public:
  virtual ~SnapshotTopics() = default;
  using OnRecords = std::function<Status(std::span<const Record> records)>;
  /// Hands over the partition's records in order, up to its present end. If `on_records` fails, returns its
  /// error.
  virtual Status Read(FilterIndex filter, int32_t partition, const OnRecords& on_records) = 0;
  /// As Read, for the records from `from` on. May also hand over some records behind `to`.
  virtual Status ReadRange(FilterIndex filter, int32_t partition, int64_t from, int64_t to,
                           const OnRecords& on_records) = 0;
  struct Recent {
    int64_t from = 0;
    int64_t to = 0;  // the end
  };
  /// Finds the offset where the records begin whose timestamps are at most `back` before the last record's.
  virtual Result<Recent> FindRecent(FilterIndex filter, int32_t partition,
                                    std::chrono::milliseconds back) = 0;
  /// The offset after the last record, by partition.
  virtual Result<std::map<int32_t, int64_t>> Ends(FilterIndex filter,
                                                  std::span<const int32_t> partitions) = 0;
};

}  // namespace seen
