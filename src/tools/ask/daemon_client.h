#pragma once
// The daemon's HTTP routes as functions.

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

/// The parts of GET /v1/status that seenctl needs.
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
  int partitions_sweeping = 0;  // sweeping, or about to sweep
  uint64_t users_swept = 0;
  bool watermarks_known = false;               // of every partition; without them a lag of 0 means nothing
  std::vector<int64_t> next_offsets;           // by partition; -1: another daemon owns it
  std::string source_topic;                    // the topic that is re-keyed into `topic`; empty: none
  std::map<int32_t, int64_t> rekeyed_offsets;  // committed offsets of its partitions; -1: none yet
};

/// One thread. Errors have the daemon's own words. kNotFound: 404. kInvalidArgument: another 4xx.
/// kUnavailable: 503, or no answer.
class DaemonClient {
 public:
  static Result<DaemonClient> Make(const DaemonAddress& address);

  /// The bytes of a snapshot. For an unknown user they are a valid empty filter. `format`: another kind of
  /// filter than the configured one.
  Result<std::string> Snapshot(std::string_view filter, std::string_view user_id,
                               std::string_view format = {});
  /// Returns the items of `items` that the user hasn't seen, in order, each once. At most 20,000 items.
  /// `created_at`: the creation time of all of them.
  Result<std::vector<std::string>> Unseen(std::string_view filter, std::string_view user_id,
                                          std::span<const std::string> items,
                                          std::span<const std::string> also_seen = {},
                                          std::optional<TimeMs> created_at = {});
  /// The same, as the daemon's unchanged JSON. The JSON also has similar items if the daemon reports any.
  Result<nlohmann::json> UnseenAnswer(std::string_view filter, std::string_view user_id,
                                      std::span<const std::string> items,
                                      std::span<const std::string> also_seen = {},
                                      std::optional<TimeMs> created_at = {}, bool one_per_group = false);
  /// The same for a request body as in docs/HTTP.md.
  Result<nlohmann::json> UnseenOf(std::string_view filter, std::string_view user_id,
                                  const nlohmann::json& question);
  /// The daemon's unchanged JSON about a user's segments.
  Result<nlohmann::json> Segments(std::string_view filter, std::string_view user_id);
  /// The daemon's unchanged JSON: why it would drop an item.
  Result<nlohmann::json> Why(std::string_view filter, std::string_view user_id, std::string_view item);
  /// The daemon's unchanged JSON about an item's group, one page. `after`: "next" of the page before.
  Result<nlohmann::json> Group(std::string_view item, std::string_view after = {});
  /// The daemon's unchanged JSON with the items that are similar to a text. `question`: docs/HTTP.md.
  Result<nlohmann::json> Similar(const nlohmann::json& question);
  /// The place of a change in the topic. The change is in effect once the daemon's next offset of the
  /// partition is beyond `offset`.
  struct Place {
    int32_t partition = 0;
    int64_t offset = 0;
  };
  Result<Place> Erase(std::string_view user_id);
  Result<Place> Remove(std::string_view user_id, std::span<const std::string> items);

  Result<DaemonSummary> Status();
  /// The unchanged JSON of GET /v1/status.
  Result<nlohmann::json> WholeStatus();
  /// The unchanged digest of a partition's state. nullopt: the daemon still computes it, ask again. `copy`:
  /// the digest of that copy.
  Result<std::optional<nlohmann::json>> Digest(int32_t partition, TimeMs as_of, std::string_view copy = {});
  /// Makes a copy of the daemon's state. Returns the daemon's unchanged JSON about the copy.
  Result<nlohmann::json> MakeCopy();
  seen::Status ReleaseCopy(std::string_view copy);
  Result<std::string> MetricsPage();
  /// Returns how many partitions will re-render all their snapshots.
  Result<int> PublishAll();
  /// The daemon's unchanged JSON about the applied keys. kInvalidArgument: its configuration has mistakes.
  Result<nlohmann::json> Reload();
  /// Acknowledges the lost ranges of this daemon's partitions.
  seen::Status AcknowledgeLost();
  /// The daemon's unchanged JSON: which daemon answers for which partition.
  Result<nlohmann::json> Routes();
  /// Begins the fill of that id, or adds the daemon's partitions to it.
  seen::Status StartFill(std::string_view filter, std::string_view id);
  seen::Status StopFill(std::string_view filter);
  /// The daemon's unchanged JSON about fills.
  Result<nlohmann::json> Fills();
  /// Makes the daemon's group the owner of the outputs.
  Result<Place> Promote();

 private:
  explicit DaemonClient(HttpClient http) : http_(std::move(http)) {}
  HttpClient http_;
};

}  // namespace seen
