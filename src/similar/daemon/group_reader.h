#pragma once
// Keeps the daemon's copy of the topic of groups. A thread of its own reads all partitions into the table
// that joins and answers use. No error stops the thread: it tries again. It counts and logs records that it
// can't read.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/back_off.h"
#include "base/log_budget.h"
#include "base/mutex.h"
#include "base/threads.h"
#include "consume/stream_status.h"
#include "kafka/topic_reader.h"
#include "similar/store/rocks_group_table.h"

namespace seen {

class GroupReader {
 public:
  using Options = TopicReader::Options;
  /// Starts reading. `table` must outlive this object.
  GroupReader(Options options, RocksGroupTable& table);
  ~GroupReader();  // calls Stop
  GroupReader(const GroupReader&) = delete;
  GroupReader& operator=(const GroupReader&) = delete;

  /// Stops reading, and writes what was read to disk. Idempotent, one thread.
  void Stop();
  /// Any thread.
  ItemGroupsStatus GetStatus() const;

 private:
  struct Reading {
    std::unique_ptr<TopicReader> follower;
    std::vector<RocksGroupTable::Position> positions;
    std::vector<bool> anchor_is_checked;  // by partition; true: compared, or there is nothing to compare
  };
  std::chrono::milliseconds Step();
  Status Follow();
  Status Begin(Reading& reading);
  Status Take(Reading& reading, int32_t partition, std::span<const Record> records);
  void NoteUnreadable(int32_t partition, const Record& record, const std::string& why);
  void NoteProgress(const Reading& reading);
  void SetProblem(std::string problem);

  const Options options_;
  RocksGroupTable& table_;
  LogBudget log_budget_;
  mutable Mutex mutex_;
  ItemGroupsStatus status_ GUARDED_BY(mutex_);
  BackOff back_off_;  // the thread's
  RepeatingThread thread_;
};

}  // namespace seen
