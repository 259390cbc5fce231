#pragma once
// Reads a topic's records for tools (verify, replay) and fills: every partition from one offset to another,
// without a group and without commits.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"

namespace seen {

/// A header of a record that one of this room's readers delivered; valid as long as the record. nullopt: no
/// header has that name, or it is null.
std::optional<std::string_view> HeaderOf(const Record& record, const char* name);

/// One thread.
class TopicReader {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client{};
    std::string topic;
    std::optional<TimeMs> from_time{};          // the first record at or after it; nullopt: the earliest
    std::optional<TimeMs> to_time{};            // records before it; nullopt: the end as it is at Open
    std::optional<int32_t> only_partition{};    // nullopt: all
    std::map<int32_t, int64_t> from_offsets{};  // partition -> offset, to resume; overrides from_time
    std::map<int32_t, int64_t> to_offsets{};    // exclusive; the lesser of it and to_time counts
    uint64_t queue_bytes_max = 64 << 20;        // of fetched records
  };
  struct Range {
    int32_t partition = 0;
    int64_t from = 0;
    int64_t to = 0;  // exclusive
  };

  /// Finds the ranges. kNotFound: no such topic; kUnavailable: brokers don't answer; kInvalidArgument:
  /// settings.
  static Result<std::unique_ptr<TopicReader>> Open(const Options& options, std::chrono::milliseconds timeout);
  ~TopicReader();
  TopicReader(const TopicReader&) = delete;
  TopicReader& operator=(const TopicReader&) = delete;

  /// Fixed at Open: one per partition, ascending, empty ones too.
  const std::vector<Range>& ranges() const;
  /// Where the partition's log begins now. kUnavailable.
  Result<int64_t> QueryLow(int32_t partition, std::chrono::milliseconds timeout) const;

  using OnRecords = std::function<void(int32_t partition, std::span<const Record> records)>;
  /// Waits up to `timeout` for records and hands over what there is, in order by partition; valid until
  /// `on_records` returns. False: everything has been read. kUnavailable: reading can't go on (e.g. retention
  /// deleted offsets).
  Result<bool> Poll(std::chrono::milliseconds timeout, const OnRecords& on_records);

  uint64_t records_remaining() const;  // an upper bound: compaction and transactions leave gaps

 private:
  struct Impl;
  explicit TopicReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
