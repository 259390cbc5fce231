#include "tools/whole_topic.h"

#include <chrono>
#include <utility>

#include "tools/reach_brokers.h"

namespace seen {

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
