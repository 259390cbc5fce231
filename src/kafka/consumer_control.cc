// The consumer's control thread: rebalances, positions, unreachable brokers.

#include <algorithm>

#include "base/log.h"
#include "kafka/consumer_impl.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSlice{50};  // the longest delay until a Seek or a retry is noticed
constexpr size_t kFencesMax = 3;
constexpr milliseconds kFencesWithin{120'000};
constexpr milliseconds kQuestion{2000};      // watermarks and committed offsets of a partition
constexpr milliseconds kShortQuestion{200};  // after a leader that didn't answer
constexpr milliseconds kPendingWaitMax{1000};
constexpr milliseconds kProbeInterval{1000};
constexpr milliseconds kProbe{200};
constexpr int kProbesFailedMax = 2;        // in a row, while connections fail
constexpr milliseconds kWakeInterval{10};  // see WakeFetchers
constexpr milliseconds kQuiet{1000};
constexpr milliseconds kLeadersInterval{30'000};
constexpr int kBackoffVersion = 0x020200ff;

/// True: the group no longer accepts this member, or what the member states about itself.
bool NoMember(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Consumer::Impl::OnCommitted(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t* offsets,
                                 Instant sent) {
  if (error == RD_KAFKA_RESP_ERR__NO_OFFSET) return;
  auto worst = error;
  for (int i = 0; offsets != nullptr && i < offsets->cnt; ++i) {
    const auto& entry = offsets->elems[i];
    const auto answer = error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : entry.err;
    if (answer == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (options.lease != nullptr) options.lease->Committed(entry.partition, sent);
      continue;
    }
    worst = answer;
    if (options.lease != nullptr && NoMember(answer)) {
      options.lease->Ended(entry.partition, SystemClock().Now());
    }
  }
  if (worst == RD_KAFKA_RESP_ERR_NO_ERROR) return Allowed();
  commits_failed.fetch_add(1);
  if (kafka::MayLog("commit failed")) {
    log::Warning("group commit failed, will be sent again", {{"error", rd_kafka_err2str(worst)}});
  }
  if (kafka::IsDenied(worst)) kafka::NoteDenied(worst, access());
}

// Notes access to both the group and the topic: a commit needs both.
void Consumer::Impl::Allowed() {
  kafka::NoteAllowed(access());
  kafka::NoteAllowed({.topic = options.topic});
}

Status Consumer::Impl::PollControl(milliseconds timeout) {
  const auto deadline = SteadyClock::now() + timeout;
  for (;;) {
    if (closed) return Fail(Code::kUnavailable, "the consumer is closed");
    const bool hurry = unheard || SteadyClock::now() - drained_at < kQuiet;
    // Rounded up: otherwise the last part of a millisecond would be spent in polls that don't wait.
    auto wait = std::chrono::ceil<milliseconds>(deadline - SteadyClock::now());
    wait = std::clamp(wait, milliseconds(0), hurry ? kWakeInterval : kSlice);
    const kafka::MessageHandle message(rd_kafka_consumer_poll(Client().get(), kafka::ToTimeout(wait)));
    if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      reassign = true;  // came before its queue was forwarded: read it again from the partition's position
    } else if (message && message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      NoteError(message->err, rd_kafka_message_errstr(message.get()));
      if (message->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) topic_away = true;
    }
    rd_kafka_queue_poll_callback(commits.get(), 0);
    char text[512];
    if (const auto fatal = rd_kafka_fatal_error(Client().get(), text, sizeof text);
        fatal != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (fatal == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID && MayJoinAgain()) {
        log::Warning(
            "fenced: another member with this instance id joined the group, or this member lost an answer; "
            "joining again",
            {{"group", options.group_id}, {"instance_id", options.instance_id}});
        if (Status anew = BeginAnew(); !anew) return anew;
        continue;
      }
      std::string remedy = fatal == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID
                               ? " (another process joined group \"" + options.group_id +
                                     "\" with the same instance id \"" + options.instance_id +
                                     "\": stop it, or set kafka.instance_id)"
                               : "";
      return Fail(Code::kRefused, std::string("kafka consumer: ") + text + remedy);
    }
    if (!failure) return failure;
    OpenPending();
    if (reassign.exchange(false)) ApplyAssignment();
    ForwardUnheard();
    WakeFetchers();
    ProbeBrokers();
    WatchOwners();
    AwaitTopic();
    if (SteadyClock::now() >= deadline) return {};
  }
}

// If a broker fails, a static member's answer to JoinGroup may get lost. Then the member joins once more, and
// the coordinator fences it as its own predecessor. If two processes share an instance id, each fences the
// other again and again, until one gives up.
bool Consumer::Impl::MayJoinAgain() {
  const auto now = SteadyClock::now();
  while (!fenced_at.empty() && now - fenced_at.front() > kFencesWithin) fenced_at.pop_front();
  if (fenced_at.size() >= kFencesMax) return false;
  fenced_at.push_back(now);
  return true;
}

std::vector<std::unique_lock<std::recursive_mutex>> Consumer::Impl::LockWorkers() {
  std::vector<std::unique_lock<std::recursive_mutex>> locks;
  locks.reserve(workers.size());
  for (auto& worker : workers) locks.emplace_back(worker->mutex);
  return locks;
}

void Consumer::Impl::OnRebalance(rd_kafka_resp_err_t kind,
                                 const rd_kafka_topic_partition_list_t* partitions) {
  if (kind == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    Answered();
    kafka::NoteAllowed(access());
    topic_away = false;
    // librdkafka revokes nothing if it joins again between its request to assign and the answer. It joins
    // again if the topic gains a partition meanwhile, or if WatchOwners subscribes.
    RevokeAll();
    log::Info("partitions assigned", {{"partitions", partitions->cnt}, {"group", options.group_id}});
    for (int i = 0; i < partitions->cnt; ++i) pending.insert(partitions->elems[i].partition);
    opening = !pending.empty();
    pending_wait = milliseconds(100);
    pending_next = {};
    leaders_asked = {};
    OpenPending();
    ApplyAssignment();  // librdkafka waits for this call, whatever is still pending
    joined = true;      // must come after `opening`
    return;
  }
  if (kind != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) NoteError(kind, rd_kafka_err2str(kind));
  std::vector<int32_t> revoked;
  for (int i = 0; partitions != nullptr && i < partitions->cnt; ++i) {
    revoked.push_back(partitions->elems[i].partition);
  }
  Revoke(revoked, rd_kafka_assignment_lost(Client().get()) != 0);
  rd_kafka_assign(Client().get(), nullptr);
}

void Consumer::Impl::Revoke(std::span<const int32_t> partitions, bool lost) {
  std::vector<int32_t> revoked;
  {
    const auto locks = LockWorkers();
    for (const int32_t partition : partitions) {
      auto* const state = Find(partition);
      if (state == nullptr || !state->assigned) continue;
      if (state->notice_due) --WorkerFor(partition).notices_due;
      state->notice_due = false;
      state->assigned = false;
      ++state->epoch;
    }
  }
  for (const int32_t partition : partitions) {
    if (owned.erase(partition) > 0) revoked.push_back(partition);
  }
  pending.clear();
  NoteOpening({});
  opening = false;
  if (revoked.empty()) return;
  log::Info("partitions revoked",
            {{"partitions", revoked.size()}, {"lost", lost}, {"group", options.group_id}});
  const auto end_leases = [&] {
    if (options.lease == nullptr) return;
    for (const int32_t partition : revoked) options.lease->Ended(partition, SystemClock().Now());
  };
  end_leases();
  rebalance.OnRevoked(revoked, lost);
  end_leases();  // the last commit was sent meanwhile, and must not renew them
}

void Consumer::Impl::RevokeAll() {
  const std::vector<int32_t> all(owned.begin(), owned.end());
  Revoke(all, true);
}

// The leader of each partition of the topic. nullopt: the topic can't be asked for now, or the group's
// offsets can't.
std::optional<std::vector<int32_t>> Consumer::Impl::AskForOpening(
    rd_kafka_topic_partition_list_t* committed) {
  const auto metadata = kafka::TopicMetadata(Client().get(), options.topic, kQuestion);
  if (!metadata) {
    NoteOpening(metadata.error().message);
    return std::nullopt;
  }
  const auto error = rd_kafka_committed(Client().get(), committed, kafka::ToTimeout(kQuestion));
  if (kafka::IsDenied(error)) NoteError(error, "committed offsets");
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    NoteOpening("committed offsets of group \"" + options.group_id + "\": " + rd_kafka_err2str(error));
    return std::nullopt;
  }
  const rd_kafka_metadata_topic_t& topic = (*metadata)->topics[0];
  std::vector<int32_t> leaders;
  leaders.reserve(static_cast<size_t>(topic.partition_cnt));
  for (int i = 0; i < topic.partition_cnt; ++i) leaders.push_back(topic.partitions[i].leader);
  return leaders;
}

void Consumer::Impl::OpenPending() {
  if (pending.empty() || SteadyClock::now() < pending_next) return;
  const kafka::PartitionList committed(rd_kafka_topic_partition_list_new(static_cast<int>(pending.size())));
  for (const int32_t partition : pending) {
    rd_kafka_topic_partition_list_add(committed.get(), options.topic.c_str(), partition);
  }
  if (const auto leaders = AskForOpening(committed.get())) OpenAsked(*leaders, committed.get());
  if (pending.empty()) NoteOpening({});
  opening = !pending.empty();
  pending_next = SteadyClock::now() + pending_wait;
  pending_wait = std::min(pending_wait * 2, kPendingWaitMax);
}

// A leader that is down costs one question, however many partitions it has: the others must not wait.
void Consumer::Impl::OpenAsked(const std::vector<int32_t>& leaders,
                               const rd_kafka_topic_partition_list_t* committed) {
  const auto asked = pending;
  owned.insert(asked.begin(), asked.end());
  const auto partition_count = static_cast<int32_t>(leaders.size());
  rebalance.OnAssigning(std::vector<int32_t>(asked.begin(), asked.end()), partition_count);
  std::set<int32_t> silent;
  for (const int32_t partition : asked) {
    const int32_t leader = partition < partition_count ? leaders[static_cast<size_t>(partition)] : -1;
    if (silent.contains(leader)) continue;
    const auto marks = QueryWatermarks(partition, silent.empty() ? kQuestion : kShortQuestion);
    if (!marks && marks.error().code == Code::kUnavailable) silent.insert(leader);
    if (!marks) {
      Hold(marks.error());
      continue;
    }
    const auto start = OpenPartition({partition, partition_count, *marks, std::nullopt}, committed);
    if (!start) {
      Hold(start.error());
      continue;
    }
    pending.erase(partition);
    if (*start) BeginReading(partition, **start);
  }
}

// The partition stays pending, unless the error is one that waiting doesn't mend.
void Consumer::Impl::Hold(const Error& error) {
  if (error.code == Code::kUnavailable || error.code == Code::kDenied || error.code == Code::kNotFound) {
    NoteOpening(error.message);
  } else if (failure) {
    failure = Fail(error);
  }
}

Result<std::optional<int64_t>> Consumer::Impl::OpenPartition(
    Assignment assignment, const rd_kafka_topic_partition_list_t* committed) {
  for (int i = 0; i < committed->cnt; ++i) {
    const auto& entry = committed->elems[i];
    if (entry.partition != assignment.partition) continue;
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return Fail(kafka::CodeOf(entry.err), kafka::Explain(entry.err, access()));
    if (entry.offset >= 0) assignment.committed_offset = entry.offset;
  }
  return rebalance.OnAssigned(assignment);
}

void Consumer::Impl::BeginReading(int32_t partition, int64_t start_offset) {
  const std::lock_guard lock(WorkerFor(partition).mutex);
  auto& partitions = WorkerFor(partition).partitions;
  const size_t index = static_cast<size_t>(partition) / workers.size();
  if (partitions.size() <= index) partitions.resize(index + 1);
  auto& state = partitions[index];
  state.assigned = true;
  state.out_of_range = state.seeking = false;
  state.next_offset = start_offset;
  state.last = rebalance.LastRead(partition);
  // An older sample must still be compared: the records read since then may be of another log.
  if (state.sample.offset < 0 || state.sample.offset > state.last.offset) state.sample = state.last;
  state.checking = state.replaced = false;
  state.leader_epoch = -1;
  state.outages_seen = outages.load(std::memory_order_relaxed);
  ++state.epoch;
  reassign = true;
}

void Consumer::Impl::ApplyAssignment() {
  const auto locks = LockWorkers();
  reassign = false;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(16));
  for (size_t w = 0; w < workers.size(); ++w) {
    auto& worker = *workers[w];
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
      const auto partition = static_cast<int32_t>(i * workers.size() + w);
      // Does this each time: after a topic was away or denied, its partitions have other queues.
      state.queue.reset(rd_kafka_queue_get_partition(Client().get(), options.topic.c_str(), partition));
      if (state.queue) rd_kafka_queue_forward(state.queue.get(), worker.queue.get());
      state.seeking = false;
      state.heard = false;
      rd_kafka_topic_partition_list_add(list.get(), options.topic.c_str(), partition)->offset =
          state.checking ? state.last.offset : state.next_offset;
    }
  }
  unheard = list->cnt > 0;
  if (const auto error = rd_kafka_assign(Client().get(), list.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    NoteError(error, "assign");
    reassign = true;
  }
}

// A new assignment first stops the partition's fetcher. This undoes the forwarding of the partition's queue,
// some time after rd_kafka_assign has returned. Then fetched messages wait in the partition's own queue. So
// this forwards the queue again until something has arrived. Forwarding takes along the messages that wait.
// If nothing else arrives, the end of the partition is reported.
void Consumer::Impl::ForwardUnheard() {
  if (!unheard) return;
  unheard = false;
  for (auto& worker : workers) {
    const std::unique_lock lock(worker->mutex, std::try_to_lock);
    if (!lock) {  // a handler runs, and may take long
      unheard = true;
      continue;
    }
    for (auto& state : worker->partitions) {
      if (!state.assigned || state.heard || !state.queue) continue;
      rd_kafka_queue_forward(state.queue.get(), worker->queue.get());
      unheard = true;
    }
  }
}

// Before librdkafka 2.2, a broker thread that found the queue full looks again only after up to a second,
// unless something wakes it. A cheap request wakes it. The request must come after the queue was drained: the
// workers' flags show that.
void Consumer::Impl::WakeFetchers() {
  if (rd_kafka_version() >= kBackoffVersion || !reachable) return;
  const auto now = SteadyClock::now();
  if (now - fetchers_woken < kWakeInterval) return;
  bool drained = false;
  for (auto& worker : workers) drained |= worker->drained.exchange(false);
  if (!drained) return;
  drained_at = now;
  if (now - leaders_asked > kLeadersInterval) {
    auto metadata = kafka::TopicMetadata(Client().get(), options.topic, kQuestion);
    leaders_asked = now;
    if (metadata) {
      partition_by_leader.clear();
      std::set<int32_t> leaders;
      const auto& topic = (*metadata)->topics[0];
      for (int i = 0; i < topic.partition_cnt; ++i) {
        if (topic.partitions[i].leader < 0 || !leaders.insert(topic.partitions[i].leader).second) continue;
        partition_by_leader.push_back(topic.partitions[i].id);
      }
    }
  }
  for (const int32_t partition : partition_by_leader) {
    if (!QueryWatermarks(partition, milliseconds(500))) leaders_asked = {};
  }
  fetchers_woken = SteadyClock::now();
}

// librdkafka counts the connections that are down, and reports when none is left. It may miss that if a
// connection to the group's coordinator loses its address meanwhile. So this asks the brokers after a
// connection has failed. One broker that answers is enough.
void Consumer::Impl::ProbeBrokers() {
  const auto now = SteadyClock::now();
  if ((reachable && !doubted) || now < probe_next) return;
  probe_next = now + kProbeInterval;
  const auto metadata = kafka::TopicMetadata(Client().get(), options.topic, kProbe);
  const bool missing = !metadata && metadata.error().code == Code::kNotFound;
  if (metadata || missing) {
    probes_failed = 0;
    doubted = false;
    if (!reachable) Answered();
  } else if (++probes_failed >= kProbesFailedMax) {
    doubted = false;
    reachable = false;
  }
  if (missing) NoteError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, metadata.error().message);
}

}  // namespace seen
