#include "topics/peer_routes.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "kafka/topic_follower.h"
#include "model/partitioner.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAsk{2'000};
constexpr milliseconds kPoll{200};
constexpr milliseconds kRetryEvery{1'000};
// A daemon that lives writes one a second.
constexpr milliseconds kSilentMax{10'000};
constexpr milliseconds kHeardByAll{1'000};
constexpr uint64_t kFetchBytes = 1 << 20;

std::string TextOf(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::optional<RouteBeat> ParseRouteBeat(std::string_view text, std::string_view group) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || TextOf(json, "group") != group) return std::nullopt;
  const auto partition = json.find("partition");
  if (partition == json.end() || !partition->is_number_unsigned()) return std::nullopt;
  RouteBeat beat{partition->get<int32_t>(), TextOf(json, "instance"), TextOf(json, "address"),
                 TextOf(json, "state"), 0};
  const auto lag = json.find("lag_messages");
  if (lag != json.end() && lag->is_number_integer()) beat.lag_messages = lag->get<int64_t>();
  return beat;
}

void PeerRoutes::Start(std::string instance, int32_t partitions) {
  {
    const MutexLock lock(mutex_);
    instance_ = std::move(instance);
    partitions_ = partitions;
  }
  thread_ = std::thread([this] {
    NameThread("routes");
    Run();
  });
}

void PeerRoutes::Stop() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

void PeerRoutes::Run() {
  while (!stop_.load()) {
    if (const Status followed = Follow(); !followed && !stop_.load())
      log::Debug("the other daemons' routes can't be read yet", {{"reason", followed.error().message}});
    for (milliseconds waited{0}; waited < kRetryEvery && !stop_.load(); waited += kPoll)
      std::this_thread::sleep_for(kPoll);
  }
}

Status PeerRoutes::Follow() {
  const auto follower = TopicFollower::Open(
      {config_.kafka.brokers, config_.kafka.client, config_.watermarks->topic, kFetchBytes}, kAsk);
  if (!follower) return Fail(follower.error());
  std::vector<int64_t> from;
  // What stands there already says who answered once; no clock tells how long ago that was.
  for (const auto& ends : (*follower)->ends()) from.push_back(ends.high);
  if (Status started = (*follower)->Start(from); !started) return started;
  while (!stop_.load()) {
    const Status polled = (*follower)->Poll(kPoll, [&](int32_t, std::span<const Record> records) {
      const Instant now = clock_.Now();
      for (const Record& record : records) {
        auto beat = ParseRouteBeat(record.value, config_.kafka.group_id);
        if (!beat) continue;
        const MutexLock lock(mutex_);
        Heard& heard = heard_[beat->partition];
        const bool same = heard.beat.instance == beat->instance && heard.beat.state == beat->state;
        heard = {std::move(*beat), now, same ? heard.same_since : now};
      }
      return Status();
    });
    if (!polled) return polled;
  }
  return {};
}

RoutesAnswer PeerRoutes::Routes() const {
  const MutexLock lock(mutex_);
  RoutesAnswer answer{
      config_.input.topic, std::string(PartitionerName(config_.input.partitioner)), partitions_, {}};
  const Instant now = clock_.Now();
  for (const auto& [partition, heard] : heard_) {
    const auto ago = std::chrono::duration_cast<milliseconds>(now - heard.at);
    if (ago > kSilentMax || heard.beat.instance.empty()) continue;
    answer.routes.push_back({partition, heard.beat.instance, heard.beat.address, heard.beat.state,
                             heard.beat.lag_messages, ago, heard.beat.instance == instance_});
  }
  return answer;
}

std::string PeerRoutes::AddressFor(std::string_view user_id) const {
  const MutexLock lock(mutex_);
  if (partitions_ == 0) return {};
  const auto heard = heard_.find(PartitionOf(config_.input.partitioner, user_id, partitions_));
  if (heard == heard_.end() || heard->second.beat.instance == instance_ ||
      clock_.Now() - heard->second.at > kSilentMax)
    return {};
  return heard->second.beat.address;
}

bool PeerRoutes::IsReadyElsewhere(int32_t partition, Instant since) const {
  const MutexLock lock(mutex_);
  const auto heard = heard_.find(partition);
  if (heard == heard_.end() || heard->second.at <= since) return false;
  if (clock_.Now() - heard->second.same_since < kHeardByAll) return false;
  const RouteBeat& beat = heard->second.beat;
  // An earlier version says neither who it is nor whether it answers.
  if (beat.instance.empty())
    return beat.lag_messages <= static_cast<int64_t>(config_.http.ready_lag_messages);
  return beat.instance != instance_ && beat.state == "ready";
}

}  // namespace seen
