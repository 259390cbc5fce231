// Finds partitions of the topic that no member of the group owns.
//
// A static member that comes back within its session gets its old assignment again. This holds even if the
// topic has gained partitions meanwhile. The group's leader doesn't notice (KAFKA-13435). So each member
// compares what the group owns with what the topic has. If a member subscribes again and the coordinator
// takes it for the leader, the group assigns again. If it is another member, the coordinator sees no change.
//
// rd_kafka_list_groups asks for the group. It blocks, so it runs on a thread of its own.
// DescribeConsumerGroups of the Admin API would not block. But librdkafka up to 2.14 ends the process if the
// connection to the coordinator is lost at that moment (librdkafka issue 4605).

#include <string_view>

#include "base/log.h"
#include "kafka/consumer_impl.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskEvery{3000};
constexpr milliseconds kOwnersAnswered{1500};  // a stop waits at most this long
constexpr milliseconds kUnownedFor{4000};      // an assignment in progress takes less
constexpr milliseconds kRejoinMin{5000};       // each time this member's partitions pause
constexpr milliseconds kRejoinMax{300'000};
constexpr milliseconds kMetadata{500};
constexpr milliseconds kTopicBackFor{3000};  // meanwhile librdkafka looks every second

/// Reads a member's assignment: Kafka's ConsumerProtocolAssignment, big-endian. After an error everything
/// reads as zero.
class AssignmentBytes {
 public:
  AssignmentBytes(const void* data, int size)
      : left_(static_cast<const char*>(data), size > 0 ? static_cast<size_t>(size) : 0) {}

  int32_t Number(size_t bytes) {
    uint32_t number = 0;
    for (const char byte : Text(bytes)) number = number << 8 | static_cast<unsigned char>(byte);
    return static_cast<int32_t>(number);
  }
  std::string_view Text(size_t bytes) {
    if (bytes > left_.size()) left_ = {};
    const std::string_view text = left_.substr(0, bytes);
    left_.remove_prefix(text.size());
    return text;
  }
  bool AtEnd() const { return left_.empty(); }

 private:
  std::string_view left_;
};

void AddAssigned(const rd_kafka_group_member_info& member, std::string_view topic, std::set<int32_t>& owned) {
  AssignmentBytes bytes(member.member_assignment, member.member_assignment_size);
  bytes.Number(2);  // version
  for (int32_t topics = bytes.Number(4); topics > 0 && !bytes.AtEnd(); --topics) {
    const bool is_wanted = bytes.Text(static_cast<size_t>(bytes.Number(2))) == topic;
    for (int32_t partitions = bytes.Number(4); partitions > 0 && !bytes.AtEnd(); --partitions) {
      const int32_t partition = bytes.Number(4);
      if (is_wanted) owned.insert(partition);
    }
  }
}

bool UsesFreedTopics() { return rd_kafka_version() >= 0x020400ff && rd_kafka_version() < 0x020a0000; }

}  // namespace

Status Consumer::Impl::Subscribe() {
  const kafka::PartitionList topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), options.topic.c_str(), RD_KAFKA_PARTITION_UA);
  if (const auto error = rd_kafka_subscribe(Client().get(), topics.get());
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::FailWith(error, "subscribe to \"" + options.topic + "\"");
  }
  return {};
}

milliseconds Consumer::Impl::AskForOwners() {
  if (!reachable) return kAskEvery;
  const rd_kafka_group_list* groups = nullptr;
  rd_kafka_list_groups(Client().get(), options.group_id.c_str(), &groups, kafka::ToTimeout(kOwnersAnswered));
  if (groups == nullptr) return kAskEvery;  // no answer in time, or no right to ask
  for (int i = 0; i < groups->group_cnt; ++i) {
    const rd_kafka_group_info& group = groups->groups[i];
    const std::string_view state = group.state;
    // In other states an assignment is in progress. A group without members waits for this member to join.
    if (group.err != RD_KAFKA_RESP_ERR_NO_ERROR || (state != "Stable" && state != "Empty")) continue;
    std::set<int32_t> members_own;
    for (int m = 0; m < group.member_cnt; ++m) AddAssigned(group.members[m], options.topic, members_own);
    const MutexLock lock(owned_mutex);
    owned_by_group = std::move(members_own);
  }
  rd_kafka_group_list_destroy(groups);
  return kAskEvery;
}

void Consumer::Impl::WatchOwners() {
  std::optional<std::set<int32_t>> members_own;
  {
    const MutexLock lock(owned_mutex);
    members_own.swap(owned_by_group);
  }
  if (!members_own) return;
  const auto metadata = kafka::TopicMetadata(Client().get(), options.topic, kMetadata);
  if (!metadata) return;
  std::vector<int32_t> without;
  for (int32_t partition = 0; partition < (*metadata)->topics[0].partition_cnt; ++partition) {
    if (!members_own->contains(partition)) without.push_back(partition);
  }
  const auto now = SteadyClock::now();
  if (without.empty() || unowned_since == SteadyClock::time_point{}) unowned_since = now;
  const bool lasting = !without.empty() && now - unowned_since >= kUnownedFor;
  {
    const MutexLock lock(problem_mutex);
    unowned = lasting ? without : std::vector<int32_t>();
  }
  if (without.empty()) {
    unowned_since = {};
    rejoin_wait = kRejoinMin;
    rejoin_next = {};
    return;
  }
  if (!lasting || now < rejoin_next || !pending.empty()) return;
  rejoin_next = now + rejoin_wait;
  rejoin_wait = std::min(rejoin_wait * 2, kRejoinMax);
  log::Warning("partitions without an owner: joining the group again, so that it assigns them",
               {{"topic", options.topic},
                {"partitions", without.size()},
                {"first", without.front()},
                {"group", options.group_id}});
  rd_kafka_unsubscribe(Client().get());
  if (const Status subscribed = Subscribe(); !subscribed) {
    NoteProblem("subscribe", subscribed.error().message);
  }
}

// Handles a topic that is deleted and created again. librdkafka gives its partitions up. It may take those of
// the new topic, or not. If it doesn't, another client joins.
//
// From 2.4 to 2.8, a client that never saw the topic missing frees what it knows of the old topic. It still
// uses that memory (librdkafka issue 4778). Then it asks the brokers without a pause, or ends the process. So
// such a client is given up at once.
void Consumer::Impl::AwaitTopic() {
  const auto now = SteadyClock::now();
  if (!topic_away) {
    topic_next = {};
    return;
  }
  if (topic_next == SteadyClock::time_point{}) {
    topic_wait = kTopicBackFor;
    topic_next = UsesFreedTopics() ? now : now + topic_wait;
    topic_back = UsesFreedTopics();
  }
  if (now < topic_next) return;
  topic_next = now + topic_wait;
  if (!topic_back || !UsesFreedTopics()) {
    const bool was_back = topic_back;
    topic_back = kafka::TopicMetadata(Client().get(), options.topic, kMetadata).has_value();
    if (!was_back || !topic_back) return;  // not back, or the group may still assign it
  }
  topic_back = false;
  topic_wait = std::min(topic_wait * 2, kRejoinMax);
  log::Warning("the topic was missing: joining the group with a new client",
               {{"topic", options.topic}, {"group", options.group_id}});
  if (const Status begun = BeginAnew(); !begun) NoteProblem("new client", begun.error().message);
}

}  // namespace seen
