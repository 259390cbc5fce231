#include "query/daemon_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <span>

namespace seen {
namespace {

struct Trouble {
  std::string text;     // empty: none
  bool serves = false;  // users get fresh answers nevertheless
};

Trouble TroubleOf(const PartitionStatus& partition, int64_t ready_lag_messages) {
  const std::string name = fmt::format("partition {} is ", partition.partition);
  if (!partition.answers || partition.state == "catching_up") {
    return {fmt::format("{}{}: {}", name, partition.state, partition.reason), false};
  }
  // What stops a partition comes first: its lag follows from that.
  const bool is_behind = partition.lag_messages > ready_lag_messages;
  std::string text;
  if (partition.state != "ready") text = fmt::format("{}{}: {}", name, partition.state, partition.reason);
  if (is_behind) {
    text += fmt::format(
        "{}{} messages behind, more than http.ready_lag_messages = {}. Its users get answers, "
        "with their age in Seen-As-Of",
        text.empty() ? name : "; it is ", partition.lag_messages, ready_lag_messages);
  }
  return {std::move(text), !is_behind};
}

void AddUnread(std::string_view brokers, std::string_view topic, const UnreadPartitions& unread,
               std::vector<std::string>& troubles) {
  for (const RefusedPartition& refused : unread.refused) {
    troubles.push_back(
        fmt::format("partition {} of \"{}\" is refused: {}", refused.partition, topic, refused.reason));
  }
  for (const OpenTransaction& open : unread.open_transactions) {
    troubles.push_back(fmt::format(
        "partition {} of \"{}\" waits at offset {} since {} for a producer's open transaction: {} messages "
        "aren't read before it ends. End it at its producer, or abort it: kafka-transactions.sh "
        "--bootstrap-server {} abort --topic {} --partition {} --start-offset {}",
        open.partition, topic, open.offset, TimeText(open.since), open.messages, brokers, topic,
        open.partition, open.offset));
  }
  if (unread.unowned.empty()) return;
  troubles.push_back(
      fmt::format("no daemon of the group owns partitions {} of \"{}\": their users get 503. The daemon asks "
                  "the group to assign them again. If this continues, check the group's other members",
                  fmt::join(unread.unowned, ", "), topic));
}

void AddLateRefresh(const PartitionStatus& partition, std::vector<std::string>& troubles) {
  if (!partition.refresh || !partition.refresh->is_late) return;
  troubles.push_back(fmt::format(
      "partition {}: its snapshots lack what was read more than two times updates.refresh_s ago. "
      "Readers of updates that start now stay stale. Look for snapshots that aren't delivered or "
      "are too large for their topic, at the load, and set updates.refresh_s higher if it is steady",
      partition.partition));
}

void AddUnsentUpdates(std::span<const PartitionStatus> partitions, std::vector<std::string>& troubles) {
  std::map<std::string, std::vector<int32_t>> refused;  // by problem
  for (const PartitionStatus& one : partitions) {
    if (one.updates && !one.updates->problem.empty()) refused[one.updates->problem].push_back(one.partition);
  }
  for (const auto& [problem, numbers] : refused) {
    troubles.push_back(fmt::format(
        "the topic of updates (updates.topic) takes no records of partitions {}: {}. Readers of them "
        "grow stale; additions that wait for more than a minute are left to the snapshots",
        fmt::join(numbers, ", "), problem));
  }
}

void AddLosses(const std::vector<TopicLoss>& losses, std::vector<std::string>& troubles) {
  for (const TopicLoss& loss : losses) {
    for (const LossShare& share : loss.causes) {
      if (!share.trouble.empty()) troubles.push_back(share.trouble);
    }
  }
}

void AddUnsent(const StateTopicStatus& topic, std::vector<std::string>& troubles) {
  if (!topic.problem.empty()) {
    troubles.push_back("the daemon doesn't write the state topic, so state is only on this machine: " +
                       topic.problem);
    return;
  }
  for (const auto& [partition, stream] : topic.streams) {
    if (stream.problem.empty()) continue;
    troubles.push_back(
        fmt::format("state of partition {} isn't in topic \"{}\", so it is only on this machine: {}",
                    partition, topic.topic, stream.problem));
  }
}

}  // namespace

Readiness JudgeReadiness(const DaemonStatus& status, int64_t ready_lag_messages,
                         const std::vector<std::string>& waits, bool was_ready) {
  Readiness readiness;
  bool any_serves = status.passes_on;
  bool all_serve = waits.empty();
  size_t without_end = 0;
  if (!status.not_ready_reason.empty()) readiness.troubles.push_back(status.not_ready_reason);
  readiness.troubles.insert(readiness.troubles.end(), waits.begin(), waits.end());  // they explain the others
  for (const std::string& acl : status.missing_acls) {
    if (status.not_ready_reason.find(acl) == std::string::npos) readiness.troubles.push_back(acl);
  }
  for (const PartitionStatus& partition : status.partitions) {
    if (partition.IsRefused()) continue;  // `unread` names it
    Trouble trouble = TroubleOf(partition, ready_lag_messages);
    any_serves |= trouble.serves;
    all_serve &= trouble.serves || !partition.assigned;  // it isn't read on here, so it would never serve
    without_end += partition.lag_is_known ? 0 : 1;
    if (!trouble.text.empty()) readiness.troubles.push_back(std::move(trouble.text));
    AddLateRefresh(partition, readiness.troubles);
  }
  const auto add_unread = [&](const std::string& topic, const UnreadPartitions& unread) {
    AddUnread(status.brokers, topic, unread, readiness.troubles);
  };
  add_unread(status.topic, status.unread);
  if (status.rekeying) add_unread(status.rekeying->source_topic, status.rekeying->unread);
  if (status.items) {
    add_unread(status.items->ordered_topic, status.items->unread);
    if (status.items->rekeying) {
      add_unread(status.items->rekeying->source_topic, status.items->rekeying->unread);
    }
  }
  if (status.state_topic) AddUnsent(*status.state_topic, readiness.troubles);
  if (without_end > 0 && any_serves) {
    readiness.troubles.push_back(
        fmt::format("the log's end of {} partitions isn't known: brokers don't answer. Answers about their "
                    "users come from local state, with lag=unknown in Seen-As-Of",
                    without_end));
  }
  readiness.ready = status.not_ready_reason.empty() && any_serves && (was_ready || all_serve);
  if (!readiness.ready) {
    if (readiness.troubles.empty()) readiness.troubles = {"no partition is assigned to this instance (yet)"};
    readiness.reason = readiness.troubles.front();
    if (readiness.troubles.size() > 1) {
      readiness.reason +=
          fmt::format("; and {} more: see \"troubles\" in /v1/status", readiness.troubles.size() - 1);
    }
  }
  // With these, users get answers nevertheless.
  for (const TopicProblem& topic : status.topics) readiness.troubles.push_back(topic.text);
  const auto& schemas = status.schema_troubles;
  readiness.troubles.insert(readiness.troubles.end(), schemas.begin(), schemas.end());
  AddUnsentUpdates(status.partitions, readiness.troubles);
  if (!status.dead_letters_problem.empty()) readiness.troubles.push_back(status.dead_letters_problem);
  AddLosses(status.losses, readiness.troubles);
  return readiness;
}

}  // namespace seen
