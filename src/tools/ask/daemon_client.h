#pragma once
// The daemon's HTTP routes, for the commands that use its answers. daemon_commands.cc asks for a person.

#include <chrono>
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
#include "tools/ask/daemon_http.h"

namespace seen {

/// The parts of GET /v1/status that seenctl needs.
struct DaemonSummary {
  std::string topic;
  bool is_replica = false;
  std::string group_that_owns;
  bool ready = false;
  std::string not_ready_reason;
  int32_t partitions_total = 0;
  uint64_t lag_messages = 0;
  uint64_t marks_outstanding = 0;
  struct Publishing {
    bool sweeping = false;  // or about to sweep
    uint64_t marks_outstanding = 0;
    int64_t next_offset = -1, published_to = -1;  // as in /v1/status; -1: not known
    uint64_t lag_messages = 0;
  };
  std::map<int32_t, Publishing> publishing;  // by partition
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
  /// The daemon's unchanged JSON about at most 20,000 items: those that the user hasn't seen, in order, each
  /// once, and similar items if the daemon reports any.
  Result<SortedJson> UnseenAnswer(std::string_view filter, std::string_view user_id,
                                  std::span<const std::string> items);
  Result<DaemonSummary> Status();
  /// The unchanged JSON of GET /v1/status.
  Result<SortedJson> WholeStatus();
  /// The unchanged digest of a partition's state. nullopt: the daemon still computes it, ask again. `copy`:
  /// the digest of that copy.
  Result<std::optional<SortedJson>> Digest(int32_t partition, TimeMs as_of, std::string_view copy = {});
  /// Makes a copy of the daemon's state. Returns the daemon's unchanged JSON about the copy.
  Result<SortedJson> MakeCopy();
  seen::Status ReleaseCopy(std::string_view copy);
  /// Any other route. `method`: GET, POST or DELETE. `target`: docs/HTTP.md. `question`: the body as JSON.
  /// Success: an answer of 200 or 202.
  Result<HttpAnswer> Ask(std::string_view method, std::string_view target, const SortedJson& question);
  Result<HttpAnswer> Ask(std::string_view method, std::string_view target);
  /// The same as JSON. kMalformed: the answer is no JSON object.
  Result<SortedJson> AskJson(std::string_view method, std::string_view target);

 private:
  explicit DaemonClient(DaemonHttp http) : http_(std::move(http)) {}
  DaemonHttp http_;
};

/// Waits until the daemon is ready, and until it and the owners in its routes have applied all records below
/// `ends` (partition -> offset), whatever comes after these. With `published`, waits until the snapshots with
/// these records are acknowledged, too.
/// kUnavailable after `timeout`; the message says what is still missing.
Status WaitUntilCaughtUp(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends, bool published,
                         std::chrono::duration<double> timeout, bool quiet);

/// The same for the source topic of re-keying: waits until the keyed topic has all records below `ends`.
Status WaitUntilRekeyed(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends,
                        std::chrono::duration<double> timeout, bool quiet);

}  // namespace seen
