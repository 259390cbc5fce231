#include "tools/state/state_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "tools/common_options.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAsk{10'000};
constexpr size_t kRecordBytesMax = 900'000;
constexpr size_t kBatchOverhead = 512;  // overhead of a record alone in its batch
constexpr size_t kQueueBytesMax = 32 << 20;

}  // namespace

Result<StateTarget> PrepareStateTopic(const Admin& admin, const std::string& topic, int32_t partitions) {
  const auto state = admin.EnsureTopic(StateTopicSpec(topic, partitions), kAsk);
  if (!state) return Fail(state.error());
  if (!state->warning.empty()) {
    return Fail(
        Code::kRefused,
        fmt::format(
            "{}. Remedy: change the setting, or delete the topic: this command creates the topic again",
            state->warning));
  }
  std::vector<int32_t> all(static_cast<size_t>(partitions));
  std::iota(all.begin(), all.end(), 0);
  Result<std::map<int32_t, int64_t>> ends;
  for (int attempt = 0; attempt < 10; ++attempt) {  // a topic has no leaders right after its creation
    ends = admin.Ends(topic, all, kAsk);
    if (ends || Interrupted()) break;
    std::this_thread::sleep_for(milliseconds(300));
  }
  if (!ends) return Fail(ends.error());
  const auto bytes = admin.TopicConfig(topic, "max.message.bytes", kAsk);
  size_t most = kRecordBytesMax;
  if (bytes && *bytes) most = std::min<size_t>(most, std::strtoull((*bytes)->c_str(), nullptr, 10));
  if (most < 2 * kBatchOverhead) {
    return Fail(Code::kRefused,
                fmt::format("{} has max.message.bytes = {}. Remedy: raise it to 1000000", topic, most));
  }
  return StateTarget{std::move(*ends), most - kBatchOverhead};
}

StateTopicOptions BaseTopicOptions(const std::string& brokers, const ClientSettings& client,
                                   const std::string& topic, const std::string& group,
                                   size_t record_bytes_max) {
  return {brokers, client, topic, group, kQueueBytesMax, record_bytes_max + kBatchOverhead};
}

}  // namespace seen
