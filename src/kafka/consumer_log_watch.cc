// The consumer's watch over its log, on a thread of its own. librdkafka may read on in a topic that was
// recreated, or read nothing more of it, and report no error. So every few seconds another client reads one
// record of each partition again. It is the record that was the last one at the check before. The present
// last record may already be of another log.

#include <set>

#include "base/log.h"
#include "kafka/consumer_impl.h"
#include "kafka/log_check.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
using Kind = kafka::LogFinding::Kind;

constexpr milliseconds kAnswered{5000};
constexpr milliseconds kAgainAfter{1000};
constexpr std::chrono::seconds kPolledLately{1};
}  // namespace

milliseconds Consumer::Impl::WatchLog(LogWatch& watch) {
  if (!reachable) return options.check_log_every;
  const auto asked = MakeQuestions();
  std::map<int32_t, Anchor> records;
  for (const auto& [partition, question] : asked) records[partition] = question.sample;
  const auto findings = kafka::CheckLogs({options.brokers, options.client, options.topic}, records, kAnswered,
                                         log_watch.stopping());
  if (!findings) {
    if (kafka::MayLog("log watch"))
      log::Warning("the log can't be checked", {{"error", findings.error().message}});
    return options.check_log_every;
  }
  std::set<int32_t> shorter;
  for (const auto& [partition, finding] : *findings) {
    if (NoteFinding(partition, asked.at(partition), finding, watch)) shorter.insert(partition);
  }
  watch.shorter = std::move(shorter);
  return watch.shorter.empty() ? options.check_log_every : std::min(options.check_log_every, kAgainAfter);
}

std::map<int32_t, Consumer::Impl::LogQuestion> Consumer::Impl::MakeQuestions() {
  std::map<int32_t, LogQuestion> questions;
  for (auto& worker : workers) {
    const std::lock_guard lock(worker->mutex);
    for (size_t i = 0; i < worker->partitions.size(); ++i) {
      const auto& state = worker->partitions[i];
      if (!state.assigned || state.out_of_range || state.sample.offset < 0) continue;
      questions[static_cast<int32_t>(i * workers.size() + worker->index)] = {state.sample, state.last};
    }
  }
  return questions;
}

bool Consumer::Impl::NoteFinding(int32_t partition, const LogQuestion& asked,
                                 const kafka::LogFinding& finding, LogWatch& watch) {
  auto& worker = WorkerFor(partition);
  const std::lock_guard lock(worker.mutex);
  auto* const state = Find(partition);
  // Since the question, the partition may have been given up or assigned again.
  if (state == nullptr || !state->assigned || state->out_of_range || state->sample != asked.sample)
    return false;
  // A new leader may lag for a moment.
  if (finding.kind == Kind::kShorter && !watch.shorter.contains(partition)) return true;
  if (finding.kind == Kind::kReplaced || finding.kind == Kind::kShorter) {
    state->last = asked.sample;
    state->replaced = finding.kind == Kind::kReplaced;
    state->out_of_range = state->notice_due = true;
    ++worker.notices_due;
    return false;
  }
  if (finding.kind == Kind::kSame) logs_checked.fetch_add(1, std::memory_order_relaxed);
  // Taken before the sample was compared: if the log is replaced from here on, the next check shows it.
  state->sample = asked.last;
  const auto stood = watch.next_offsets.find(partition);
  const bool stands = stood != watch.next_offsets.end() && stood->second == state->next_offset;
  watch.next_offsets[partition] = state->next_offset;
  if (!stands || finding.end <= state->next_offset || state->seeking) return false;
  if (SystemClock().Now() - worker.polled_at > kPolledLately) return false;  // its handler has no room
  if (kafka::MayLog("partition stands still")) {
    log::Warning("a partition has records, but none arrived; the consumer requests them again",
                 {{"topic", options.topic},
                  {"partition", partition},
                  {"next_offset", state->next_offset},
                  {"end", finding.end},
                  {"remedy", "none is needed; check the brokers if this happens again"}});
  }
  reassign = true;
  return false;
}

}  // namespace seen
