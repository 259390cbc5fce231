// The consumer's worker threads: they take messages out of librdkafka's queue, sort them by partition, and
// give them to the handler.

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/probed_cells.h"
#include "flow/log_port.h"
#include "kafka/consumer_impl.h"
#include "kafka/message_record.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMessagesAhead = 8;
constexpr std::chrono::seconds kStoodStill{1};

/// Returns the messages to librdkafka, whatever the handler did.
struct MessagesGuard {
  std::vector<rd_kafka_message_t*>& messages;
  size_t count;
  ~MessagesGuard() {
    for (size_t i = 0; i < count; ++i) rd_kafka_message_destroy(messages[i]);
  }
};

}  // namespace

size_t Consumer::Impl::PollWorker(ConsumerWorker& worker, milliseconds timeout, WorkerHandler& handler) {
  const auto deadline = SteadyClock::now() + timeout;
  {
    // This wait takes nothing out of the queue, and holds nothing that the control thread needs. A queue that
    // wasn't emptied signals nothing, so `behind` is checked, too.
    const MutexLock lock(worker.wake_mutex);
    while (!worker.behind && !worker.awake && worker.wake.WaitUntil(worker.wake_mutex, deadline)) {
    }
    worker.awake = false;
  }
  const std::lock_guard lock(worker.mutex);
  if (!worker.queue) return 0;
  const auto taken =
      rd_kafka_consume_batch_queue(worker.queue.get(), 0, worker.messages.data(), worker.messages.size());
  const size_t count = taken > 0 ? static_cast<size_t>(taken) : 0;
  worker.behind = count == worker.messages.size();
  const MessagesGuard guard{worker.messages, count};
  worker.batch.clear();
  // A process that stood still may have missed what happened to its topic.
  if (worker.polled_at != Instant{} && SystemClock().Now() - worker.polled_at > kStoodStill) {
    outages.fetch_add(1, std::memory_order_relaxed);
  }
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i + kMessagesAhead < count) PrefetchLine(worker.messages[i + kMessagesAhead]);
    bytes += worker.messages[i]->len + worker.messages[i]->key_len;
    Sort(worker, *worker.messages[i]);
  }
  if (count >= drained_records || bytes >= drained_bytes) worker.drained = true;

  size_t delivered = 0;
  for (const int32_t partition : worker.batch) {
    auto& state = *Find(partition);
    // A handler that ran before may have called Seek for this partition.
    if (state.epoch == state.batch_epoch && (!state.records.empty() || state.end_offset >= 0)) {
      delivered += state.records.size();
      if (!state.records.empty()) {
        const Record& last = state.records.back();
        state.last = AnchorOf(last);
        if (state.sample.offset < 0) state.sample = state.last;
      }
      handler.OnBatch({partition, state.records, state.end_offset});
    }
    state.records.clear();
    state.replays.Clear();
    state.end_offset = -1;
    state.in_batch = false;
  }
  if (worker.notices_due > 0) DeliverNotices(worker, handler);
  worker.polled_at = SystemClock().Now();
  handler.OnPolled(static_cast<int>(worker.index));
  return delivered;
}

void Consumer::Impl::Sort(ConsumerWorker& worker, const rd_kafka_message_t& message) {
  auto* const state = Find(message.partition);
  if (state == nullptr || !state->assigned || state->seeking) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR)
      records_stale.fetch_add(1, std::memory_order_relaxed);
    else if (state == nullptr)
      NoteError(message.err, rd_kafka_message_errstr(&message));
    // About the whole topic, or about a partition that was given up.
    if (message.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && state == nullptr) topic_away = true;
    return;
  }
  state->heard = true;
  if (!state->in_batch) {
    state->in_batch = true;
    state->batch_epoch = state->epoch;
    worker.batch.push_back(message.partition);
  }
  if (state->checking && CheckLast(worker, *state, message)) return;
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (state->out_of_range || message.offset < state->next_offset) {
      records_stale.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (Doubts(*state, message)) {
      // The records of the partition that this poll already has came before the doubt.
      state->checking = state->seeking = true;
      reassign = true;
      return;
    }
    Read();
    state->next_offset = message.offset + 1;
    state->end_offset = -1;
    state->records.push_back(kafka::RecordOf(message));
    state->records.back().replay = state->replays.Look(message);
  } else if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    Read();
    // Behind the position: from before a seek. Ahead of it: only gaps (compaction, transactions) up to the
    // end.
    if (message.offset >= state->next_offset) state->end_offset = message.offset;
  } else if (kafka::IsOutOfRange(message.err)) {
    if (!state->out_of_range) {
      state->out_of_range = state->notice_due = true;
      ++worker.notices_due;
    }
  } else {  // counts as an outage: the topic may be another one when it is back
    NoteError(message.err, options.topic + "/" + std::to_string(message.partition) + ": " +
                               rd_kafka_message_errstr(&message));
  }
}

bool Consumer::Impl::Doubts(ConsumedPartition& partition, const rd_kafka_message_t& message) const {
  const uint64_t failed = outages.load(std::memory_order_relaxed);
  bool doubtful = partition.outages_seen != failed;
  partition.outages_seen = failed;
#if RD_KAFKA_VERSION >= 0x020100ff
  const int32_t epoch = rd_kafka_message_leader_epoch(&message);
  if (epoch >= 0 && epoch != partition.leader_epoch) {
    doubtful |= partition.leader_epoch >= 0;
    partition.leader_epoch = epoch;
  }
#else
  (void)message;
#endif
  return doubtful && partition.last.offset >= 0;
}

// librdkafka goes on from an offset wherever a record has it. So the last record delivered is compared: only
// the log that was read has the same record there.
bool Consumer::Impl::CheckLast(ConsumerWorker& worker, ConsumedPartition& partition,
                               const rd_kafka_message_t& message) {
  const Anchor& last = partition.last;
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF && message.offset <= last.offset) {
    return true;  // the log is shorter, for now or forever: the next record tells
  }
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR && message.err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    return false;
  }
  if (message.offset < last.offset) return true;
  partition.checking = false;
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR || message.offset > last.offset) {
    return false;  // deleted meanwhile: there is nothing to compare
  }
  if (AnchorOf(kafka::RecordOf(message)) != last) {
    partition.out_of_range = partition.notice_due = partition.replaced = true;
    ++worker.notices_due;
    return true;
  }
  logs_checked.fetch_add(1, std::memory_order_relaxed);
  if (partition.next_offset != last.offset + 1)
    partition.seeking = reassign = true;  // a Seek had set another position
  return true;
}

void Consumer::Impl::DeliverNotices(ConsumerWorker& worker, WorkerHandler& handler) {
  for (size_t i = 0; i < worker.partitions.size() && worker.notices_due > 0; ++i) {
    if (!worker.partitions[i].notice_due) continue;
    const auto partition = static_cast<int32_t>(i * workers.size() + worker.index);
    const auto marks = QueryWatermarks(partition, milliseconds(500));
    if (!marks) continue;  // tried again with the next poll
    auto& state = worker.partitions[i];
    state.notice_due = false;
    --worker.notices_due;
    if (std::exchange(state.replaced, false)) {
      const int64_t offset = state.last.offset;
      state.last = {};
      handler.OnLogReplaced(partition, offset, *marks);
      continue;
    }
    if (state.checking && state.last.offset < marks->low) {
      state.checking = false;  // retention deleted the record
      state.last = {};
    }
    if (state.next_offset >= marks->low && state.next_offset <= marks->high) {
      // The error was about an older position, or a leader lagged: read on from the present position.
      state.out_of_range = false;
      reassign = true;
      continue;
    }
    handler.OnOffsetOutOfRange(partition, state.next_offset, *marks);
  }
}

}  // namespace seen
