#include "kafka/record_fetcher.h"

#include <algorithm>
#include <utility>

#include "base/probed_cells.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMessagesAhead = 8;
constexpr std::chrono::seconds kStoodStill{1};
constexpr milliseconds kQuiet{1000};
constexpr milliseconds kLeadersInterval{30'000};

void OnQueueFilled(rd_kafka_t*, void* opaque) {
  auto& worker = *static_cast<ConsumerWorker*>(opaque);
  const MutexLock lock(worker.wake_mutex);
  worker.awake = true;
  worker.wake.NotifyOne();
}

/// Returns the messages to librdkafka, whatever the handler did.
struct MessagesGuard {
  std::vector<rd_kafka_message_t*>& messages;
  size_t count;
  ~MessagesGuard() {
    for (size_t i = 0; i < count; ++i) rd_kafka_message_destroy(messages[i]);
  }
};

}  // namespace

RecordFetcher::RecordFetcher(ConsumerLink& link) : link_(link) {
  const Consumer::Options& options = link.options;
  Check(options.workers > 0 && options.batch_records_max > 0, "a consumer has workers that read");
  const auto limits = link.queue_limits();
  drained_records_ = std::min<size_t>(options.batch_records_max, limits.messages / 4);
  drained_bytes_ = limits.kbytes * 1024 / 4;
  for (size_t i = 0; i < static_cast<size_t>(options.workers); ++i) {
    workers_.push_back(std::make_unique<ConsumerWorker>(i));
    workers_.back()->messages.resize(options.batch_records_max);
  }
}

void RecordFetcher::OpenQueues(rd_kafka_t* client) {
  for (auto& worker : workers_) {
    worker->queue.reset(rd_kafka_queue_new(client));
    rd_kafka_queue_cb_event_enable(worker->queue.get(), OnQueueFilled, worker.get());
  }
}

ConsumedPartition* RecordFetcher::Find(int32_t partition) {
  if (partition < 0) return nullptr;
  auto& partitions = WorkerFor(partition).partitions;
  const size_t index = static_cast<size_t>(partition) / workers_.size();
  return index < partitions.size() ? &partitions[index] : nullptr;
}

RecordFetcher::WorkerLocks RecordFetcher::LockWorkers() {
  WorkerLocks locks;
  locks.reserve(workers_.size());
  for (auto& worker : workers_) locks.emplace_back(worker->mutex);
  return locks;
}

void RecordFetcher::DropQueues() {
  for (auto& worker : workers_) {
    for (auto& partition : worker->partitions) partition.queue.reset();
    rd_kafka_queue_cb_event_enable(worker->queue.get(), nullptr, nullptr);
    worker->queue.reset();
  }
}

void RecordFetcher::Begin(int32_t partition, int64_t start_offset, const Anchor& last_read) {
  const std::lock_guard lock(WorkerFor(partition).mutex);
  auto& partitions = WorkerFor(partition).partitions;
  const size_t index = static_cast<size_t>(partition) / workers_.size();
  if (partitions.size() <= index) partitions.resize(index + 1);
  auto& state = partitions[index];
  state.assigned = true;
  state.out_of_range = state.seeking = state.stopped = false;
  state.next_offset = start_offset;
  state.log.Begin(last_read, link_.outages());
  ++state.epoch;
  reassign_ = true;
}

void RecordFetcher::End(std::span<const int32_t> partitions) {
  const auto locks = LockWorkers();
  for (const int32_t partition : partitions) {
    EndReading(partition);
    if (auto* const state = Find(partition)) state->stopped = false;
  }
}

void RecordFetcher::StopReading(int32_t partition) {
  const std::lock_guard lock(WorkerFor(partition).mutex);
  if (!EndReading(partition)) return;
  Find(partition)->stopped = true;
  reassign_ = true;
}

bool RecordFetcher::EndReading(int32_t partition) {
  auto* const state = Find(partition);
  if (state == nullptr || !state->assigned) return false;
  if (state->notice_due) --WorkerFor(partition).notices_due;
  state->notice_due = state->assigned = false;
  ++state->epoch;
  return true;
}

void RecordFetcher::Tend() {
  if (reassign_.exchange(false)) Assign();
  ForwardUnheard();
  WakeFetchers();
}

bool RecordFetcher::hurries() const {
  return unheard_ || std::chrono::steady_clock::now() - drained_at_ < kQuiet;
}

void RecordFetcher::Assign() {
  const auto locks = LockWorkers();
  reassign_ = false;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(16));
  for (size_t w = 0; w < workers_.size(); ++w) {
    auto& worker = *workers_[w];
    // Messages that wait are from before, and will be fetched again. (librdkafka would drop them, too, by its
    // own version.)
    for (;;) {
      const auto count =
          rd_kafka_consume_batch_queue(worker.queue.get(), 0, worker.messages.data(), worker.messages.size());
      if (count <= 0) break;
      for (ssize_t i = 0; i < count; ++i) rd_kafka_message_destroy(worker.messages[static_cast<size_t>(i)]);
    }
    for (size_t i = 0; i < worker.partitions.size(); ++i) {
      auto& state = worker.partitions[i];
      if (!state.assigned) continue;
      const auto partition = static_cast<int32_t>(i * workers_.size() + w);
      // Does this each time: after a topic was away or denied, its partitions have other queues.
      state.queue.reset(
          rd_kafka_queue_get_partition(link_.Client().get(), link_.options.topic.c_str(), partition));
      if (state.queue) rd_kafka_queue_forward(state.queue.get(), worker.queue.get());
      state.seeking = false;
      state.heard = false;
      rd_kafka_topic_partition_list_add(list.get(), link_.options.topic.c_str(), partition)->offset =
          state.log.checking ? state.log.last.offset : state.next_offset;
    }
  }
  unheard_ = list->cnt > 0;
  if (const auto error = rd_kafka_assign(link_.Client().get(), list.get());
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    link_.NoteError(error, "assign");
    reassign_ = true;
  }
}

// A new assignment first stops the partition's fetcher. This undoes the forwarding of the partition's queue,
// some time after rd_kafka_assign has returned. Then fetched messages wait in the partition's own queue. So
// this forwards the queue again until something has arrived. Forwarding takes along the messages that wait.
// If nothing else arrives, the end of the partition is reported.
void RecordFetcher::ForwardUnheard() {
  if (!unheard_) return;
  unheard_ = false;
  for (auto& worker : workers_) {
    const std::unique_lock lock(worker->mutex, std::try_to_lock);
    if (!lock) {  // a handler runs, and may take long
      unheard_ = true;
      continue;
    }
    for (auto& state : worker->partitions) {
      if (!state.assigned || state.heard || !state.queue) continue;
      rd_kafka_queue_forward(state.queue.get(), worker->queue.get());
      unheard_ = true;
    }
  }
}

// Before librdkafka 2.2, a broker thread that found the queue full looks again only after up to a second,
// unless something wakes it. A cheap request wakes it. The request must come after the queue was drained: the
// workers' flags show that.
void RecordFetcher::WakeFetchers() {
  if (rd_kafka_version() >= ConsumerLink::kBackoffVersion || !link_.reachable()) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - fetchers_woken_ < kWakeInterval) return;
  bool drained = false;
  for (auto& worker : workers_) drained |= worker->drained.exchange(false);
  if (!drained) return;
  drained_at_ = now;
  if (now - leaders_asked_ > kLeadersInterval) {
    auto metadata = kafka::TopicMetadata(link_.Client().get(), link_.options.topic, ConsumerLink::kQuestion);
    leaders_asked_ = now;
    if (metadata) {
      partition_by_leader_.clear();
      const auto& topic = (*metadata)->topics[0];
      for (int i = 0; i < topic.partition_cnt; ++i) {
        const auto& one = topic.partitions[i];
        if (one.leader >= 0) partition_by_leader_.emplace(one.leader, one.id);
      }
    }
  }
  for (const auto& [leader, partition] : partition_by_leader_) {
    if (!link_.QueryWatermarks(partition, milliseconds(500))) leaders_asked_ = {};
  }
  fetchers_woken_ = std::chrono::steady_clock::now();
}

size_t RecordFetcher::PollWorker(size_t index, milliseconds timeout, WorkerHandler& handler) {
  ConsumerWorker& worker = *workers_.at(index);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
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
  if (worker.polled_at != Instant{} && SystemClock().Now() - worker.polled_at > kStoodStill)
    link_.NoteOutage();
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i + kMessagesAhead < count) PrefetchLine(worker.messages[i + kMessagesAhead]);
    bytes += worker.messages[i]->len + worker.messages[i]->key_len;
    Sort(worker, *worker.messages[i]);
  }
  if (count >= drained_records_ || bytes >= drained_bytes_) worker.drained = true;

  size_t delivered = 0;
  for (const int32_t partition : worker.batch) {
    auto& state = *Find(partition);
    // A handler that ran before may have called Seek for this partition.
    if (state.epoch == state.batch_epoch && (!state.records.empty() || state.end_offset >= 0)) {
      delivered += state.records.size();
      if (!state.records.empty()) state.log.Delivered(AnchorOf(state.records.back()));
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

void RecordFetcher::Sort(ConsumerWorker& worker, const rd_kafka_message_t& message) {
  auto* const state = Find(message.partition);
  if (state == nullptr || !state->assigned || state->seeking) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR)
      records_stale_.fetch_add(1, std::memory_order_relaxed);
    else if (state == nullptr)
      link_.NoteError(message.err, rd_kafka_message_errstr(&message));
    // About the whole topic, or about a partition that was given up.
    if (message.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && state == nullptr) link_.topic_away = true;
    return;
  }
  state->heard = true;
  if (!state->in_batch) {
    state->in_batch = true;
    state->batch_epoch = state->epoch;
    worker.batch.push_back(message.partition);
  }
  if (state->log.checking && CheckLast(worker, *state, message)) return;
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (state->out_of_range || message.offset < state->next_offset) {
      records_stale_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (state->log.Doubts(message, link_.outages())) {
      // The records of the partition that this poll already has came before the doubt.
      state->log.checking = state->seeking = true;
      reassign_ = true;
      return;
    }
    link_.Read();
    state->next_offset = message.offset + 1;
    state->end_offset = -1;
    state->records.push_back(kafka::RecordOf(message));
    state->records.back().replay = state->replays.Look(message);
  } else if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    link_.Read();
    // Behind the position: from before a seek. Ahead of it: only gaps (compaction, transactions) up to the
    // end.
    if (message.offset >= state->next_offset) state->end_offset = message.offset;
  } else if (kafka::IsOutOfRange(message.err)) {
    if (!state->out_of_range) {
      state->out_of_range = state->notice_due = true;
      ++worker.notices_due;
    }
  } else {  // counts as an outage: the topic may be another one when it is back
    link_.NoteError(message.err, link_.options.topic + "/" + std::to_string(message.partition) + ": " +
                                     rd_kafka_message_errstr(&message));
  }
}

bool RecordFetcher::CheckLast(ConsumerWorker& worker, ConsumedPartition& partition,
                              const rd_kafka_message_t& message) {
  const auto verdict = partition.log.Compare(message);
  if (verdict == LogMemory::Verdict::kReplaced) {
    partition.out_of_range = partition.notice_due = true;
    ++worker.notices_due;
  } else if (verdict == LogMemory::Verdict::kSame) {
    CountChecked();
    if (partition.next_offset != partition.log.last.offset + 1)
      partition.seeking = reassign_ = true;  // a Seek had set another position
  }
  return verdict != LogMemory::Verdict::kDeliver;
}

void RecordFetcher::DeliverNotices(ConsumerWorker& worker, WorkerHandler& handler) {
  for (size_t i = 0; i < worker.partitions.size() && worker.notices_due > 0; ++i) {
    if (!worker.partitions[i].notice_due) continue;
    const auto partition = static_cast<int32_t>(i * workers_.size() + worker.index);
    const auto marks = link_.QueryWatermarks(partition, milliseconds(500));
    if (!marks) continue;  // tried again with the next poll
    auto& state = worker.partitions[i];
    state.notice_due = false;
    --worker.notices_due;
    if (std::exchange(state.log.replaced, false)) {
      const int64_t offset = state.log.last.offset;
      state.log.last = {};
      handler.OnLogReplaced(partition, offset, *marks);
      continue;
    }
    if (state.log.checking && state.log.last.offset < marks->low) {
      state.log.checking = false;  // retention deleted the record
      state.log.last = {};
    }
    if (state.next_offset >= marks->low && state.next_offset <= marks->high) {
      // The error was about an older position, or a leader lagged: read on from the present position.
      state.out_of_range = false;
      reassign_ = true;
      continue;
    }
    handler.OnOffsetOutOfRange(partition, state.next_offset, *marks);
  }
}

Status RecordFetcher::Seek(int32_t partition, int64_t offset) {
  Check(partition >= 0 && offset >= 0, "a seek goes to an offset of a partition");
  auto& worker = WorkerFor(partition);
  const std::lock_guard lock(worker.mutex);
  auto* const state = Find(partition);
  if (state == nullptr || !(state->assigned || state->stopped)) {
    return Fail(Code::kNotFound, "seek: partition " + std::to_string(partition) + " isn't assigned");
  }
  if (state->notice_due) --worker.notices_due;
  state->assigned = true;
  state->notice_due = state->out_of_range = state->stopped = false;
  state->seeking = true;
  state->next_offset = offset;
  state->log.Seek(offset);
  ++state->epoch;
  reassign_ = true;
  return {};
}

}  // namespace seen
