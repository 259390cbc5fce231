#pragma once
// Snapshots: the topic in a reader's view, and the bytes of one as a report for people and scripts.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "kafka/client_settings.h"
#include "tools/progress.h"

namespace seen {

/// Each user's last record. One thread.
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

/// The envelope's fields and sizes, and for each of `test_ids` whether the filter might contain it ("tests").
/// If the snapshot has a filter of similar items: that filter, too ("similar"), and for each id whether it
/// may be similar to a seen item ("near_tests").
/// kMalformed: as SnapshotView::Parse.
Result<nlohmann::ordered_json> DescribeSnapshot(std::string_view bytes,
                                                std::span<const std::string> test_ids);

/// The same as lines for people.
std::string SnapshotText(const nlohmann::ordered_json& description);

}  // namespace seen
