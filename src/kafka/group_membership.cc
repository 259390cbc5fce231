#include "kafka/group_membership.h"

#include <algorithm>

#include "base/log.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGroupSlice{50};  // the longest delay until a Seek or a retry is noticed
constexpr size_t kFencesMax = 3;
constexpr milliseconds kFencesWithin{120'000};
constexpr milliseconds kShortQuestion{200};  // after a leader that didn't answer
constexpr milliseconds kGroupMetadata{500};

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

Result<kafka::ClientHandle> GroupMembership::MakeConsumer() {
  auto conf = link_.MakeConf();
  if (!conf) return Fail(std::move(conf.error()));
  rd_kafka_conf_set_opaque(conf->get(), this);
  rd_kafka_conf_set_rebalance_cb(conf->get(), [](rd_kafka_t*, rd_kafka_resp_err_t kind,
                                                 rd_kafka_topic_partition_list_t* partitions, void* opaque) {
    static_cast<GroupMembership*>(opaque)->OnRebalance(kind, partitions);
  });
  rd_kafka_conf_set_error_cb(conf->get(), [](rd_kafka_t*, int error, const char* text, void* opaque) {
    static_cast<GroupMembership*>(opaque)->link_.NoteError(static_cast<rd_kafka_resp_err_t>(error), text);
  });
  return kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
}

void GroupMembership::Use(kafka::ClientHandle made) {
  commits_.reset(rd_kafka_queue_new(made.get()));
  rd_kafka_poll_set_consumer(made.get());
  fetcher_.OpenQueues(made.get());
  link_.SetClient(std::move(made));
}

Status GroupMembership::Start() {
  auto made = MakeConsumer();
  if (!made) return Fail(std::move(made.error()));
  Use(std::move(*made));
  if (Status subscribed = Subscribe(); !subscribed) return subscribed;
  if (link_.options.watch_owners) owners_.Start();
  return {};
}

void GroupMembership::Leave() {
  rd_kafka_consumer_close(link_.Client().get());  // runs OnRebalance, unless the client was fenced
  RevokeAll();
  rd_kafka_queue_poll_callback(commits_.get(), 0);
}

void GroupMembership::Close() {
  const auto closing = link_.Client();
  if (closed_ || !closing) return;
  closed_ = true;
  owners_.Stop();
  Leave();
  const auto locks = fetcher_.LockWorkers();
  commits_.reset();
  fetcher_.DropQueues();
  link_.SetClient(nullptr);
}

Status GroupMembership::BeginAnew() {
  auto made = MakeConsumer();
  if (!made) return Fail(std::move(made.error()));
  const auto old = link_.Client();  // destroyed once no thread uses it any more
  Leave();
  {
    const auto locks = fetcher_.LockWorkers();  // no worker may see a queue that is gone
    fetcher_.DropQueues();
    Use(std::move(*made));
  }
  return Subscribe();
}

Status GroupMembership::Subscribe() {
  const kafka::PartitionList topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), link_.options.topic.c_str(), RD_KAFKA_PARTITION_UA);
  if (const auto error = rd_kafka_subscribe(link_.Client().get(), topics.get());
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::FailWith(error, "subscribe to \"" + link_.options.topic + "\"");
  }
  return {};
}

Status GroupMembership::Poll(milliseconds timeout) {
  const auto deadline = SteadyClock::now() + timeout;
  for (;;) {
    if (closed_) return Fail(Code::kUnavailable, "the consumer is closed");
    // Rounded up: otherwise the last part of a millisecond would be spent in polls that don't wait.
    auto wait = std::chrono::ceil<milliseconds>(deadline - SteadyClock::now());
    wait = std::clamp(wait, milliseconds(0), fetcher_.hurries() ? RecordFetcher::kWakeInterval : kGroupSlice);
    const kafka::MessageHandle message(rd_kafka_consumer_poll(link_.Client().get(), kafka::ToTimeout(wait)));
    if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      fetcher_.RequestAssign();  // came before its queue was forwarded: read it again from its position
    } else if (message && message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      link_.NoteError(message->err, rd_kafka_message_errstr(message.get()));
      if (message->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) link_.topic_away = true;
    }
    rd_kafka_queue_poll_callback(commits_.get(), 0);
    if (const auto fatal = FatalError()) {
      if (!fatal->is_fenced || !MayJoinAgain()) return Fail(fatal->error);
      log::Warning(
          "fenced: another member with this instance id joined the group, or this member lost an answer; "
          "joining again",
          {{"group", link_.options.group_id}, {"instance_id", link_.options.instance_id}});
      if (Status anew = BeginAnew(); !anew) return anew;
      continue;
    }
    if (!failure_) return failure_;
    OpenPending();
    fetcher_.Tend();
    link_.ProbeBrokers();
    if (owners_.WantsRejoin(pending_.empty())) Rejoin();
    AwaitTopic();
    if (SteadyClock::now() >= deadline) return {};
  }
}

std::optional<GroupMembership::Fatal> GroupMembership::FatalError() const {
  char text[512];
  const auto error = rd_kafka_fatal_error(link_.Client().get(), text, sizeof text);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  const bool is_fenced = error == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
  const std::string remedy = is_fenced ? " (another process joined group \"" + link_.options.group_id +
                                             "\" with the same instance id \"" + link_.options.instance_id +
                                             "\": stop it, or set kafka.instance_id. If this daemon's "
                                             "store.directory is a copy of the other's, remove its file "
                                             "\"instance\")"
                                       : "";
  return Fatal{is_fenced, {Code::kRefused, std::string("kafka consumer: ") + text + remedy}};
}

// If a broker fails, a static member's answer to JoinGroup may get lost. Then the member joins once more, and
// the coordinator fences it as its own predecessor. If two processes share an instance id, each fences the
// other again and again, until one gives up.
bool GroupMembership::MayJoinAgain() {
  const auto now = SteadyClock::now();
  while (!fenced_at_.empty() && now - fenced_at_.front() > kFencesWithin) fenced_at_.pop_front();
  if (fenced_at_.size() >= kFencesMax) return false;
  fenced_at_.push_back(now);
  return true;
}

void GroupMembership::OnRebalance(rd_kafka_resp_err_t kind,
                                  const rd_kafka_topic_partition_list_t* partitions) {
  if (kind == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    link_.Answered();
    kafka::NoteAllowed(link_.access());
    link_.topic_away = false;
    // librdkafka revokes nothing if it joins again between its request to assign and the answer. It joins
    // again if the topic gains a partition meanwhile, or if WatchOwners subscribes.
    RevokeAll();
    log::Info("partitions assigned", {{"partitions", partitions->cnt}, {"group", link_.options.group_id}});
    for (int i = 0; i < partitions->cnt; ++i) pending_.insert(partitions->elems[i].partition);
    opening_ = !pending_.empty();
    pending_wait_.Reset();
    pending_next_ = {};
    fetcher_.ForgetLeaders();
    OpenPending();
    fetcher_.Assign();  // librdkafka waits for this call, whatever is still pending
    joined_ = true;     // must come after `opening`
    return;
  }
  if (kind != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) link_.NoteError(kind, rd_kafka_err2str(kind));
  std::vector<int32_t> revoked;
  for (int i = 0; partitions != nullptr && i < partitions->cnt; ++i) {
    revoked.push_back(partitions->elems[i].partition);
  }
  Revoke(revoked, rd_kafka_assignment_lost(link_.Client().get()) != 0);
  rd_kafka_assign(link_.Client().get(), nullptr);
}

void GroupMembership::Revoke(std::span<const int32_t> partitions, bool lost) {
  std::vector<int32_t> revoked;
  fetcher_.End(partitions);
  for (const int32_t partition : partitions) {
    if (owned_.erase(partition) > 0) revoked.push_back(partition);
  }
  pending_.clear();
  link_.NoteOpening({});
  opening_ = false;
  if (revoked.empty()) return;
  log::Info("partitions revoked",
            {{"partitions", revoked.size()}, {"lost", lost}, {"group", link_.options.group_id}});
  const auto end_leases = [&] {
    if (link_.options.lease == nullptr) return;
    for (const int32_t partition : revoked) link_.options.lease->Ended(partition, SystemClock().Now());
  };
  end_leases();
  rebalance_.OnRevoked(revoked, lost);
  end_leases();  // the last commit was sent meanwhile, and must not renew them
}

void GroupMembership::RevokeAll() {
  const std::vector<int32_t> all(owned_.begin(), owned_.end());
  Revoke(all, true);
}

void GroupMembership::Commit(const std::map<int32_t, int64_t>& offsets) {
  if (offsets.empty()) return;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& [partition, offset] : offsets) {
    rd_kafka_topic_partition_list_add(list.get(), link_.options.topic.c_str(), partition)->offset = offset;
  }
  const int64_t sent_ns = SystemClock().Now().time_since_epoch().count();
  const auto error = rd_kafka_commit_queue(
      link_.Client().get(), list.get(), commits_.get(),
      [](rd_kafka_t* consumer, rd_kafka_resp_err_t refusal, rd_kafka_topic_partition_list_t* answered,
         void* opaque) {
        const Instant sent(std::chrono::nanoseconds(reinterpret_cast<intptr_t>(opaque)));
        static_cast<GroupMembership*>(rd_kafka_opaque(consumer))->OnCommitted(refusal, answered, sent);
      },
      reinterpret_cast<void*>(static_cast<intptr_t>(sent_ns)));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) commits_failed_.fetch_add(1);
}

void GroupMembership::OnCommitted(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t* offsets,
                                  Instant sent) {
  if (error == RD_KAFKA_RESP_ERR__NO_OFFSET) return;
  auto worst = error;
  for (int i = 0; offsets != nullptr && i < offsets->cnt; ++i) {
    const auto& entry = offsets->elems[i];
    const auto answer = error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : entry.err;
    if (answer == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (link_.options.lease != nullptr) link_.options.lease->Committed(entry.partition, sent);
      continue;
    }
    worst = answer;
    if (link_.options.lease != nullptr && NoMember(answer)) {
      link_.options.lease->Ended(entry.partition, SystemClock().Now());
    }
  }
  if (worst == RD_KAFKA_RESP_ERR_NO_ERROR) {  // a commit needs access to both the group and the topic
    kafka::NoteAllowed(link_.access());
    return kafka::NoteAllowed({.topic = link_.options.topic});
  }
  commits_failed_.fetch_add(1);
  if (kafka::MayLog("commit failed")) {
    log::Warning("group commit failed, will be sent again", {{"error", rd_kafka_err2str(worst)}});
  }
  if (kafka::IsDenied(worst)) kafka::NoteDenied(worst, link_.access());
}

void GroupMembership::Rejoin() {
  rd_kafka_unsubscribe(link_.Client().get());
  if (const Status subscribed = Subscribe(); !subscribed) {
    link_.NoteProblem("subscribe", subscribed.error().message);
  }
}

// The leader of each partition of the topic. nullopt: the topic can't be asked for now, or the group's
// offsets can't.
std::optional<std::vector<int32_t>> GroupMembership::AskForOpening(
    rd_kafka_topic_partition_list_t* committed) {
  const auto metadata =
      kafka::TopicMetadata(link_.Client().get(), link_.options.topic, ConsumerLink::kQuestion);
  if (!metadata) {
    link_.NoteOpening(metadata.error().message);
    return std::nullopt;
  }
  const auto error =
      rd_kafka_committed(link_.Client().get(), committed, kafka::ToTimeout(ConsumerLink::kQuestion));
  if (kafka::IsDenied(error)) link_.NoteError(error, "committed offsets");
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    link_.NoteOpening("committed offsets of group \"" + link_.options.group_id +
                      "\": " + rd_kafka_err2str(error));
    return std::nullopt;
  }
  const rd_kafka_metadata_topic_t& topic = (*metadata)->topics[0];
  std::vector<int32_t> leaders;
  leaders.reserve(static_cast<size_t>(topic.partition_cnt));
  for (int i = 0; i < topic.partition_cnt; ++i) leaders.push_back(topic.partitions[i].leader);
  return leaders;
}

void GroupMembership::OpenPending() {
  if (pending_.empty() || SteadyClock::now() < pending_next_) return;
  const kafka::PartitionList committed(rd_kafka_topic_partition_list_new(static_cast<int>(pending_.size())));
  for (const int32_t partition : pending_) {
    rd_kafka_topic_partition_list_add(committed.get(), link_.options.topic.c_str(), partition);
  }
  if (const auto leaders = AskForOpening(committed.get())) OpenAsked(*leaders, committed.get());
  if (pending_.empty()) link_.NoteOpening({});
  opening_ = !pending_.empty();
  pending_next_ = SteadyClock::now() + pending_wait_.Next();
}

// A leader that is down costs one question, however many partitions it has: the others must not wait.
void GroupMembership::OpenAsked(const std::vector<int32_t>& leaders,
                                const rd_kafka_topic_partition_list_t* committed) {
  const auto asked = pending_;
  owned_.insert(asked.begin(), asked.end());
  const auto partition_count = static_cast<int32_t>(leaders.size());
  rebalance_.OnAssigning(std::vector<int32_t>(asked.begin(), asked.end()), partition_count);
  std::set<int32_t> silent;
  for (const int32_t partition : asked) {
    const int32_t leader = partition < partition_count ? leaders[static_cast<size_t>(partition)] : -1;
    if (silent.contains(leader)) continue;
    const auto marks =
        link_.QueryWatermarks(partition, silent.empty() ? ConsumerLink::kQuestion : kShortQuestion);
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
    pending_.erase(partition);
    if (*start) fetcher_.Begin(partition, **start, rebalance_.LastRead(partition));
  }
}

// The partition stays pending, unless the error is one that waiting doesn't mend.
void GroupMembership::Hold(const Error& error) {
  if (error.code == Code::kUnavailable || error.code == Code::kDenied || error.code == Code::kNotFound) {
    link_.NoteOpening(error.message);
  } else if (failure_) {
    failure_ = Fail(error);
  }
}

Result<std::optional<int64_t>> GroupMembership::OpenPartition(
    Assignment assignment, const rd_kafka_topic_partition_list_t* committed) {
  for (int i = 0; i < committed->cnt; ++i) {
    const auto& entry = committed->elems[i];
    if (entry.partition != assignment.partition) continue;
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return Fail(kafka::CodeOf(entry.err), kafka::Explain(entry.err, link_.access()));
    if (entry.offset >= 0) assignment.committed_offset = entry.offset;
  }
  return rebalance_.OnAssigned(assignment);
}

// Handles a topic that is deleted and created again. librdkafka gives its partitions up. It may take those of
// the new topic, or not. If it doesn't, another client joins.
//
// Some versions still use what they have freed of the old topic. Then they ask the brokers without a pause,
// or end the process. So such a client is given up at once.
void GroupMembership::AwaitTopic() {
  const auto now = SteadyClock::now();
  if (!link_.topic_away) {
    topic_next_ = {};
    return;
  }
  if (topic_next_ == SteadyClock::time_point{}) {
    topic_back_off_.Reset();
    topic_wait_ = topic_back_off_.Next();
    topic_next_ = ClientLibraryUsesFreedTopics() ? now : now + topic_wait_;
    topic_back_ = ClientLibraryUsesFreedTopics();
  }
  if (now < topic_next_) return;
  topic_next_ = now + topic_wait_;
  if (!topic_back_ || !ClientLibraryUsesFreedTopics()) {
    const bool was_back = topic_back_;
    topic_back_ = kafka::TopicMetadata(link_.Client().get(), link_.options.topic, kGroupMetadata).has_value();
    if (!was_back || !topic_back_) return;  // not back, or the group may still assign it
  }
  topic_back_ = false;
  topic_wait_ = topic_back_off_.Next();
  log::Warning("the topic was missing: joining the group with a new client",
               {{"topic", link_.options.topic}, {"group", link_.options.group_id}});
  if (const Status begun = BeginAnew(); !begun) link_.NoteProblem("new client", begun.error().message);
}

}  // namespace seen
