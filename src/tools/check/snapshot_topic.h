#pragma once
// The snapshot topic in a reader's view: each user's last record.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "kafka/client_settings.h"
#include "tools/progress.h"

namespace seen {

/// One thread.
class SnapshotTopic {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
  };
  explicit SnapshotTopic(Options options) : options_(std::move(options)) {}

  /// Reads what was published since the last call, up to the topic's present end. `only_user`: keeps the
  /// records of this user only; empty: keeps all. If retention has deleted the next record to read, goes on
  /// from the earliest record left.
  Status CatchUp(std::string_view only_user = {}, Progress* progress = nullptr);

  /// nullptr: no record, or a tombstone.
  const std::string* Find(const std::string& user_id) const;
  size_t size() const { return snapshots_.size(); }
  uint64_t records_read() const { return records_read_; }

 private:
  Status ReadToEnd(std::string_view only_user, Progress* progress);

  Options options_;
  std::map<int32_t, int64_t> next_offsets_;
  std::unordered_map<std::string, std::string> snapshots_;
  uint64_t records_read_ = 0;
};

}  // namespace seen
