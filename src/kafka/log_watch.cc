#include "kafka/log_watch.h"

#include <algorithm>

#include "base/log.h"
#include "kafka/message_record.h"
#include "kafka/record_fetcher.h"

namespace seen {

void LogMemory::Begin(const Anchor& last_read, uint64_t outages) {
  last = last_read;
  // An older sample must still be compared: the records read since then may be of another log.
  if (sample.offset < 0 || sample.offset > last.offset) sample = last;
  checking = replaced = false;
  leader_epoch = -1;
  outages_seen = outages;
}

void LogMemory::Delivered(const Anchor& record) {
  last = record;
  if (sample.offset < 0) sample = last;
}

void LogMemory::Seek(int64_t offset) {
  if (offset <= last.offset) last = {};
  if (offset <= sample.offset) sample = {};
}

bool LogMemory::Doubts(const rd_kafka_message_t& record, uint64_t outages) {
  bool doubtful = outages_seen != outages;
  outages_seen = outages;
#if RD_KAFKA_VERSION >= 0x020100ff
  const int32_t epoch = rd_kafka_message_leader_epoch(&record);
  if (epoch >= 0 && epoch != leader_epoch) {
    doubtful |= leader_epoch >= 0;
    leader_epoch = epoch;
  }
#else
  (void)record;
#endif
  return doubtful && last.offset >= 0;
}

// librdkafka goes on from an offset wherever a record has it. So the last record delivered is compared: only
// the log that was read has the same record there.
LogMemory::Verdict LogMemory::Compare(const rd_kafka_message_t& message) {
  const bool at_end = message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  // The log is shorter, for now or forever: the next record tells.
  if (at_end && message.offset <= last.offset) return Verdict::kDrop;
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR && !at_end) return Verdict::kDeliver;
  if (message.offset < last.offset) return Verdict::kDrop;
  checking = false;
  if (at_end || message.offset > last.offset) return Verdict::kDeliver;  // deleted meanwhile
  if (AnchorOf(kafka::RecordOf(message)) == last) return Verdict::kSame;
  replaced = true;
  return Verdict::kReplaced;
}

namespace kafka {
namespace {
using std::chrono::milliseconds;
using Kind = LogFinding::Kind;

constexpr milliseconds kWatchSlice{100};
constexpr milliseconds kWatchQuestion{1000};

/// nullopt: the message says nothing about the record.
std::optional<Kind> Judge(const rd_kafka_message_t& message, const Anchor& wanted) {
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
    return message.offset <= wanted.offset ? Kind::kShorter : Kind::kGone;
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR || message.offset < wanted.offset) return std::nullopt;
  if (message.offset > wanted.offset) return Kind::kGone;
  return AnchorOf(RecordOf(message)) == wanted ? Kind::kSame : Kind::kReplaced;
}
}  // namespace

Result<std::map<int32_t, LogFinding>> CheckLogs(const LogCheckOptions& options,
                                                const std::map<int32_t, Anchor>& records,
                                                milliseconds timeout, const std::atomic<bool>& stop) {
  std::map<int32_t, LogFinding> findings;
  if (records.empty()) return findings;
  const auto until = std::chrono::steady_clock::now() + timeout;
  // Only one record per partition is wanted: fetch little, and little ahead.
  const auto client = MakeReader(options.brokers, {{"fetch.wait.max.ms", "100"}}, options.client,
                                 {{"group.id", "seen-log-check"},
                                  {"queued.min.messages", "1"},
                                  {"queued.max.messages.kbytes", "64"},
                                  {"fetch.message.max.bytes", "65536"}});
  if (!client) return Fail(client.error());
  const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(records.size())));
  for (const auto& [partition, record] : records)
    rd_kafka_topic_partition_list_add(list.get(), options.topic.c_str(), partition)->offset = record.offset;
  const auto error = rd_kafka_assign(client->get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return FailWith(error, "read " + options.topic);
  while (findings.size() < records.size() && !stop.load() && std::chrono::steady_clock::now() < until) {
    const MessageHandle message(rd_kafka_consumer_poll(client->get(), ToTimeout(kWatchSlice)));
    if (!message) continue;
    const int32_t partition = message->partition;
    const auto wanted = records.find(partition);
    if (wanted == records.end() || findings.contains(partition)) continue;
    if (IsOutOfRange(message->err)) {
      const auto ends = LogEnds(client->get(), options.topic, {&partition, 1}, kWatchQuestion);
      if (!ends) continue;
      const int64_t end = ends->at(partition);
      findings[partition] = {end <= wanted->second.offset ? Kind::kShorter : Kind::kGone, end};
    } else if (const auto kind = Judge(*message, wanted->second)) {
      findings[partition] = {*kind, KnownEnds(client->get(), options.topic, partition).high};
    }
  }
  return findings;
}

}  // namespace kafka

namespace {
using std::chrono::milliseconds;
using Kind = kafka::LogFinding::Kind;

constexpr milliseconds kRecordAnswered{5000};
constexpr milliseconds kAgainAfter{1000};
constexpr std::chrono::seconds kPolledLately{1};
constexpr milliseconds kTick{100};
}  // namespace

void LogWatch::Start() {
  const milliseconds every = link_.options.check_log_every;
  if (every.count() <= 0) return;
  look_at_ = SystemClock().Now() + every;
  thread_.Start("log-watch", std::min(every, kTick), [this, every] {
    const Instant now = SystemClock().Now();
    const bool is_due = now >= look_at_ || (is_wanted_ && now >= looked_at_ + kAgainAfter);
    if (is_due) {
      is_wanted_ = false;
      looked_at_ = now;
      look_at_ = now + Look();
    }
    return std::min(every, kTick);
  });
}

bool LogWatch::IsChecked(int32_t partition, Instant since) {
  if (link_.options.check_log_every.count() <= 0) return true;
  const MutexLock lock(checked_mutex_);
  const auto checked = checked_at_.find(partition);
  if (checked != checked_at_.end() && checked->second >= since) return true;
  is_wanted_ = true;
  return false;
}

void LogWatch::NoteChecked(int32_t partition, Instant began) {
  const MutexLock lock(checked_mutex_);
  checked_at_[partition] = began;
}

milliseconds LogWatch::Look() {
  if (!link_.reachable()) return link_.options.check_log_every;
  const Instant began = SystemClock().Now();
  const auto asked = MakeQuestions(began);
  std::map<int32_t, Anchor> records;
  for (const auto& [partition, question] : asked) records[partition] = question.sample;
  const auto findings = kafka::CheckLogs({link_.options.brokers, link_.options.client, link_.options.topic},
                                         records, kRecordAnswered, thread_.stopping());
  if (!findings) {
    if (kafka::MayLog("log watch"))
      log::Warning("the log can't be checked", {{"error", findings.error().message}});
    return link_.options.check_log_every;
  }
  std::set<int32_t> shorter;
  for (const auto& [partition, finding] : *findings) {
    if (NoteFinding(partition, asked.at(partition), finding)) shorter.insert(partition);
    if (finding.kind == Kind::kSame || finding.kind == Kind::kGone) NoteChecked(partition, began);
  }
  shorter_ = std::move(shorter);
  return shorter_.empty() ? link_.options.check_log_every
                          : std::min(link_.options.check_log_every, kAgainAfter);
}

std::map<int32_t, LogWatch::Question> LogWatch::MakeQuestions(Instant began) {
  std::map<int32_t, Question> questions;
  fetcher_.ForEach([&](int32_t partition, const ConsumedPartition& state) {
    if (!state.assigned || state.out_of_range) return;
    if (state.log.sample.offset < 0) return NoteChecked(partition, began);
    questions[partition] = {state.log.sample, state.log.last};
  });
  return questions;
}

bool LogWatch::NoteFinding(int32_t partition, const Question& asked, const kafka::LogFinding& finding) {
  auto& worker = fetcher_.WorkerFor(partition);
  const std::lock_guard lock(worker.mutex);
  auto* const state = fetcher_.Find(partition);
  // Since the question, the partition may have been given up or assigned again.
  if (state == nullptr || !state->assigned || state->out_of_range || state->log.sample != asked.sample)
    return false;
  // A new leader may lag for a moment.
  if (finding.kind == Kind::kShorter && !shorter_.contains(partition)) return true;
  if (finding.kind == Kind::kReplaced || finding.kind == Kind::kShorter) {
    state->log.last = asked.sample;
    state->log.replaced = finding.kind == Kind::kReplaced;
    state->out_of_range = state->notice_due = true;
    ++worker.notices_due;
    return false;
  }
  if (finding.kind == Kind::kSame) fetcher_.CountChecked();
  // Read before the sample was compared: if the log is replaced from here on, the next check shows it.
  state->log.sample = asked.last;
  const auto stood = next_offsets_.find(partition);
  const bool stands = stood != next_offsets_.end() && stood->second == state->next_offset;
  next_offsets_[partition] = state->next_offset;
  if (!stands || finding.end <= state->next_offset || state->seeking) return false;
  if (SystemClock().Now() - worker.polled_at > kPolledLately) return false;  // its handler has no space
  if (kafka::MayLog("partition stands still")) {
    log::Warning("a partition has records, but none arrived; the consumer requests them again",
                 {{"topic", link_.options.topic},
                  {"partition", partition},
                  {"next_offset", state->next_offset},
                  {"end", finding.end},
                  {"remedy", "none is needed; check the brokers if this happens again"}});
  }
  fetcher_.RequestAssign();
  return false;
}

}  // namespace seen
