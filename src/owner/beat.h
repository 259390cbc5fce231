#pragma once
// A beat says how far a daemon's stream of a partition has come, and who answers for it. Readers of the
// snapshot topics can then distinguish a stale topic from a quiet one, and daemons learn whom to ask.
// Records: schemas/snapshot.md, "Watermarks"; schemas/cluster.md.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace seen {

/// Who publishes.
struct BeatSender {
  std::string group;     // the consumer group; empty: not known
  std::string instance;  // a member of that group; empty: the beat is from an earlier version
  std::string address;   // HOST:PORT where it answers over HTTP; empty: it isn't known
  bool is_replica = false;
};

struct Beat {
  BeatSender from = {};
  int32_t partition = 0;
  std::string state = {};  // "ready": the daemon answers; "catching_up"; empty: from an earlier version
  TimeMs partition_time = {};
  int64_t next_offset = 0;
  int64_t lag_messages = 0;
  bool lag_is_known = true;
  uint64_t unpublished_users = 0;
  int64_t published_to = -1;  // -1: the beat doesn't say
  // For readers of updates (schemas/update.md, "The beat").
  int64_t generation = 0;                            // 0: the daemon writes no updates
  std::map<std::string, int64_t> snapshots_to = {};  // by filter; so are the next three
  std::map<std::string, std::string> snapshots_topic = {};
  std::map<std::string, int64_t> snapshots_log = {};      // see OutputGuard::LogOf
  std::map<std::string, int64_t> complete_since_ms = {};  // of incomplete filters
  int64_t updates_from = -1;                              // -1: not known
  bool republishing = false;  // users may be missing in a snapshot topic: whoever owns next goes on
  TimeMs at = {};
};

/// If the log's end isn't known, the text has a lag of at least 1: older readers take 0 for "all is read".
std::string EncodeBeat(const Beat& beat);
/// nullopt: the text isn't a beat.
std::optional<Beat> ParseBeat(std::string_view text);

/// Two groups must not publish into the same topics: their snapshots would overwrite each other's. The rule:
/// another group's beat that is newer than one read before says that this group publishes now. One thread.
class OtherGroups {
 public:
  /// `group`: this daemon's.
  explicit OtherGroups(std::string group) : here_(std::move(group)) {}

  /// A record of the topic of watermarks. Beats of older daemons name no group, and don't count.
  void Hear(std::string_view key, int64_t offset, std::string_view beat);
  /// One of the groups that wrote the last beat of a partition; nullopt: only this group did.
  std::optional<std::string> Any() const;
  /// A group that has written since `before`.
  std::optional<std::string> WritesSince(const OtherGroups& before) const;

 private:
  const std::string here_;
  std::map<std::string, std::pair<std::string, int64_t>, std::less<>> last_;  // by key: group and offset
};

}  // namespace seen
