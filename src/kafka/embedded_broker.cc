// rdkafka_mock.h wants rdkafka.h first.
// clang-format off
#include "kafka/rdkafka_handles.h"
#include <librdkafka/rdkafka_mock.h>
// clang-format on

#include "kafka/embedded_broker.h"

namespace seen {

using MockCluster = std::unique_ptr<rd_kafka_mock_cluster_t, kafka::Destroyer<rd_kafka_mock_cluster_destroy>>;

struct EmbeddedBroker::Impl {
  kafka::ClientHandle owner;  // outlives the cluster; the cluster runs on its thread
  MockCluster cluster;
};

EmbeddedBroker::EmbeddedBroker(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)), bootstrap_(rd_kafka_mock_cluster_bootstraps(impl_->cluster.get())) {}
EmbeddedBroker::~EmbeddedBroker() = default;

Result<std::unique_ptr<EmbeddedBroker>> EmbeddedBroker::Start(const std::map<std::string, int32_t>& topics) {
  auto conf = kafka::MakeConf("", {}, {}, {});
  if (!conf) return Fail(std::move(conf.error()));
  auto owner = kafka::MakeClient(RD_KAFKA_PRODUCER, std::move(*conf));
  if (!owner) return Fail(std::move(owner.error()));
  auto impl = std::make_unique<Impl>();
  impl->owner = std::move(*owner);
  impl->cluster.reset(rd_kafka_mock_cluster_new(impl->owner.get(), 1));
  if (!impl->cluster) return Fail(Code::kUnavailable, "embedded broker: can't listen on loopback");
#if RD_KAFKA_VERSION >= 0x020600ff
  rd_kafka_mock_group_initial_rebalance_delay_ms(impl->cluster.get(), 100);
#endif
  std::unique_ptr<EmbeddedBroker> broker(new EmbeddedBroker(std::move(impl)));
  for (const auto& [topic, partitions] : topics) {
    if (auto created = broker->CreateTopic(topic, partitions); !created)
      return Fail(std::move(created.error()));
  }
  return broker;
}

Status EmbeddedBroker::CreateTopic(const std::string& topic, int32_t partitions) {
  const auto error = rd_kafka_mock_topic_create(impl_->cluster.get(), topic.c_str(), partitions, 1);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Fail(Code::kInvalidArgument,
                "embedded broker: topic \"" + topic + "\": " + rd_kafka_err2str(error));
  }
  return {};
}

void EmbeddedBroker::SetReachable(bool reachable) {
  if (reachable) {
    rd_kafka_mock_broker_set_up(impl_->cluster.get(), -1);
  } else {
    rd_kafka_mock_broker_set_down(impl_->cluster.get(), -1);
  }
}

}  // namespace seen
