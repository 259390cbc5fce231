#pragma once
// Writes one base for each partition of a state topic: schemas/state.md.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rows/row_batch.h"
#include "state_stream/part_writer.h"
#include "state_stream/state_port.h"
#include "state_stream/state_record.h"

namespace seen {

/// One thread. Waits for the brokers. Sends the last parts only when all other parts have arrived. After an
/// earlier error, no partition has a new base.
class BaseSender {
 public:
  struct Options {
    StateOpening opening;  // for each partition, without its position and base
    struct Place {
      int64_t position = 0;               // the base's position in the input
      int64_t older_base_at = kNoOffset;  // the base that counts until the new one is whole; kNoOffset: none
    };
    std::vector<Place> places;    // by partition
    size_t record_bytes_max = 0;  // at least twice kStatePartHeadBytes
    std::chrono::seconds patience{120};
    std::function<std::string()> refusal = {};  // why the brokers accept nothing; empty: not known
  };
  /// `sink` must outlive this object.
  BaseSender(Options options, PartitionSink& sink);

  /// Sends the openings. Begins each base with its `first_rows`: from the position to the descriptor.
  Status Begin(const std::function<RowBatch(int32_t partition)>& first_rows);
  /// The rows of each partition must come in ascending order.
  Status Add(int32_t partition, const Row& row);
  /// After success the bases are whole, unless another owner opened a partition in between.
  Status Finish();

  /// The size of all records.
  uint64_t bytes() const { return bytes_; }
  /// Both after Finish.
  int64_t epoch(int32_t partition) const { return partitions_[static_cast<size_t>(partition)].epoch; }
  int64_t base_at(int32_t partition) const { return partitions_[static_cast<size_t>(partition)].base_at; }

 private:
  struct Partition {
    std::unique_ptr<PartWriter> writer;
    int64_t epoch = kNoOffset;
    int64_t base_at = kNoOffset;
  };
  Status Send(int32_t partition, const std::string& record, uint64_t ticket);
  Status WaitForAll();
  Status Poll(std::chrono::steady_clock::time_point until);

  const Options options_;
  PartitionSink& sink_;
  std::vector<Partition> partitions_;
  uint64_t unacknowledged_ = 0;
  uint64_t bytes_ = 0;
  bool failed_ = false;
};

}  // namespace seen
