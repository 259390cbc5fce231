#include "tools/replay/lag_pacer.h"

#include <fmt/format.h>

#include <vector>

#include "owner/beat.h"

namespace seen {

namespace {

constexpr std::chrono::seconds kAskBeats(15);
constexpr std::chrono::seconds kLookEvery(1);
constexpr std::chrono::milliseconds kBeatsExpected(5000);
constexpr double kRateFirst = 20'000;
constexpr double kRateLeast = 100;
// The lag is a second old, so steps are small. A step down is larger than a step up.
constexpr double kFaster = 1.15;
constexpr double kSlower = 0.7;

}  // namespace

LagPacer::LagPacer(const Options& options, std::unique_ptr<Admin> admin,
                   std::unique_ptr<TopicReader> follower)
    : options_(options),
      admin_(std::move(admin)),
      follower_(std::move(follower)),
      next_look_(SystemClock().Now()),
      rate_(options_.rate_max > 0 ? std::min(kRateFirst, options_.rate_max) : kRateFirst) {}

Result<std::unique_ptr<LagPacer>> LagPacer::Open(const Options& options) {
  if (options.watermarks_topic.empty()) {
    return Fail(Code::kInvalidArgument,
                "--max-lag: watermarks.topic is null, so no daemon reports its lag. Remedy: use --rate");
  }
  auto admin = Admin::Open(options.brokers, options.client);
  if (!admin) return Fail(admin.error());
  auto follower = TopicReader::OpenToFollow({.brokers = options.brokers,
                                             .client = options.client,
                                             .topic = options.watermarks_topic,
                                             .queue_bytes_max = 16 << 20},
                                            kAskBeats);
  if (!follower) {
    return Fail(follower.error().code,
                fmt::format("--max-lag: the topic of watermarks: {}", follower.error().message));
  }
  std::vector<int64_t> from;
  for (const auto& ends : (*follower)->ends()) from.push_back(ends.low);
  if (Status started = (*follower)->FollowFrom(from); !started) return Fail(started.error());
  return std::unique_ptr<LagPacer>(new LagPacer(options, std::move(*admin), std::move(*follower)));
}

Status LagPacer::Take(std::span<const Record> records) {
  for (const Record& record : records) {
    const auto beat = ParseBeat(record.value);
    if (!beat || beat->from.is_replica) continue;  // no replay waits for a replica
    Place& place = places_[beat->partition];
    const int64_t offset = beat->next_offset;
    const double seconds = static_cast<double>(record.timestamp.value - place.at.value) / 1000;
    if (place.offset >= 0 && seconds < 0.2) continue;
    if (place.offset >= 0) {
      const double speed = static_cast<double>(std::max<int64_t>(0, offset - place.offset)) / seconds;
      place.speed = place.speed == 0 ? speed : (place.speed + speed) / 2;
    }
    place.offset = offset;
    place.at = record.timestamp;
  }
  return {};
}

bool LagPacer::Look() {
  const Instant now = SystemClock().Now();
  if (now < next_look_) return false;
  next_look_ = now + kLookEvery;
  // A failed read counts as silence, which slows the run down.
  static_cast<void>(
      follower_->Poll(std::chrono::milliseconds(0),
                      [this](int32_t, std::span<const Record> records) { return Take(records); }));
  Judge();
  return true;
}

void LagPacer::Judge() {
  std::vector<int32_t> partitions(static_cast<size_t>(options_.partitions));
  for (size_t i = 0; i < partitions.size(); ++i) partitions[i] = static_cast<int32_t>(i);
  const auto ends = admin_->Ends(options_.topic, partitions, std::chrono::milliseconds(900));
  const TimeMs now = SystemClock().WallNow();
  bool is_known = ends.has_value();
  lag_s_ = 0;
  for (const int32_t partition : partitions) {
    const auto found = places_.find(partition);
    if (found == places_.end() || now.value - found->second.at.value > kBeatsExpected.count()) {
      is_known = false;
      continue;
    }
    if (!ends) continue;
    // The record is some time old. Assume that the daemon has read on at its speed since then.
    const Place& place = found->second;
    const double since_s = static_cast<double>(now.value - place.at.value) / 1000;
    const double left = static_cast<double>(ends->at(partition) - place.offset) - place.speed * since_s;
    if (left > 0) lag_s_ = std::max(lag_s_, left / std::max(place.speed, 1.0));
  }
  const double lag_max_s = std::chrono::duration<double>(options_.lag_max).count();
  rate_ = NextRate(rate_, lag_s_, lag_max_s, is_known, options_.rate_max);
}

double LagPacer::NextRate(double rate, double lag_s, double lag_max_s, bool is_known, double rate_max) {
  const double next = is_known && lag_s <= lag_max_s ? rate * kFaster : rate * kSlower;
  return std::clamp(next, kRateLeast, rate_max > 0 ? std::max(rate_max, kRateLeast) : 1e9);
}

namespace {
constexpr std::chrono::minutes kRemembered{1};
}  // namespace

void SendWindow::Acknowledged(std::chrono::microseconds latency, uint64_t in_flight, Instant now) {
  const bool is_first = since_ == Instant{};
  if (is_first || now - since_ >= kRemembered) {
    // The run's own queue must not count as the quickest latency. So a narrow window measures it again.
    if (!is_first) size_ = kLeast;
    quickest_before_ = quickest_;
    quickest_ = latency;
    since_ = now;
  }
  quickest_ = std::min(quickest_, latency);
  // The latency of distant brokers varies more.
  const auto latency_max = quickest() + std::max(queueing_max_, quickest() / 2);
  if (latency > latency_max) {
    size_ = std::max(size_ * 2 / 3, kLeast);
  } else if (in_flight >= size_ / 2) {
    size_ = std::min(size_ + kStep, kMost);
  }
}

}  // namespace seen
