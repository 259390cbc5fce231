#pragma once
// One base for each partition of a state topic that is empty: schemas/state.md.

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

/// One thread. Waits for the brokers where it must. An error means that the topic is of no use: nothing in it
/// is a whole base, and it is to be deleted.
class BaseSender {
 public:
  struct Options {
    int32_t partitions = 0;
    StateOpening opening;         // of each partition
    int64_t position = 0;         // of the new input: each base's
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
  /// The bases are whole when this returns.
  Status Finish();

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
  bool failed_ = false;
};

}  // namespace seen
