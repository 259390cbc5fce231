#pragma once
// The daemon's HTTP pages as functions.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tools/ask/http_client.h"

namespace seen {

/// What seenctl needs of GET /v1/status.
struct DaemonSummary {
  std::string brokers;
  std::string topic;
  bool embedded_kafka = false;
  bool is_replica = false;
  std::string group_that_owns;
  bool ready = false;
  std::string not_ready_reason;
  int32_t partitions_total = 0;
  int32_t partitions_ready = 0;
  uint64_t lag_messages = 0;
  uint64_t marks_outstanding = 0;
  uint64_t misrouted = 0;
  int partitions_sweeping = 0;  // or about to
  uint64_t users_swept = 0;
  bool watermarks_known = false;               // of every partition: before that a lag of 0 means nothing
  std::vector<int64_t> next_offsets;           // by partition; -1: not this daemon's
  std::string source_topic;                    // what is re-keyed into `topic`; empty: nothing is
  std::map<int32_t, int64_t> rekeyed_offsets;  // of its partitions, as committed; -1: nothing yet
};

/// One thread. Errors: kNotFound (404), kUnavailable (no answer, 503), kInvalidArgument (other 4xx), with the
/// daemon's own words.
class DaemonClient {
 public:
  static Result<DaemonClient> Make(const DaemonAddress& address);

  /// Snapshot bytes; an unknown user's are a valid empty filter. `format`: of another kind than the
  /// configuration's.
  Result<std::string> Snapshot(std::string_view filter, std::string_view user_id,
                               std::string_view format = {});
  /// Of `items`, those not seen, in order, each once. At most 20,000 items. `created_at`: of all of them.
  Result<std::vector<std::string>> Unseen(std::string_view filter, std::string_view user_id,
                                          std::span<const std::string> items,
                                          std::span<const std::string> also_seen = {},
                                          std::optional<TimeMs> created_at = {});
  /// The same as the daemon's JSON, as it is: also what is similar, where it reports that.
  Result<nlohmann::json> UnseenAnswer(std::string_view filter, std::string_view user_id,
                                      std::span<const std::string> items,
                                      std::span<const std::string> also_seen = {},
                                      std::optional<TimeMs> created_at = {}, bool one_per_group = false);
  /// The same for a question as docs/HTTP.md has it.
  Result<nlohmann::json> UnseenOf(std::string_view filter, std::string_view user_id,
                                  const nlohmann::json& question);
  /// The daemon's JSON about a user's segments, as it is.
  Result<nlohmann::json> Segments(std::string_view filter, std::string_view user_id);
  /// The daemon's JSON about why an item would be dropped, as it is.
  Result<nlohmann::json> Why(std::string_view filter, std::string_view user_id, std::string_view item);
  /// The daemon's JSON about an item's group, a page of it, as it is; `after`: the last one's "next".
  Result<nlohmann::json> Group(std::string_view item, std::string_view after = {});
  /// The daemon's JSON about what is like a text, as it is. `question`: docs/HTTP.md.
  Result<nlohmann::json> Similar(const nlohmann::json& question);
  /// Taken by the topic; in effect once the daemon's next offset of the partition is beyond `offset`.
  struct Place {
    int32_t partition = 0;
    int64_t offset = 0;
  };
  Result<Place> Erase(std::string_view user_id);
  Result<Place> Remove(std::string_view user_id, std::span<const std::string> items);

  Result<DaemonSummary> Status();
  /// GET /v1/status as it is.
  Result<nlohmann::json> WholeStatus();
  /// The digest of a partition's state, as it is; nullopt: it is under way, ask again. `copy`: of that copy.
  Result<std::optional<nlohmann::json>> Digest(int32_t partition, TimeMs as_of, std::string_view copy = {});
  /// The daemon's JSON about a copy that it made of its state, as it is.
  Result<nlohmann::json> MakeCopy();
  seen::Status ReleaseCopy(std::string_view copy);
  Result<std::string> MetricsPage();
  /// How many partitions will re-render all their snapshots.
  Result<int> PublishAll();
  /// The daemon's JSON about what it applied, as it is. kInvalidArgument: its configuration has mistakes.
  Result<nlohmann::json> Reload();
  /// Of this daemon's partitions.
  seen::Status AcknowledgeLost();
  /// The daemon's JSON about who answers for which partition, as it is.
  Result<nlohmann::json> Routes();
  /// Begins, or adds partitions to, the fill of that id.
  seen::Status StartFill(std::string_view filter, std::string_view id);
  seen::Status StopFill(std::string_view filter);
  /// The daemon's JSON about fills, as it is.
  Result<nlohmann::json> Fills();
  /// Makes the daemon's group the owner of the outputs.
  Result<Place> Promote();

 private:
  explicit DaemonClient(HttpClient http) : http_(std::move(http)) {}
  HttpClient http_;
};

}  // namespace seen
