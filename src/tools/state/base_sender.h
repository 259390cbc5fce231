#pragma once
// One base for each partition of a state topic: schemas/state.md.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rows/row.h"
#include "state_stream/part_writer.h"
#include "state_stream/state_port.h"
#include "state_stream/state_record.h"

namespace seen {

/// One thread. Waits for the brokers where it must. Last parts go when all others have arrived: after an
/// error before that, no partition has a new base.
class BaseSender {
 public:
  struct Options {
    StateOpening opening;  // of each partition, but for its position and base
    struct Place {
      int64_t position = 0;               // of the input: the base's
      int64_t older_base_at = kNoOffset;  // counts until the new one is whole; kNoOffset: there is none
    };
    std::vector<Place> places;    // by partition
    size_t record_bytes_max = 0;  // at least twice kStatePartHeadBytes
    std::chrono::seconds patience{120};
    std::function<std::string()> refusal = {};  // why the brokers take nothing; empty: not known
  };
  /// `sink` outlives this.
  BaseSender(Options options, StateSink& sink);

  /// Openings, and of each base what `first_rows` gives: its rows up to the descriptor, the position first.
  Status Begin(const std::function<std::vector<Row>(int32_t partition)>& first_rows);
  /// Rows ascend in each partition.
  Status Add(int32_t partition, const Row& row);
  /// The bases are whole when this returns, unless another owner has begun in between.
  Status Finish();

  /// Of all records.
  uint64_t bytes() const { return bytes_; }
  /// After Finish.
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
  StateSink& sink_;
  std::vector<Partition> partitions_;
  uint64_t unacknowledged_ = 0;
  uint64_t bytes_ = 0;
  bool failed_ = false;
};

}  // namespace seen
