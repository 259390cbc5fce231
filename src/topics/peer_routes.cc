#include "topics/peer_routes.h"

#include <vector>

#include "base/log.h"
#include "kafka/topic_reader.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskRoutes{2'000};
constexpr milliseconds kRoutesPoll{200};
constexpr milliseconds kRoutesRetry{1'000};
constexpr uint64_t kRoutesFetchBytes = 1 << 20;

}  // namespace

void PeerRoutes::Start() {
  thread_.Start("routes", milliseconds(0), [this] {
    if (const Status followed = Follow(); !followed && !thread_.stopping())
      log::Debug("the other daemons' routes can't be read yet", {{"reason", followed.error().message}});
    return kRoutesRetry;
  });
}

Status PeerRoutes::Follow() {
  const auto follower = TopicReader::OpenToFollow({.brokers = config_.kafka.brokers,
                                                   .client = config_.kafka.client,
                                                   .topic = config_.watermarks->topic,
                                                   .queue_bytes_max = kRoutesFetchBytes},
                                                  kAskRoutes);
  if (!follower) return Fail(follower.error());
  std::vector<int64_t> from;
  // Starts at the ends: an old beat says who answered once, and no clock tells how long ago.
  for (const auto& ends : (*follower)->ends()) from.push_back(ends.high);
  if (Status started = (*follower)->FollowFrom(from); !started) return started;
  while (!thread_.stopping()) {
    const auto polled = (*follower)->Poll(kRoutesPoll, [&](int32_t, std::span<const Record> records) {
      for (const Record& record : records) {
        routes_.HearOwner(record.value);
      }
    });
    if (!polled) return Fail(polled.error());
  }
  return {};
}

}  // namespace seen
