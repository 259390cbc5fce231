// Partitions of the topic that no member of the group owns.
//
// A static member that comes back within its session gets its old assignment again, also where the topic has
// gained partitions meanwhile, and the group's leader doesn't notice (KAFKA-13435). So each member compares
// what the group owns with what the topic has. A member that subscribes anew makes the group assign anew if
// the coordinator takes it for the leader; from others the coordinator takes it as no change.

#include <algorithm>

#include "base/log.h"
#include "kafka/consumer_impl.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskEvery{2000};
constexpr milliseconds kAskAgainWhereUnknown{60'000};
constexpr milliseconds kUnownedFor{4000};  // an assignment under way takes less
constexpr milliseconds kRejoinMin{5000};   // this member's partitions pause each time
constexpr milliseconds kRejoinMax{300'000};
constexpr milliseconds kMetadata{500};

/// What all members of a stable group own of `topic`; nullopt: an assignment is under way.
std::optional<std::set<int32_t>> OwnedOf(const rd_kafka_ConsumerGroupDescription_t* group,
                                         const std::string& topic) {
  if (rd_kafka_ConsumerGroupDescription_state(group) != RD_KAFKA_CONSUMER_GROUP_STATE_STABLE) {
    return std::nullopt;
  }
  std::set<int32_t> owned;
  for (size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(group); ++i) {
    const auto* member = rd_kafka_ConsumerGroupDescription_member(group, i);
    const auto* assignment = rd_kafka_MemberDescription_assignment(member);
    const auto* list = assignment == nullptr ? nullptr : rd_kafka_MemberAssignment_partitions(assignment);
    for (int p = 0; list != nullptr && p < list->cnt; ++p) {
      if (topic == list->elems[p].topic) owned.insert(list->elems[p].partition);
    }
  }
  return owned;
}

}  // namespace

Status Consumer::Impl::Subscribe() {
  const kafka::PartitionList topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), options.topic.c_str(), RD_KAFKA_PARTITION_UA);
  if (const auto error = rd_kafka_subscribe(client.get(), topics.get());
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::FailWith(error, "subscribe to \"" + options.topic + "\"");
  }
  return {};
}

void Consumer::Impl::WatchOwners() {
  if (!options.watch_owners) return;
  const auto now = SteadyClock::now();
  if (owners_asked) {
    const kafka::EventHandle event(rd_kafka_queue_poll(owners.get(), 0));
    if (!event) return;
    owners_asked = false;
    OnGroupDescribed(*event);
  }
  if (!reachable || now < owners_next) return;
  owners_next = now + kAskEvery;
  const char* group = options.group_id.c_str();
  rd_kafka_DescribeConsumerGroups(client.get(), &group, 1, nullptr, owners.get());
  owners_asked = true;
}

void Consumer::Impl::OnGroupDescribed(const rd_kafka_event_t& answer) {
  // librdkafka's getters take no const.
  auto* const event = const_cast<rd_kafka_event_t*>(&answer);
  size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConsumerGroups_result(event);
  const auto** groups =
      result == nullptr ? nullptr : rd_kafka_DescribeConsumerGroups_result_groups(result, &count);
  const auto* error = count == 1 ? rd_kafka_ConsumerGroupDescription_error(groups[0]) : nullptr;
  const auto code = error != nullptr ? rd_kafka_error_code(error) : rd_kafka_event_error(event);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || count != 1) {
    const bool unknown = code == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE ||
                         kafka::CodeOf(code) == Code::kRefused;  // the embedded broker, missing rights
    if (unknown) owners_next = SteadyClock::now() + kAskAgainWhereUnknown;
    return;
  }
  const auto owned = OwnedOf(groups[0], options.topic);
  if (!owned) return;
  const auto metadata = kafka::TopicMetadata(client.get(), options.topic, kMetadata);
  if (!metadata) return;
  std::vector<int32_t> without;
  for (int32_t partition = 0; partition < (*metadata)->topics[0].partition_cnt; ++partition) {
    if (!owned->contains(partition)) without.push_back(partition);
  }
  const auto now = SteadyClock::now();
  if (without.empty() || unowned_since == SteadyClock::time_point{}) unowned_since = now;
  const bool lasting = !without.empty() && now - unowned_since >= kUnownedFor;
  {
    const std::lock_guard lock(problem_mutex);
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
  rd_kafka_unsubscribe(client.get());
  if (const Status subscribed = Subscribe(); !subscribed) {
    NoteProblem("subscribe", subscribed.error().message);
  }
}

}  // namespace seen
