#include "topics/peer_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "kafka/topic_reader.h"
#include "model/partitioner.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAsk{2'000};
constexpr milliseconds kPoll{200};
constexpr milliseconds kRetryEvery{1'000};
// A live daemon writes one beat a second for each partition.
constexpr milliseconds kSilentMax{10'000};
constexpr milliseconds kHeardByAll{1'000};
constexpr uint64_t kFetchBytes = 1 << 20;

std::string TextOf(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t NumberOf(const nlohmann::json& json, const char* name, int64_t otherwise) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

}  // namespace

std::optional<RouteBeat> ParseRouteBeat(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto partition = json.find("partition");
  if (partition == json.end() || !partition->is_number_unsigned()) return std::nullopt;
  RouteBeat beat{partition->get<int32_t>(),         TextOf(json, "group"), TextOf(json, "instance"),
                 TextOf(json, "address"),           TextOf(json, "state"), NumberOf(json, "lag_messages", 0),
                 NumberOf(json, "published_to", -1)};
  return beat;
}

void PeerRoutes::SetSelf(std::string instance, int32_t partitions) {
  const MutexLock lock(mutex_);
  instance_ = std::move(instance);
  partitions_ = partitions;
}

void PeerRoutes::Start() {
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
  const auto follower = TopicReader::OpenToFollow({.brokers = config_.kafka.brokers,
                                                   .client = config_.kafka.client,
                                                   .topic = config_.watermarks->topic,
                                                   .queue_bytes_max = kFetchBytes},
                                                  kAsk);
  if (!follower) return Fail(follower.error());
  std::vector<int64_t> from;
  // Starts at the ends: an old beat says who answered once, and no clock tells how long ago.
  for (const auto& ends : (*follower)->ends()) from.push_back(ends.high);
  if (Status started = (*follower)->FollowFrom(from); !started) return started;
  while (!stop_.load()) {
    const auto polled = (*follower)->Poll(kPoll, [&](int32_t, std::span<const Record> records) {
      for (const Record& record : records) {
        HearOwner(record.value);
      }
    });
    if (!polled) return Fail(polled.error());
  }
  return {};
}

void PeerRoutes::Hear(RouteBeat beat, Beats& beats) {
  const Instant now = clock_.Now();
  Heard& heard = beats[beat.partition];
  const bool same = heard.beat.instance == beat.instance && heard.beat.state == beat.state;
  heard = {std::move(beat), now, same ? heard.same_since : now};
}

void PeerRoutes::HearOwner(std::string_view text) {
  auto beat = ParseRouteBeat(text);
  if (!beat) return;
  const MutexLock lock(mutex_);
  if (beat->state == "ready") Hear(*beat, ready_);
  Hear(std::move(*beat), heard_);
}

void PeerRoutes::HearReplica(std::string_view text) {
  auto beat = ParseRouteBeat(text);
  if (!beat || beat->group.empty()) return;
  const MutexLock lock(mutex_);
  Beats& beats = replicas_[beat->group];
  Hear(std::move(*beat), beats);
}

bool PeerRoutes::IsLate(const Heard& heard) const { return clock_.Now() - heard.at > kSilentMax; }

const PeerRoutes::Heard* PeerRoutes::OwnersBeat(int32_t partition) const {
  const auto heard = heard_.find(partition);
  if (heard == heard_.end() || IsLate(heard->second)) return nullptr;
  return heard->second.beat.group == owner_.Group() ? &heard->second : nullptr;
}

const PeerRoutes::Heard* PeerRoutes::FormerOwnersBeat(int32_t partition) const {
  const auto ready = ready_.find(partition);
  if (ready == ready_.end() || ready->second.beat.group != owner_.Group()) return nullptr;
  const RouteBeat& former = ready->second.beat;
  if (const Heard* const owner = OwnersBeat(partition); owner != nullptr) {
    const std::string& state = owner->beat.state;  // empty: from an earlier version
    if (state.empty() || state == "ready" || owner->beat.instance == former.instance) return nullptr;
  }
  if (!IsLate(ready->second)) return &ready->second;
  // It says nothing more of this partition, but it does of its own partitions.
  const bool lives = std::any_of(heard_.begin(), heard_.end(), [&](const auto& heard) {
    return heard.second.beat.instance == former.instance && !IsLate(heard.second);
  });
  return lives ? &ready->second : nullptr;
}

PartitionRoute PeerRoutes::RouteOf(const Heard& heard, bool is_replica) const {
  const RouteBeat& beat = heard.beat;
  PartitionRoute route{beat.partition, beat.instance, beat.address, beat.state, beat.lag_messages};
  route.heard_ago = std::chrono::duration_cast<milliseconds>(clock_.Now() - heard.at);
  route.here = beat.instance == instance_ && beat.group == config_.kafka.group_id;
  route.is_replica = is_replica;
  return route;
}

RoutesAnswer PeerRoutes::Routes() const {
  const MutexLock lock(mutex_);
  RoutesAnswer answer{
      config_.input.topic, std::string(PartitionerName(config_.input.partitioner)), partitions_, {}};
  for (const auto& [partition, unused] : heard_) {
    const Heard* const heard = OwnersBeat(partition);
    if (heard != nullptr && !heard->beat.instance.empty()) answer.routes.push_back(RouteOf(*heard, false));
  }
  for (const auto& [group, beats] : replicas_) {
    for (const auto& [partition, heard] : beats) {
      if (group != owner_.Group() && !IsLate(heard)) answer.routes.push_back(RouteOf(heard, true));
    }
  }
  std::stable_sort(
      answer.routes.begin(), answer.routes.end(),
      [](const PartitionRoute& a, const PartitionRoute& b) { return a.partition < b.partition; });
  return answer;
}

// The address of the daemon that answers comes first: the owner's, or the former owner's until the owner is
// ready. Then come those of replicas that answer. Replicas of this daemon's own group come before others.
std::vector<std::string> PeerRoutes::AddressesFor(std::string_view user_id) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> addresses;
  if (partitions_ == 0) return addresses;
  const int32_t partition = PartitionOf(config_.input.partitioner, user_id, partitions_);
  const auto add = [&](const RouteBeat& beat) REQUIRES(mutex_) {
    const bool here = beat.instance == instance_ && beat.group == config_.kafka.group_id;
    if (!here && !beat.address.empty()) addresses.push_back(beat.address);
  };
  if (const Heard* const former = FormerOwnersBeat(partition); former != nullptr) add(former->beat);
  if (const Heard* const heard = OwnersBeat(partition); heard != nullptr) add(heard->beat);
  const auto add_replica = [&](const Beats& beats) REQUIRES(mutex_) {
    const auto heard = beats.find(partition);
    if (heard != beats.end() && !IsLate(heard->second) && heard->second.beat.state == "ready")
      add(heard->second.beat);
  };
  const std::string owner = owner_.Group();
  const std::string& own = config_.kafka.group_id;
  if (const auto here = replicas_.find(own); here != replicas_.end() && own != owner)
    add_replica(here->second);
  for (const auto& [group, beats] : replicas_) {
    if (group != own && group != owner) add_replica(beats);
  }
  return addresses;
}

int64_t PeerRoutes::PublishedTo(int32_t partition) const {
  const MutexLock lock(mutex_);
  const auto heard = heard_.find(partition);
  if (heard == heard_.end() || heard->second.beat.group != owner_.Group()) return -1;
  return heard->second.beat.published_to;
}

bool PeerRoutes::IsReadyElsewhere(int32_t partition, Instant since) const {
  const MutexLock lock(mutex_);
  // A replica's partitions move among the daemons of its group, as an owner's partitions do.
  const bool is_replica = !owner_.IsThisGroup();
  const auto own_group = replicas_.find(config_.kafka.group_id);
  if (is_replica && own_group == replicas_.end()) return false;
  const Beats& beats = is_replica ? own_group->second : heard_;
  const auto heard = beats.find(partition);
  if (heard == beats.end() || heard->second.at <= since) return false;
  if (clock_.Now() - heard->second.same_since < kHeardByAll) return false;
  const RouteBeat& beat = heard->second.beat;
  if (beat.group != config_.kafka.group_id) return false;
  // A beat of an earlier version names neither the instance nor the state. So the lag decides.
  if (beat.instance.empty())
    return beat.lag_messages <= static_cast<int64_t>(config_.http.ready_lag_messages);
  return beat.instance != instance_ && beat.state == "ready";
}

}  // namespace seen
