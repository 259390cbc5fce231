#pragma once
// Reads a topic without a group and without commits, for fills, tools, restores, and copies of compacted
// topics. Each partition has a range of offsets. The end of a range may be open: then reading never ends.

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "consume/group_log.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"

namespace seen {

/// A header of a record that one of this room's readers delivered; valid as long as the record. nullopt: no
/// header has that name, or it is null.
std::optional<std::string_view> HeaderOf(const Record& record, const char* name);

/// One thread.
class TopicReader {
 public:
  static constexpr int64_t kOpenEnd = std::numeric_limits<int64_t>::max();

  struct Options {
    std::string brokers;
    ClientSettings client{};
    std::string topic;
    uint64_t queue_bytes_max = 64 << 20;  // of fetched records, about: not of what is in flight
    // How long a broker without new records holds a fetch. Questions wait for the fetch before them.
    std::chrono::milliseconds fetch_wait{100};
    bool waits = false;              // for brokers that report an error; false: Poll fails
    bool reads_uncommitted = false;  // records of open transactions, too: none can hold the reader up
    // These are for Open.
    std::optional<TimeMs> from_time{};          // the first record at or after it; nullopt: the earliest
    std::optional<TimeMs> to_time{};            // records before it; nullopt: the end as it is at Open
    std::optional<int32_t> only_partition{};    // nullopt: all
    std::map<int32_t, int64_t> from_offsets{};  // partition -> offset, to resume; overrides from_time
    std::map<int32_t, int64_t> from_offsets_or_later{};  // the same, and retention may have deleted them
    std::map<int32_t, int64_t> to_offsets{};             // exclusive; the lesser of it and to_time counts
  };
  struct Range {
    int32_t partition = 0;
    int64_t from = 0;
    int64_t to = kOpenEnd;  // exclusive
  };

  /// Connects in the background, and asks nothing. kInvalidArgument: settings.
  static Result<std::unique_ptr<TopicReader>> Connect(const Options& options);
  /// Reads what the options say. kNotFound: no such topic; kUnavailable: brokers don't answer;
  /// kInvalidArgument: settings.
  static Result<std::unique_ptr<TopicReader>> Open(const Options& options, std::chrono::milliseconds timeout);
  /// For a reader that follows all partitions: asks for `ends`. Then call FollowFrom. Errors: as Open.
  static Result<std::unique_ptr<TopicReader>> OpenToFollow(Options options,
                                                           std::chrono::milliseconds timeout);
  ~TopicReader();
  TopicReader(const TopicReader&) = delete;
  TopicReader& operator=(const TopicReader&) = delete;

  /// Call it once, or again after Stop.
  Status Start(const std::vector<Range>& ranges);
  /// Reads all partitions from these offsets on, for ever.
  Status FollowFrom(std::span<const int64_t> from);
  /// Stops reading, and drops what waits to be polled.
  Status Stop();

  /// One per partition, ascending, empty ones too. Fixed at Open.
  const std::vector<Range>& ranges() const;
  /// By partition, at Open or OpenToFollow.
  const std::vector<Watermarks>& ends() const;
  /// The cluster's id; empty if the brokers don't report it.
  std::string Cluster(std::chrono::milliseconds timeout) const;
  /// Where the partition's log begins and ends now. kUnavailable; kNotFound.
  Result<Watermarks> QueryEnds(int32_t partition, std::chrono::milliseconds timeout) const;
  /// Whether the topic's cleanup.policy has "compact". false also if the brokers don't say. kUnavailable.
  Result<bool> IsCompacted(std::chrono::milliseconds timeout) const;
  /// The partition's end, as last reported.
  int64_t HighWatermark(int32_t partition) const;

  using OnRecords = std::function<Status(int32_t partition, std::span<const Record> records)>;
  /// Waits up to `timeout` for records and hands over what there is, in order by partition; valid until
  /// `on_records` returns. False: everything has been read. If `on_records` fails, returns its error.
  /// kUnavailable: reading can't go on (e.g. retention deleted offsets). kRefused: a range without an end
  /// can't go on from its offset, so the topic must be read again.
  template <typename F>
  Result<bool> Poll(std::chrono::milliseconds timeout, F&& on_records) {
    return PollRecords(timeout, [&](int32_t partition, std::span<const Record> records) -> Status {
      if constexpr (std::is_void_v<decltype(on_records(partition, records))>) {
        on_records(partition, records);
        return {};
      } else {
        return on_records(partition, records);
      }
    });
  }

  uint64_t records_remaining() const;  // an upper bound: compaction and transactions leave gaps

 private:
  struct Impl;
  explicit TopicReader(std::unique_ptr<Impl> impl);
  Result<bool> PollRecords(std::chrono::milliseconds timeout, const OnRecords& on_records);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
