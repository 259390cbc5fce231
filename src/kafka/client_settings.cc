#include "kafka/client_settings.h"

#include <librdkafka/rdkafka.h>

#include <array>
#include <cstdlib>

#include "kafka/rdkafka_handles.h"

namespace seen {
namespace {

struct Reserved {
  std::string_view property;
  std::string_view why;
};

// Properties that seend sets itself, because its guarantees depend on them.
constexpr std::array kReserved = {
    Reserved{"bootstrap.servers", "use kafka.brokers"},
    Reserved{"metadata.broker.list", "use kafka.brokers"},
    Reserved{"group.id", "use kafka.group_id"},
    Reserved{"group.instance.id", "use kafka.instance_id"},
    Reserved{"group.protocol", "membership is set by seend (static, classic protocol)"},
    Reserved{"partition.assignment.strategy", "seend re-reads whole assignments and needs range"},
    Reserved{"enable.auto.commit", "offsets are kept with the state; seend commits them itself"},
    Reserved{"auto.commit.enable", "offsets are kept with the state; seend commits them itself"},
    Reserved{"enable.auto.offset.store", "offsets are kept with the state; seend commits them itself"},
    Reserved{"auto.offset.reset", "an offset that is gone must be noticed, never skipped silently"},
    Reserved{"enable.partition.eof", "seend needs it to know when it has caught up"},
    Reserved{"queued.min.messages", "fetch queues are bounded by store.memory_mib"},
    Reserved{"queued.max.messages.kbytes", "fetch queues are bounded by store.memory_mib"},
    Reserved{"fetch.max.bytes", "fetch queues are bounded by store.memory_mib"},
    Reserved{"enable.idempotence", "snapshots are sent idempotently"},
    Reserved{"acks", "snapshots and dead letters wait for all replicas"},
    Reserved{"request.required.acks", "snapshots and dead letters wait for all replicas"},
    Reserved{
        "message.timeout.ms",
        "dead letters are retried without end, snapshots for half of the lease (see session.timeout.ms)"},
    Reserved{
        "delivery.timeout.ms",
        "dead letters are retried without end, snapshots for half of the lease (see session.timeout.ms)"},
    Reserved{"message.send.max.retries", "delivery is retried without end"},
    Reserved{"retries", "delivery is retried without end"},
    Reserved{"transactional.id", "seend's producers aren't transactional"},
    Reserved{"partitioner", "use input.partitioner"},
    Reserved{"queue.buffering.max.messages", "send queues are bounded by seend"},
    Reserved{"queue.buffering.max.kbytes", "send queues are bounded by seend"},
    Reserved{"test.mock.num.brokers", "use --embedded-kafka"},
};

}  // namespace

bool IsSecretSetting(std::string_view property) {
  // librdkafka's: sasl.password, ssl.key.password, ssl.keystore.password, ssl.key.pem,
  // sasl.oauthbearer.client.secret, sasl.oauthbearer.config (may hold one),
  // sasl.oauthbearer.assertion.private.key.*, ssl_key and the like. And Java's sasl.jaas.config, which
  // librdkafka refuses.
  for (const std::string_view part :
       {"password", "passphrase", "secret", "key.pem", "private", "oauthbearer.config", "jaas"}) {
    if (property.find(part) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<ClientSettingError> ClientSettingErrors(const ClientSettings& settings) {
  std::vector<ClientSettingError> errors;
  const kafka::ConfHandle conf(rd_kafka_conf_new());
  for (const auto& [property, value] : settings) {
    const std::string shown = "kafka.client." + property + ": \"" +
                              (IsSecretSetting(property) ? std::string("(hidden)") : value) + "\": ";
    const Reserved* reserved = nullptr;
    for (const auto& candidate : kReserved) {
      if (candidate.property == property) reserved = &candidate;
    }
    if (reserved != nullptr) {
      errors.push_back({property, shown + "can't be set here: " + std::string(reserved->why)});
      continue;
    }
    std::array<char, 512> reason{};
    if (rd_kafka_conf_set(conf.get(), property.c_str(), value.c_str(), reason.data(), reason.size()) ==
        RD_KAFKA_CONF_OK) {
      continue;
    }
    // librdkafka repeats the value in some messages.
    const std::string why = IsSecretSetting(property) ? "refused by librdkafka" : reason.data();
    errors.push_back({property, shown + why + " (librdkafka " + ClientLibraryVersion() + ")"});
  }
  return errors;
}

Status CheckClientSettings(const ClientSettings& settings) {
  std::string all;
  for (const auto& error : ClientSettingErrors(settings)) all += (all.empty() ? "" : "\n") + error.message;
  if (!all.empty()) return Fail(Code::kInvalidArgument, std::move(all));
  return {};
}

std::chrono::milliseconds SessionTimeout(const ClientSettings& settings) {
  const kafka::ConfHandle conf(rd_kafka_conf_new());
  if (const auto given = settings.find("session.timeout.ms"); given != settings.end()) {
    rd_kafka_conf_set(conf.get(), "session.timeout.ms", given->second.c_str(), nullptr, 0);
  }
  std::array<char, 32> text{};
  size_t size = text.size();
  rd_kafka_conf_get(conf.get(), "session.timeout.ms", text.data(), &size);
  return std::chrono::milliseconds(std::strtoll(text.data(), nullptr, 10));
}

std::string ClientLibraryVersion() { return rd_kafka_version_str(); }

bool ClientLibraryUsesFreedTopics() {
  return rd_kafka_version() >= 0x020400ff && rd_kafka_version() < 0x020a0000;
}

}  // namespace seen
