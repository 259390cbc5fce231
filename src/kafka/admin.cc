#include "kafka/admin.h"

#include <algorithm>
#include <array>

#include "flow/replay_runs.h"
#include "kafka/rdkafka_handles.h"

namespace seen {
namespace {

constexpr size_t kUuidBytes = 1 + 36;

using NewTopicHandle = std::unique_ptr<rd_kafka_NewTopic_t, kafka::Destroyer<rd_kafka_NewTopic_destroy>>;
using DeleteRecordsHandle =
    std::unique_ptr<rd_kafka_DeleteRecords_t, kafka::Destroyer<rd_kafka_DeleteRecords_destroy>>;

/// True: created. False: the topic existed already.
Result<bool> CreateTopic(rd_kafka_t* client, const TopicSpec& spec, std::chrono::milliseconds timeout) {
  const std::string what = "create topic \"" + spec.name + "\"";
  std::array<char, 512> reason{};
  // Replication factor -1: the broker's default (Kafka 2.4 and later).
  const NewTopicHandle topic(
      rd_kafka_NewTopic_new(spec.name.c_str(), spec.partitions, -1, reason.data(), reason.size()));
  if (!topic) return Fail(Code::kInvalidArgument, what + ": " + reason.data());
  for (const auto& [name, value] : spec.config) {
    if (rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str()) !=
        RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Fail(Code::kInvalidArgument, what + ": " + name + "=" + value);
    }
  }
  const auto event = kafka::AskAdmin(client, {RD_KAFKA_ADMIN_OP_CREATETOPICS, what, timeout},
                                     rd_kafka_CreateTopics, topic.get());
  if (!event) return Fail(event.error());
  auto error = rd_kafka_event_error(event->get());
  std::string text = rd_kafka_err2str(error);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    size_t count = 0;
    const auto* result = rd_kafka_event_CreateTopics_result(event->get());
    const auto** topics = rd_kafka_CreateTopics_result_topics(result, &count);
    if (count != 1) return Fail(Code::kUnavailable, what + ": no answer");
    error = rd_kafka_topic_result_error(topics[0]);
    const char* const detail = rd_kafka_topic_result_error_string(topics[0]);
    text = detail != nullptr ? detail : rd_kafka_err2str(error);
  }
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    kafka::NoteAllowed({.operation = AclOperation::kCreate, .topic = spec.name});
    return true;
  }
  if (error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) return false;
  const kafka::Access access{.operation = AclOperation::kCreate, .topic = spec.name};
  if (kafka::IsDenied(error)) return kafka::FailWith(error, what, access);
  const auto code = error == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE ? Code::kRefused : kafka::CodeOf(error);
  return Fail(code, what + ": " + text);
}

}  // namespace

struct Admin::Impl {
  kafka::ClientHandle client;
  std::string brokers;
  ClientSettings settings;

  /// Fills `offsets` with what the group has committed. kDenied; kUnavailable.
  Status AskCommitted(const std::string& group, std::string_view what, std::chrono::milliseconds timeout,
                      rd_kafka_topic_partition_list_t& offsets) const;
};

// A consumer that never joins asks.
Status Admin::Impl::AskCommitted(const std::string& group, std::string_view what,
                                 std::chrono::milliseconds timeout,
                                 rd_kafka_topic_partition_list_t& offsets) const {
  constexpr int kSliceMs = 100;
  auto conf = kafka::MakeConf(brokers, {}, settings, {{"group.id", group}, {"enable.auto.commit", "false"}});
  if (!conf) return Fail(std::move(conf.error()));
  const auto made = kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!made) return Fail(made.error());
  rd_kafka_poll_set_consumer(made->get());
  const kafka::Access access{.operation = AclOperation::kDescribe, .group = group};
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < until) {
    const kafka::MessageHandle message(rd_kafka_consumer_poll(made->get(), kSliceMs));
    auto error = message ? message->err : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = rd_kafka_committed(made->get(), &offsets, kSliceMs);
    if (error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) return kafka::FailWith(error, what, access);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || kafka::CodeOf(error) != Code::kUnavailable) return {};
  }
  return Fail(Code::kUnavailable, std::string(what) + ": no answer");
}

Admin::Admin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Admin::~Admin() = default;

Result<std::unique_ptr<Admin>> Admin::Open(const std::string& brokers, const ClientSettings& client) {
  // A consumer that never subscribes: its questions don't create topics, a producer's do. It logs closed
  // connections: a broker that closes one at once expects another security.protocol.
  auto conf = kafka::MakeConf(brokers, {{"log.connection.close", "true"}}, client,
                              {{"allow.auto.create.topics", "false"}});
  if (!conf) return Fail(std::move(conf.error()));
  auto made = kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!made) return Fail(std::move(made.error()));
  auto impl = std::make_unique<Impl>();
  impl->client = std::move(*made);
  impl->brokers = brokers;
  impl->settings = client;
  return std::unique_ptr<Admin>(new Admin(std::move(impl)));
}

Result<int32_t> Admin::PartitionCount(const std::string& topic, std::chrono::milliseconds timeout,
                                      AclOperation used_for) const {
  rd_kafka_poll(impl_->client.get(), 0);  // no other code polls it; this logs problems with tokens
  auto metadata = kafka::TopicMetadata(impl_->client.get(), topic, timeout, used_for);
  if (!metadata) return Fail(std::move(metadata.error()));
  return (*metadata)->topics[0].partition_cnt;
}

Result<TopicDescription> Admin::Describe(const std::string& topic, std::chrono::milliseconds timeout,
                                         AclOperation used_for) const {
  const auto count = PartitionCount(topic, timeout, used_for);
  if (!count) return Fail(count.error());
  auto config = kafka::DescribeTopicConfigs(impl_->client.get(), topic, timeout, used_for);
  if (!config && config.error().code != Code::kDenied) return Fail(std::move(config.error()));
  TopicDescription described{*count, {}};
  if (config) described.config = std::move(*config);
  return described;
}

Result<std::vector<std::string>> Admin::TopicNames(std::chrono::milliseconds timeout) const {
  const rd_kafka_metadata_t* raw = nullptr;
  const auto error = rd_kafka_metadata(impl_->client.get(), 1, nullptr, &raw, kafka::ToTimeout(timeout));
  const kafka::MetadataHandle metadata(error == RD_KAFKA_RESP_ERR_NO_ERROR ? raw : nullptr);
  if (!metadata) return kafka::FailWith(error, "names of topics");
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(metadata->topic_cnt));
  for (int i = 0; i < metadata->topic_cnt; ++i) names.emplace_back(metadata->topics[i].topic);
  return names;
}

Result<TopicState> Admin::EnsureTopic(const TopicSpec& spec, std::chrono::milliseconds timeout) const {
  TopicState state;
  auto count = PartitionCount(spec.name, timeout, spec.used_for);
  if (!count && count.error().code == Code::kNotFound) {
    auto created = CreateTopic(impl_->client.get(), spec, timeout);
    if (!created) return Fail(std::move(created.error()));
    state.created = *created;
    state.partitions = spec.partitions;
    if (state.created) return state;
    count = PartitionCount(spec.name, timeout, spec.used_for);
  }
  if (!count) return Fail(std::move(count.error()));
  state.partitions = *count;
  if (state.partitions != spec.partitions) {
    state.warning = "topic \"" + spec.name + "\" has " + std::to_string(state.partitions) +
                    " partitions, not " + std::to_string(spec.partitions);
  }
  for (const auto& [name, wanted] : spec.config) {
    const auto found = TopicConfig(spec.name, name, timeout, spec.used_for);
    if (!found || !*found || **found == wanted) continue;
    state.warning += (state.warning.empty() ? "topic \"" + spec.name + "\" has " : "; ") + name + "=" +
                     **found + ", not " + wanted;
  }
  return state;
}

Result<std::optional<std::string>> Admin::TopicConfig(const std::string& topic, const std::string& name,
                                                      std::chrono::milliseconds timeout,
                                                      AclOperation used_for) const {
  return kafka::DescribeTopicConfig(impl_->client.get(), topic, name, timeout, used_for);
}

Status Admin::DeleteRecords(const std::string& topic, const std::map<int32_t, int64_t>& before,
                            std::chrono::milliseconds timeout) const {
  const std::string what = "delete records of \"" + topic + "\"";
  const kafka::Access access{.operation = AclOperation::kDelete, .topic = topic};
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(before.size())));
  for (const auto& [partition, offset] : before) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  }
  const DeleteRecordsHandle records(rd_kafka_DeleteRecords_new(list.get()));
  const auto event = kafka::AskAdmin(impl_->client.get(), {RD_KAFKA_ADMIN_OP_DELETERECORDS, what, timeout},
                                     rd_kafka_DeleteRecords, records.get());
  if (!event) return Fail(event.error());
  if (const auto error = rd_kafka_event_error(event->get()); error != RD_KAFKA_RESP_ERR_NO_ERROR)
    return kafka::FailWith(error, what, access);
  const auto* const deleted =
      rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event->get()));
  for (int i = 0; i < deleted->cnt; ++i) {
    if (deleted->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return kafka::FailWith(deleted->elems[i].err, what, access);
  }
  kafka::NoteAllowed(access);
  return {};
}

Result<std::map<int32_t, int64_t>> Admin::Ends(const std::string& topic, std::span<const int32_t> partitions,
                                               std::chrono::milliseconds timeout) const {
  return kafka::LogEnds(impl_->client.get(), topic, partitions, timeout);
}

Result<std::map<int32_t, Watermarks>> Admin::BothEnds(const std::string& topic,
                                                      std::span<const int32_t> partitions,
                                                      std::chrono::milliseconds timeout) const {
  return kafka::QueryEnds(impl_->client.get(), topic, partitions, timeout);
}

// Doesn't use DescribeConsumerGroups: owners_watch.h says why.
Result<std::vector<std::string>> Admin::GroupMembers(const std::string& group,
                                                     std::chrono::milliseconds timeout) const {
  const std::string what = "members of group \"" + group + "\"";
  const kafka::Access access{.operation = AclOperation::kDescribe, .group = group};
  const rd_kafka_group_list* raw = nullptr;
  const auto error =
      rd_kafka_list_groups(impl_->client.get(), group.c_str(), &raw, kafka::ToTimeout(timeout));
  const std::unique_ptr<const rd_kafka_group_list, void (*)(const rd_kafka_group_list*)> groups(
      raw, rd_kafka_group_list_destroy);
  // If the list lacks a broker's groups, it may lack this one.
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR || !groups) return kafka::FailWith(error, what, access);
  std::vector<std::string> members;
  for (int i = 0; i < groups->group_cnt; ++i) {
    const rd_kafka_group_info& one = groups->groups[i];
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(one.err, what, access);
    for (int m = 0; m < one.member_cnt; ++m) {
      std::string name = one.members[m].member_id;  // ends with a UUID
      if (name.size() > kUuidBytes) name.resize(name.size() - kUuidBytes);
      members.push_back(name + " at " + one.members[m].client_host);
    }
  }
  if (members.empty()) {
    // Brokers omit a group that this client may not describe from their list. The group's coordinator says
    // so.
    const kafka::PartitionList asked(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(asked.get(), group.c_str(), 0);  // of any topic
    if (Status may = impl_->AskCommitted(group, what, timeout, *asked); !may) return Fail(may.error());
  }
  return members;
}

Result<std::map<int32_t, int64_t>> Admin::Committed(const std::string& group, const std::string& topic,
                                                    std::span<const int32_t> partitions,
                                                    std::chrono::milliseconds timeout) const {
  const kafka::PartitionList asked(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const int32_t partition : partitions)
    rd_kafka_topic_partition_list_add(asked.get(), topic.c_str(), partition);
  const Status answered = impl_->AskCommitted(group, "offsets of group \"" + group + "\"", timeout, *asked);
  if (!answered) return Fail(answered.error());
  std::map<int32_t, int64_t> committed;
  for (int i = 0; i < asked->cnt; ++i) {
    if (asked->elems[i].offset >= 0) committed[asked->elems[i].partition] = asked->elems[i].offset;
  }
  return committed;
}

Status Admin::Ping(std::chrono::milliseconds timeout) const {
  rd_kafka_poll(impl_->client.get(), 0);  // as in PartitionCount
  const rd_kafka_metadata_t* raw = nullptr;
  // Asks for the topics that this client knows, which are none: the smallest question.
  const auto error = rd_kafka_metadata(impl_->client.get(), 0, nullptr, &raw, kafka::ToTimeout(timeout));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_poll(impl_->client.get(), 0);
  const kafka::MetadataHandle metadata(error == RD_KAFKA_RESP_ERR_NO_ERROR ? raw : nullptr);
  if (!metadata) return kafka::FailWith(error, "brokers");
  return {};
}

Result<std::optional<bool>> MayWrite(const std::string& brokers, const ClientSettings& client,
                                     const std::string& topic, std::chrono::milliseconds timeout) {
  auto conf = kafka::MakeConf(brokers, {}, client,
                              {{"enable.idempotence", "false"},
                               {"acks", "2"},
                               {"message.timeout.ms", std::to_string(timeout.count())},
                               {"allow.auto.create.topics", "false"}});
  if (!conf) return Fail(std::move(conf.error()));
  std::optional<rd_kafka_resp_err_t> outcome;
  rd_kafka_conf_set_opaque(conf->get(), &outcome);
  rd_kafka_conf_set_dr_msg_cb(conf->get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    *static_cast<std::optional<rd_kafka_resp_err_t>*>(opaque) = message->err;
  });
  const auto made = kafka::MakeClient(RD_KAFKA_PRODUCER, std::move(*conf));
  if (!made) return Fail(made.error());
  // If a broker wrote the record anyway, it would be a mark that every reader of marks skips.
  const std::string run(kReplayHeader), mark(kReplayMarkHeader), end(kReplayEnd);
  const auto queued = rd_kafka_producev(made->get(), RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(0),
                                        RD_KAFKA_V_HEADER(run.c_str(), "permission", -1),
                                        RD_KAFKA_V_HEADER(mark.c_str(), end.c_str(), -1), RD_KAFKA_V_END);
  if (queued == RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_flush(made->get(), kafka::ToTimeout(timeout));
  if (!outcome) rd_kafka_purge(made->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  if (!outcome) rd_kafka_flush(made->get(), 200);
  if (outcome == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) return std::optional(false);
  if (outcome == RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS) return std::optional(true);
  return std::optional<bool>();
}

}  // namespace seen
