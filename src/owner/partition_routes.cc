#include "owner/partition_routes.h"

#include <algorithm>
#include <utility>

namespace seen {
namespace {
using std::chrono::milliseconds;

// A live daemon writes one beat a second for each partition.
constexpr milliseconds kSilentMax{10'000};
constexpr milliseconds kHeardByAll{1'000};
}  // namespace

void PartitionRoutes::SetSelf(std::string instance, int32_t partitions) {
  const MutexLock lock(mutex_);
  instance_ = std::move(instance);
  partitions_ = partitions;
}

void PartitionRoutes::Hear(Beat beat, Beats& beats) {
  const Instant now = clock_.Now();
  Heard& heard = beats[beat.partition];
  const bool same = heard.beat.from.instance == beat.from.instance && heard.beat.state == beat.state;
  heard = {std::move(beat), now, same ? heard.same_since : now};
}

void PartitionRoutes::HearOwner(std::string_view text) {
  auto beat = ParseBeat(text);
  if (!beat) return;
  const MutexLock lock(mutex_);
  last_[beat->partition] = *beat;
  if (beat->state == "ready") Hear(*beat, ready_);
  Hear(std::move(*beat), heard_);
}

void PartitionRoutes::HearEarlier(std::string_view text) {
  auto beat = ParseBeat(text);
  if (!beat) return;
  const MutexLock lock(mutex_);
  last_[beat->partition] = std::move(*beat);
}

std::optional<Beat> PartitionRoutes::LastBeat(int32_t partition) const {
  const MutexLock lock(mutex_);
  const auto last = last_.find(partition);
  return last == last_.end() ? std::nullopt : std::optional(last->second);
}

void PartitionRoutes::HearReplica(std::string_view text) {
  auto beat = ParseBeat(text);
  if (!beat || beat->from.group.empty()) return;
  const MutexLock lock(mutex_);
  Beats& beats = replicas_[beat->from.group];
  Hear(std::move(*beat), beats);
}

bool PartitionRoutes::IsLate(const Heard& heard) const { return clock_.Now() - heard.at > kSilentMax; }

const PartitionRoutes::Heard* PartitionRoutes::OwnersBeat(int32_t partition) const {
  const auto heard = heard_.find(partition);
  if (heard == heard_.end() || IsLate(heard->second)) return nullptr;
  return heard->second.beat.from.group == promotions_.Group() ? &heard->second : nullptr;
}

const PartitionRoutes::Heard* PartitionRoutes::FormerOwnersBeat(int32_t partition) const {
  const auto ready = ready_.find(partition);
  if (ready == ready_.end() || ready->second.beat.from.group != promotions_.Group()) return nullptr;
  const Beat& former = ready->second.beat;
  if (const Heard* const owner = OwnersBeat(partition); owner != nullptr) {
    const std::string& state = owner->beat.state;  // empty: from an earlier version
    if (state.empty() || state == "ready" || owner->beat.from.instance == former.from.instance)
      return nullptr;
  }
  if (!IsLate(ready->second)) return &ready->second;
  // It says nothing more of this partition, but it does of its own partitions.
  const bool lives = std::any_of(heard_.begin(), heard_.end(), [&](const auto& heard) {
    return heard.second.beat.from.instance == former.from.instance && !IsLate(heard.second);
  });
  return lives ? &ready->second : nullptr;
}

PartitionRoute PartitionRoutes::RouteOf(const Heard& heard, bool is_replica) const {
  const Beat& beat = heard.beat;
  PartitionRoute route{.partition = beat.partition,
                       .instance = beat.from.instance,
                       .address = beat.from.address,
                       .state = beat.state,
                       .next_offset = beat.next_offset,
                       .lag_messages = beat.lag_messages,
                       .unpublished_users = beat.unpublished_users};
  route.heard_ago = std::chrono::duration_cast<milliseconds>(clock_.Now() - heard.at);
  route.here = IsHere(beat);
  route.is_replica = is_replica;
  return route;
}

RoutesAnswer PartitionRoutes::Routes() const {
  const MutexLock lock(mutex_);
  RoutesAnswer answer{options_.topic, std::string(PartitionerName(options_.partitioner)), partitions_, {}};
  for (const auto& [partition, unused] : heard_) {
    const Heard* const heard = OwnersBeat(partition);
    if (heard != nullptr && !heard->beat.from.instance.empty())
      answer.routes.push_back(RouteOf(*heard, false));
  }
  for (const auto& [group, beats] : replicas_) {
    for (const auto& [partition, heard] : beats) {
      if (group != promotions_.Group() && !IsLate(heard)) answer.routes.push_back(RouteOf(heard, true));
    }
  }
  std::stable_sort(
      answer.routes.begin(), answer.routes.end(),
      [](const PartitionRoute& a, const PartitionRoute& b) { return a.partition < b.partition; });
  return answer;
}

// The address of the daemon that answers comes first: the owner's, or the former owner's until the owner is
// ready. Then come those of replicas that answer. Replicas of this daemon's own group come before others.
std::vector<std::string> PartitionRoutes::AddressesFor(std::string_view user_id) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> addresses;
  if (partitions_ == 0) return addresses;
  const int32_t partition = PartitionOf(options_.partitioner, user_id, partitions_);
  const auto add = [&](const Beat& beat) REQUIRES(mutex_) {
    if (!IsHere(beat) && !beat.from.address.empty()) addresses.push_back(beat.from.address);
  };
  if (const Heard* const former = FormerOwnersBeat(partition); former != nullptr) add(former->beat);
  if (const Heard* const heard = OwnersBeat(partition); heard != nullptr) add(heard->beat);
  const auto add_replica = [&](const Beats& beats) REQUIRES(mutex_) {
    const auto heard = beats.find(partition);
    if (heard != beats.end() && !IsLate(heard->second) && heard->second.beat.state == "ready")
      add(heard->second.beat);
  };
  const std::string owner = promotions_.Group();
  const std::string& own = options_.group;
  if (const auto here = replicas_.find(own); here != replicas_.end() && own != owner)
    add_replica(here->second);
  for (const auto& [group, beats] : replicas_) {
    if (group != own && group != owner) add_replica(beats);
  }
  return addresses;
}

int64_t PartitionRoutes::PublishedTo(int32_t partition) const {
  const MutexLock lock(mutex_);
  const auto heard = heard_.find(partition);
  if (heard == heard_.end() || heard->second.beat.from.group != promotions_.Group()) return -1;
  return heard->second.beat.published_to;
}

bool PartitionRoutes::IsReadyElsewhere(int32_t partition, Instant since) const {
  const MutexLock lock(mutex_);
  // A replica's partitions move among the daemons of its group, as an owner's partitions do.
  const bool is_replica = !promotions_.IsThisGroup();
  const auto own_group = replicas_.find(options_.group);
  if (is_replica && own_group == replicas_.end()) return false;
  const Beats& beats = is_replica ? own_group->second : heard_;
  const auto heard = beats.find(partition);
  if (heard == beats.end() || heard->second.at <= since) return false;
  if (clock_.Now() - heard->second.same_since < kHeardByAll) return false;
  const Beat& beat = heard->second.beat;
  if (beat.from.group != options_.group) return false;
  // A beat of an earlier version names neither the instance nor the state. So the lag decides.
  if (beat.from.instance.empty()) return beat.lag_messages <= options_.ready_lag_messages;
  return beat.from.instance != instance_ && beat.state == "ready";
}

bool PartitionRoutes::HasReadyPeer(const std::function<bool(const std::string&)>& allows) const {
  const std::vector<PartitionRoute> routes = Routes().routes;
  return std::any_of(routes.begin(), routes.end(), [&](const PartitionRoute& route) {
    return !route.here && route.state == "ready" && allows(route.address);
  });
}

}  // namespace seen
