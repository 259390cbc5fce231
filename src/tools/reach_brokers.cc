#include "tools/reach_brokers.h"

#include <fmt/format.h>

#include <chrono>

#include "kafka/admin.h"

namespace seen {

Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client) {
  constexpr std::chrono::milliseconds kTimeout(2'500);
  const auto admin = Admin::Open(brokers, client);
  if (!admin) return Fail(admin.error());
  Status answered = (*admin)->Ping(kTimeout);
  if (answered || answered.error().code != Code::kUnavailable) return answered;
  return Fail(
      Code::kUnavailable,
      fmt::format("{}: {}: no broker answers within {:.1f} s: {}. Remedy: start the brokers, name other "
                  "brokers, or give the settings that they need, such as security.protocol, by --client",
                  option, brokers, std::chrono::duration<double>(kTimeout).count(),
                  answered.error().message));
}

Result<std::unique_ptr<TopicReader>> OpenWholeTopic(const std::string& brokers, const ClientSettings& client,
                                                    const std::string& topic,
                                                    std::map<int32_t, int64_t> from_offsets) {
  if (Status reached = ReachBrokers("--brokers", brokers, client); !reached) return Fail(reached.error());
  return TopicReader::Open(
      {.brokers = brokers, .client = client, .topic = topic, .from_offsets = std::move(from_offsets)},
      std::chrono::seconds(15));
}

Result<std::map<int32_t, int64_t>> EndsOf(const std::string& brokers, const ClientSettings& client,
                                          const std::string& topic) {
  const auto reader = OpenWholeTopic(brokers, client, topic);
  if (!reader) return Fail(reader.error());
  std::map<int32_t, int64_t> ends;
  for (const auto& range : (*reader)->ranges()) ends[range.partition] = range.to;
  return ends;
}

}  // namespace seen
