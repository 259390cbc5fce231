#include "topics/cluster_owner.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "base/durable_file.h"
#include "base/log.h"
#include "kafka/topic_reader.h"
#include "owner/beat.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kAskCluster{2'000};
constexpr milliseconds kClusterPoll{200};
constexpr milliseconds kClusterRetry{1'000};
constexpr milliseconds kReadMax{10'000};
constexpr uint64_t kClusterFetchBytes = 1 << 20;
// A live group writes one beat a second for each partition.
constexpr milliseconds kBeatsAwaited{4'000};

/// The reader begins at the start of all partitions, or at their present end. It never ends.
Result<std::unique_ptr<TopicReader>> FollowTopic(const KafkaConfig& kafka, const std::string& topic,
                                                 bool from_start) {
  auto follower = TopicReader::OpenToFollow({.brokers = kafka.brokers,
                                             .client = kafka.client,
                                             .topic = topic,
                                             .queue_bytes_max = kClusterFetchBytes},
                                            kAskCluster);
  if (!follower) return follower;
  std::vector<int64_t> from;
  for (const auto& ends : (*follower)->ends()) from.push_back(from_start ? ends.low : ends.high);
  if (Status started = (*follower)->FollowFrom(from); !started) return Fail(started.error());
  return follower;
}

/// Visits the records of a topic that a start must have read. kNotFound: there is no such topic.
Status ReadToEnd(const KafkaConfig& kafka, const std::string& topic,
                 const std::function<void(const Record&)>& visit) {
  TopicReader::Options options;
  options.brokers = kafka.brokers;
  options.client = kafka.client;
  options.topic = topic;
  const auto reader = TopicReader::Open(options, kAskCluster);
  if (!reader) return Fail(reader.error());
  const auto until = std::chrono::steady_clock::now() + kReadMax;
  for (bool more = true; more;) {
    const auto polled = (*reader)->Poll(milliseconds(100), [&](int32_t, std::span<const Record> records) {
      for (const Record& record : records) visit(record);
    });
    if (!polled) return Fail(polled.error());
    more = *polled;
    if (more && std::chrono::steady_clock::now() > until)
      return Fail(Code::kUnavailable, "topic \"" + topic + "\" can't be read to its end in time");
  }
  return {};
}

Result<OtherGroups> ReadOtherGroups(const KafkaConfig& kafka, const std::string& topic,
                                    PartitionRoutes& routes) {
  OtherGroups groups(kafka.group_id);
  const Status read = ReadToEnd(kafka, topic, [&](const Record& record) {
    groups.Hear(record.key, record.offset, record.value);
    routes.HearEarlier(record.value);
  });
  if (!read) return Fail(read.error());
  return groups;
}

}  // namespace

Status RefuseOtherGroup(const KafkaConfig& kafka, const std::string& watermarks_topic, const BrokerWait& wait,
                        PartitionRoutes& routes) {
  const auto before = ReadOtherGroups(kafka, watermarks_topic, routes);
  if (!before) return Fail(before.error());
  const auto other = before->Any();
  if (!other) return {};
  log::Info("another group has written to the topic of watermarks; checking whether it still does",
            {{"topic", watermarks_topic}, {"group", *other}});
  if (wait.stops_within(kBeatsAwaited)) return {};
  const auto now = ReadOtherGroups(kafka, watermarks_topic, routes);
  if (!now) return Fail(now.error());
  const auto writes = now->WritesSince(*before);
  if (!writes) return {};
  return Fail(Code::kRefused, "kafka.group_id: \"" + kafka.group_id + "\", but group \"" + *writes +
                                  "\" publishes now, with watermarks in topic \"" + watermarks_topic +
                                  "\": both would overwrite each other's snapshots. Remedy: stop the other "
                                  "group, or set topic_prefix, which names all topics of a group, to a name "
                                  "of this group's own, or start with --share-topics if you accept that");
}

// The topic may be deleted. Then every daemon's last role would be forgotten, and nobody or two groups would
// own the outputs. So the last promotion also stands beside the state.
Status ClusterOwner::Read(const std::string& folder) {
  kept_path_ = folder + "/promotion";
  std::optional<std::string> last;
  Status read = ReadToEnd(config_.kafka, config_.cluster.topic, [&](const Record& record) {
    if (record.key == kPromotionKey) last = record.value;
  });
  if (!read && read.error().code != Code::kNotFound) return read;
  if (last) return Obey(*last);
  std::ifstream kept(kept_path_);
  std::string promotion;
  if (!std::getline(kept, promotion) || !ParsePromotion(promotion)) return {};
  if (Status obeyed = promotions_.Obey(promotion); !obeyed) return obeyed;
  NoteLost();
  return {};
}

Status ClusterOwner::Obey(const std::string& promotion) {
  if (Status obeyed = promotions_.Obey(promotion); !obeyed) return obeyed;
  {
    const MutexLock lock(mutex_);
    problem_.clear();
  }
  if (const Status kept = WriteDurably(kept_path_, promotion + "\n"); !kept)
    log::Warning("the last promotion isn't kept beside the state", {{"reason", kept.error().message}});
  return {};
}

void ClusterOwner::NoteLost() {
  const auto last = promotions_.Last();
  if (!last) return;
  const MutexLock lock(mutex_);
  if (!problem_.empty()) return;
  problem_ = fmt::format(
      "topic \"{}\" has lost its promotions. By the last one, which this daemon kept, group \"{}\" owns the "
      "outputs since {}; by the configuration, \"{}\" would. Remedy: run seenctl promote with a daemon of "
      "the group that is to own them",
      config_.cluster.topic, last->group, TimeText(last->at), promotions_.ConfiguredOwner());
  log::Error("the topic of the cluster has lost its promotions", {{"problem", problem_}});
}

std::string ClusterOwner::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

// A replica creates the topic. In a cluster without replicas it doesn't exist. So this asks for it again and
// again, by a client that is connected already: a follower is a new client.
void ClusterOwner::Start(const Admin& admin, OnReplica on_replica) {
  on_replica_ = std::move(on_replica);
  thread_.Start("cluster", milliseconds(0), [this, &admin] {
    const auto partitions = admin.PartitionCount(config_.cluster.topic, kAskCluster);
    const Status followed = partitions ? Follow() : Status(Fail(partitions.error()));
    if (!partitions && partitions.error().code == Code::kNotFound) NoteLost();
    if (!followed && !thread_.stopping())
      log::Debug("the topic of the cluster can't be read yet", {{"reason", followed.error().message}});
    return kClusterRetry;
  });
}

Status ClusterOwner::Follow() {
  const auto follower = FollowTopic(config_.kafka, config_.cluster.topic, true);
  if (!follower) return Fail(follower.error());
  // Doesn't obey a promotion that a later one has undone. So it first reads up to the topic's present end.
  const int64_t end = (*follower)->ends().front().high;
  std::optional<std::string> last;
  if ((*follower)->ends().front().low == end) NoteLost();
  while (!thread_.stopping()) {
    bool is_at_end = true;  // stays true if no record comes
    const auto polled = (*follower)->Poll(kClusterPoll, [&](int32_t, std::span<const Record> records) {
      is_at_end = records.back().offset + 1 >= end;
      for (const Record& record : records) {
        if (record.key == kPromotionKey) {
          last = record.value;
        } else if (on_replica_) {
          on_replica_(record.value);
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

void PeerRoutes::Start() {
  thread_.Start("routes", milliseconds(0), [this] {
    if (const Status followed = Follow(); !followed && !thread_.stopping())
      log::Debug("the other daemons' routes can't be read yet", {{"reason", followed.error().message}});
    return kClusterRetry;
  });
}

Status PeerRoutes::Follow() {
  const auto follower = FollowTopic(config_.kafka, config_.watermarks->topic, true);
  if (!follower) return Fail(follower.error());
  const auto& ends = (*follower)->ends();
  while (!thread_.stopping()) {
    const auto polled =
        (*follower)->Poll(kClusterPoll, [&](int32_t partition, std::span<const Record> records) {
          // An old beat says what its owner had published. But it says who answered once, and no clock tells
          // how long ago.
          const int64_t old_below = ends[static_cast<size_t>(partition)].high;
          for (const Record& record : records) {
            record.offset < old_below ? routes_.HearEarlier(record.value) : routes_.HearOwner(record.value);
          }
        });
    if (!polled) return Fail(polled.error());
  }
  return {};
}

}  // namespace seen
