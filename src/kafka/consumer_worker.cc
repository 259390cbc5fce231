// The consumer's worker threads: messages out of librdkafka's queue, sorted by partition, to the handler.

#include <algorithm>

#include "base/log.h"
#include "kafka/consumer_impl.h"
#include "kafka/message_record.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMessagesAhead = 8;

bool IsOutOfRange(rd_kafka_resp_err_t error) {
#if RD_KAFKA_VERSION >= 0x020100ff
  if (error == RD_KAFKA_RESP_ERR__LOG_TRUNCATION) return true;
#endif
  return error == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || error == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
}

/// Gives the messages back, whatever the handler did.
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
    // Waiting takes nothing out of the queue and holds nothing the control thread needs. A queue that was
    // left non-empty signals nothing, hence `behind`.
    std::unique_lock lock(worker.wake_mutex);
    if (!worker.behind) worker.wake.wait_until(lock, deadline, [&] { return worker.awake; });
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
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i + kMessagesAhead < count) __builtin_prefetch(worker.messages[i + kMessagesAhead]);
    bytes += worker.messages[i]->len + worker.messages[i]->key_len;
    Sort(worker, *worker.messages[i]);
  }
  if (count >= drained_records || bytes >= drained_bytes) worker.drained = true;

  size_t delivered = 0;
  for (const int32_t partition : worker.batch) {
    auto& state = *Find(partition);
    // A handler before may have sought this one.
    if (state.epoch == state.batch_epoch && (!state.records.empty() || state.end_offset >= 0)) {
      delivered += state.records.size();
      handler.OnBatch({partition, state.records, state.end_offset});
    }
    state.records.clear();
    state.end_offset = -1;
    state.in_batch = false;
  }
  if (worker.notices_due > 0) DeliverNotices(worker, handler);
  return delivered;
}

void Consumer::Impl::Sort(ConsumerWorker& worker, const rd_kafka_message_t& message) {
  auto* const state = Find(message.partition);
  if (state == nullptr || !state->assigned || state->seeking) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR)
      records_stale.fetch_add(1, std::memory_order_relaxed);
    else if (state == nullptr)
      NoteError(message.err, rd_kafka_message_errstr(&message));
    return;
  }
  state->heard = true;
  if (!state->in_batch) {
    state->in_batch = true;
    state->batch_epoch = state->epoch;
    worker.batch.push_back(message.partition);
  }
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (state->out_of_range || message.offset < state->next_offset) {
      records_stale.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (!reachable || troubled) Answered();
    state->next_offset = message.offset + 1;
    state->end_offset = -1;
    state->records.push_back(kafka::RecordOf(message));
  } else if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (!reachable || troubled) Answered();
    // Behind the position: of before a seek. Ahead of it: gaps (compaction, transactions) up to the end.
    if (message.offset >= state->next_offset) state->end_offset = message.offset;
  } else if (IsOutOfRange(message.err)) {
    if (!state->out_of_range) {
      state->out_of_range = state->notice_due = true;
      ++worker.notices_due;
    }
  } else {
    NoteError(message.err, options.topic + "/" + std::to_string(message.partition) + ": " +
                               rd_kafka_message_errstr(&message));
  }
}

void Consumer::Impl::DeliverNotices(ConsumerWorker& worker, WorkerHandler& handler) {
  for (size_t i = 0; i < worker.partitions.size() && worker.notices_due > 0; ++i) {
    if (!worker.partitions[i].notice_due) continue;
    const auto partition = static_cast<int32_t>(i * workers.size() + worker.index);
    const auto marks = QueryWatermarks(partition, milliseconds(500));
    if (!marks) continue;  // with the next poll
    auto& state = worker.partitions[i];
    state.notice_due = false;
    --worker.notices_due;
    if (state.next_offset >= marks->low && state.next_offset <= marks->high) {
      // The error was of an older position, or a leader that lagged: read on from where we are.
      state.out_of_range = false;
      reassign = true;
      continue;
    }
    handler.OnOffsetOutOfRange(partition, state.next_offset, *marks);
  }
}

}  // namespace seen
