#include "app/topics.h"

#include <algorithm>

#include "base/log.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kAsk{2000};
constexpr milliseconds kBackOffMin{100};
constexpr milliseconds kBackOffMax{2000};
constexpr int kSaidEvery = 15;

/// Calls `attempt` until it gives a value, refuses or a stop is asked for.
template <typename Attempt>
auto Retry(Attempt attempt, StopSignal& stop, StatusBoard& status) -> decltype(attempt()) {
  milliseconds back_off = kBackOffMin;
  for (int tries = 0;; ++tries) {
    auto result = attempt();
    if (result || result.error().code == Code::kRefused || result.error().code == Code::kInvalidArgument)
      return result;
    const std::string problem = "waiting for Kafka: " + result.error().message;
    status.SetProblem(problem);
    if (tries % kSaidEvery == 0) log::Warning("waiting for Kafka", {{"reason", result.error().message}});
    if (stop.WaitFor(back_off)) return result;
    back_off = std::min(back_off * 2, kBackOffMax);
  }
}
}  // namespace

Result<int32_t> WaitForTopics(const Config& config, const Admin& admin, bool embedded_kafka, StopSignal& stop,
                              StatusBoard& status) {
  const auto partitions = Retry([&] { return admin.PartitionCount(config.input.topic, kAsk); }, stop, status);
  if (!partitions) return stop.requested() ? Result<int32_t>(0) : Fail(partitions.error());
  status.SetPartitionCount(*partitions);

  std::vector<TopicSpec> topics = {{config.input.dead_letter_topic, *partitions, {}}};
  for (const FilterConfig& filter : config.filters) {
    if (filter.snapshot)
      topics.push_back({filter.snapshot->topic, *partitions, {{"cleanup.policy", "compact"}}});
  }
  if (embedded_kafka) topics.clear();  // it has made its own
  for (const TopicSpec& topic : topics) {
    const auto state = Retry([&] { return admin.EnsureTopic(topic, kAsk); }, stop, status);
    if (!state) return stop.requested() ? Result<int32_t>(0) : Fail(state.error());
    if (state->created)
      log::Info("topic created", {{"topic", topic.name}, {"partitions", state->partitions}});
    if (!state->warning.empty())
      log::Warning("topic differs", {{"topic", topic.name}, {"reason", state->warning}});
  }
  status.SetProblem("");
  return partitions;
}

}  // namespace seen
