#pragma once
// A mock cluster for one test. It can answer requests with errors, and one of its brokers can go down.

// rdkafka_mock.h needs rdkafka.h before it.
// clang-format off
#include "kafka/rdkafka_handles.h"
#include <librdkafka/rdkafka_mock.h>
// clang-format on

#include <string>
#include <vector>

namespace seen {

class FaultyBroker {
 public:
  enum class Request : int16_t { kProduce = 0, kInitProducerId = 22 };

  explicit FaultyBroker(int brokers = 1) {
    auto conf = kafka::MakeConf("", {}, {}, {}).value();
    owner_ = kafka::MakeClient(RD_KAFKA_PRODUCER, std::move(conf)).value();
    cluster_ = rd_kafka_mock_cluster_new(owner_.get(), brokers);
  }
  ~FaultyBroker() { rd_kafka_mock_cluster_destroy(cluster_); }
  FaultyBroker(const FaultyBroker&) = delete;
  FaultyBroker& operator=(const FaultyBroker&) = delete;

  std::string bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  void CreateTopic(const std::string& topic, int32_t partitions) {
    rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
  }
  /// `broker`: from 1 on; -1: all.
  void SetReachable(bool reachable, int32_t broker = -1) {
    reachable ? rd_kafka_mock_broker_set_up(cluster_, broker)
              : rd_kafka_mock_broker_set_down(cluster_, broker);
  }
  void SetLeader(const std::string& topic, int32_t partition, int32_t broker) {
    rd_kafka_mock_partition_set_leader(cluster_, topic.c_str(), partition, broker);
  }
  void SetCoordinator(const std::string& group, int32_t broker) {
    rd_kafka_mock_coordinator_set(cluster_, "group", group.c_str(), broker);
  }
  /// The next `times` such requests fail with `error`.
  void FailNext(Request request, size_t times, rd_kafka_resp_err_t error) {
    const std::vector<rd_kafka_resp_err_t> errors(times, error);
    rd_kafka_mock_push_request_errors_array(cluster_, static_cast<int16_t>(request), times, errors.data());
  }
  void FailNoMore(Request request) {
    rd_kafka_mock_clear_request_errors(cluster_, static_cast<int16_t>(request));
  }

 private:
  kafka::ClientHandle owner_;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

}  // namespace seen
