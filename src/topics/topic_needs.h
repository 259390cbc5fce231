#pragma once
// What the daemon needs of each topic that it uses, and what is wrong with one. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "consume/stream_status.h"
#include "kafka/admin.h"

namespace seen {

/// A row of the table of topics.
struct TopicNeed {
  enum class Policy : uint8_t {
    kAny,
    kDelete,    // no compaction: every record counts
    kCompact,   // compaction alone: the newest record of each key counts, however old it is
    kCompacts,  // compaction, and deletion if the topic's retention is long enough
  };
  TopicSpec spec;                      // as the daemon, or its user, creates it
  std::string_view key;                // names it in the configuration
  std::string_view content;            // "events", for texts
  Policy policy = Policy::kAny;        // cleanup.policy
  bool is_created = true;              // by the daemon, if it is missing
  bool counts = false;                 // needs the partitions of `spec`, no more and no fewer
  bool is_whole = false;               // retention.bytes must be unlimited
  int64_t kept_ms = 0;                 // least retention.ms; -1: unlimited
  int64_t late_ms = 0;                 // takes records with timestamps as old as this
  int64_t record_bytes = 0;            // takes records of this length
  std::string_view else_refuses = {};  // a clause: whose records are longest, and what their absence does
};

/// All topics that the daemon uses, with the topic of its input first. `partitions`: that users map to.
std::vector<TopicNeed> TopicNeeds(const Config& config, int32_t partitions);

/// What is wrong with the topic. `found`: kNotFound: it is missing. Any other error: nothing is known.
std::vector<TopicProblem> ProblemsOf(const TopicNeed& need, const Result<TopicDescription>& found,
                                     const std::string& brokers);

/// The longest time for which the topic's retention keeps records; nullopt: unlimited or not known.
std::optional<int64_t> RetentionMs(const TopicDescription& found);

/// Which of `names` may be meant by `name`: at most three, the most similar first.
std::vector<std::string> SimilarNames(std::string_view name, std::span<const std::string> names);

/// The topic has `partitions`, fewer than the daemon writes: what that means, with the command that mends it.
std::string TooFewPartitions(const TopicNeed& need, int32_t partitions, const std::string& brokers);

/// "there is no topic ...", with similar names and the command that creates it.
std::string MissingTopic(const TopicNeed& need, std::span<const std::string> names,
                         const std::string& brokers);

}  // namespace seen
