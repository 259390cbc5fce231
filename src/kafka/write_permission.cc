#include "kafka/write_permission.h"

#include "flow/replay_runs.h"
#include "kafka/rdkafka_handles.h"

namespace seen {

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
