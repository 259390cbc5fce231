#include "topics/cluster_owner.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/threads.h"
#include "kafka/topic_reader.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kAsk{2'000};
constexpr milliseconds kPoll{200};
constexpr milliseconds kRetryEvery{1'000};
constexpr milliseconds kReadMax{10'000};
constexpr uint64_t kFetchBytes = 1 << 20;
constexpr int kVersionOfPromotions = 1;
}  // namespace

std::string EncodePromotion(const Promotion& promotion) {
  const nlohmann::ordered_json json = {{"version", kVersionOfPromotions},
                                       {"group", promotion.group},
                                       {"owners", promotion.owners},
                                       {"instance", promotion.instance},
                                       {"at_ms", promotion.at.value}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<Promotion> ParsePromotion(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kVersionOfPromotions)
    return std::nullopt;
  Promotion promotion;
  const auto group = json.find("group");
  const auto owners = json.find("owners");
  if (group == json.end() || !group->is_string() || owners == json.end() || !owners->is_array())
    return std::nullopt;
  promotion.group = group->get<std::string>();
  for (const auto& owner : *owners) {
    if (!owner.is_string()) return std::nullopt;
    promotion.owners.push_back(owner.get<std::string>());
  }
  if (promotion.owners.empty() || promotion.owners.back() != promotion.group) return std::nullopt;
  if (const auto by = json.find("instance"); by != json.end() && by->is_string())
    promotion.instance = by->get<std::string>();
  if (const auto at = json.find("at_ms"); at != json.end() && at->is_number_integer())
    promotion.at = {at->get<int64_t>()};
  return promotion;
}

Status ClusterOwner::Obey(const std::string& value) {
  auto promotion = ParsePromotion(value);
  if (!promotion) {
    log::Error("a promotion can't be read: the previous owner stays the owner",
               {{"topic", config_.cluster.topic}, {"remedy", "upgrade this daemon"}});
    return {};
  }
  const std::string& here = config_.kafka.group_id;
  const bool knows_here = config_.replica_of || std::find(promotion->owners.begin(), promotion->owners.end(),
                                                          here) != promotion->owners.end();
  if (!knows_here) {
    return Fail(Code::kRefused, "kafka.group_id: \"" + here + "\", but group \"" + promotion->group +
                                    "\" owns the topics that this daemon would write, as topic \"" +
                                    config_.cluster.topic +
                                    "\" says. Remedy: set role to \"replica\" and replica_of to \"" +
                                    promotion->group + "\", or give this group topics of its own");
  }
  const bool is_this_group = promotion->group == here;
  {
    const MutexLock lock(mutex_);
    last_ = std::move(*promotion);
    if (is_this_group == is_this_group_.load()) return {};
    log::Warning(is_this_group ? "this group writes the outputs from here on: it was promoted"
                               : "this group is a replica from here on: another one was promoted",
                 {{"owner", last_->group}, {"by", last_->instance}});
  }
  is_this_group_.store(is_this_group, std::memory_order_release);
  return {};
}

Status ClusterOwner::Read() {
  TopicReader::Options options;
  options.brokers = config_.kafka.brokers;
  options.client = config_.kafka.client;
  options.topic = config_.cluster.topic;
  const auto reader = TopicReader::Open(options, kAsk);
  if (!reader && reader.error().code == Code::kNotFound) return {};
  if (!reader) return Fail(reader.error());
  std::optional<std::string> last;
  const auto until = std::chrono::steady_clock::now() + kReadMax;
  for (bool more = true; more;) {
    const auto polled = (*reader)->Poll(milliseconds(100), [&](int32_t, std::span<const Record> records) {
      for (const Record& record : records) {
        if (record.key == kPromotionKey) last = record.value;
      }
    });
    if (!polled) return Fail(polled.error());
    more = *polled;
    if (more && std::chrono::steady_clock::now() > until)
      return Fail(Code::kUnavailable,
                  "topic \"" + config_.cluster.topic + "\" can't be read to its end in time");
  }
  return last ? Obey(*last) : Status();
}

void ClusterOwner::Start(const Admin& admin, Listeners listeners) {
  listeners_ = std::move(listeners);
  thread_ = std::thread([this, &admin] {
    NameThread("cluster");
    Run(admin);
  });
}

void ClusterOwner::Stop() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

// A replica creates the topic. In a cluster without replicas it doesn't exist. So this asks for it again and
// again, by a client that is connected already: a follower is a new client.
void ClusterOwner::Run(const Admin& admin) {
  while (!stop_.load()) {
    const auto partitions = admin.PartitionCount(config_.cluster.topic, kAsk);
    const Status followed = partitions ? Follow() : Status(Fail(partitions.error()));
    if (!followed && !stop_.load())
      log::Debug("the topic of the cluster can't be read yet", {{"reason", followed.error().message}});
    for (milliseconds waited{0}; waited < kRetryEvery && !stop_.load(); waited += kPoll)
      std::this_thread::sleep_for(kPoll);
  }
}

Status ClusterOwner::Follow() {
  const auto follower = TopicReader::OpenToFollow({.brokers = config_.kafka.brokers,
                                                   .client = config_.kafka.client,
                                                   .topic = config_.cluster.topic,
                                                   .queue_bytes_max = kFetchBytes},
                                                  kAsk);
  if (!follower) return Fail(follower.error());
  std::vector<int64_t> from;
  for (const auto& ends : (*follower)->ends()) from.push_back(ends.low);
  if (Status started = (*follower)->FollowFrom(from); !started) return started;
  // Doesn't obey a promotion that a later one has undone. So it first reads up to the topic's present end.
  const int64_t end = (*follower)->ends().front().high;
  std::optional<std::string> last;
  while (!stop_.load()) {
    bool is_at_end = true;  // stays true if no record comes
    const auto polled = (*follower)->Poll(kPoll, [&](int32_t, std::span<const Record> records) {
      is_at_end = records.back().offset + 1 >= end;
      for (const Record& record : records) {
        if (record.key == kPromotionKey) {
          last = record.value;
        } else if (listeners_.on_replica) {
          listeners_.on_replica(record.value);
        }
      }
    });
    if (!polled) return Fail(polled.error());
    if (!last || !is_at_end) continue;
    if (const Status obeyed = Obey(*std::exchange(last, std::nullopt)); !obeyed)
      log::Error("another group was promoted", {{"reason", obeyed.error().message}});
  }
  return {};
}

std::string ClusterOwner::Group() const {
  const MutexLock lock(mutex_);
  if (last_) return last_->group;
  return config_.replica_of.value_or(config_.kafka.group_id);
}

std::string ClusterOwner::FirstGroup() const {
  const MutexLock lock(mutex_);
  if (last_) return last_->owners.front();
  return config_.replica_of.value_or(config_.kafka.group_id);
}

bool ClusterOwner::IsPromoted() const {
  const MutexLock lock(mutex_);
  return last_ && last_->group == config_.kafka.group_id;
}

bool ClusterOwner::HasOwned(std::string_view group) const {
  const MutexLock lock(mutex_);
  if (group == config_.kafka.group_id || (config_.replica_of && group == *config_.replica_of)) return true;
  return last_ && std::find(last_->owners.begin(), last_->owners.end(), group) != last_->owners.end();
}

Promotion ClusterOwner::NextPromotion(std::string instance, TimeMs now) const {
  const MutexLock lock(mutex_);
  Promotion next{config_.kafka.group_id, {}, std::move(instance), now};
  if (last_) {
    next.owners = last_->owners;
  } else if (config_.replica_of) {
    next.owners.push_back(*config_.replica_of);
  }
  // The first owner stays first: see FirstGroup.
  if (next.owners.size() > 1)
    next.owners.erase(std::remove(next.owners.begin() + 1, next.owners.end(), next.group), next.owners.end());
  if (next.owners.empty() || next.owners.back() != next.group) next.owners.push_back(next.group);
  return next;
}

}  // namespace seen
