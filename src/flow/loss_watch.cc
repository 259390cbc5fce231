#include "flow/loss_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace seen {
namespace {

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

/// "98%": rounded down, so that 100% means all.
std::string Percent(uint64_t count, uint64_t of) {
  const uint64_t percent = count * 100 / of;
  return percent == 0 ? "under 1%" : std::to_string(percent) + "%";
}

std::string_view FieldOf(const LossCounts& sum) {
  return sum.created_before_1971 > sum.before_1971 ? "item_created_at" : "exposed_at";
}

}  // namespace

LossCounts& LossCounts::operator+=(const LossCounts& other) {
  events += other.events;
  for (size_t i = 0; i < lost.size(); ++i) lost[i] += other.lost[i];
  for (size_t i = 0; i < rejected.size(); ++i) rejected[i] += other.rejected[i];
  before_1971 += other.before_1971;
  created_before_1971 += other.created_before_1971;
  reached = static_cast<FilterMask>(reached | other.reached);
  partitioners += other.partitioners;
  return *this;
}

double LossLimits::MaxOf(LossCause cause) const {
  switch (cause) {
    case LossCause::kTooOld:
      return too_old_share_max;
    case LossCause::kSkipped:
      return skipped_share_max;
    case LossCause::kNoFilter:
      return no_filter_share_max;
    case LossCause::kRejected:
      return rejected_share_max;
    case LossCause::kUnreached:
      return 0;
    case LossCause::kMisrouted:
      break;
  }
  return misrouted_share_max;
}

LossWatch::LossWatch(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      start_(clock.Now()),
      slot_width_(std::chrono::nanoseconds(options_.limits.window) / kSlots) {}

int64_t LossWatch::SlotNow() const { return (clock_.Now() - start_) / slot_width_; }

void LossWatch::Add(const LiveReport& report) {
  const int64_t number = SlotNow();
  const MutexLock lock(mutex_);
  Slot& slot = slots_[static_cast<size_t>(number % kSlots)];
  if (slot.number != number) slot = {number, {}};
  slot.counts += report.counts;
  since_start_ += report.counts;
  newest_ = std::max(newest_, report.newest);
  if (report.rejection)
    rejections_[static_cast<size_t>(report.rejection->reason)] = report.rejection->message;
}

TopicLoss LossWatch::Look() const {
  const int64_t now = SlotNow();
  TopicLoss loss;
  loss.topic = options_.topic;
  LossCounts sum;
  uint64_t recent = 0;
  const MutexLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.number < 0 || slot.number <= now - kSlots) continue;
    sum += slot.counts;
    if (slot.number > now - kRecentSlots) recent += slot.counts.events;
  }
  loss.events = sum.events;
  if (since_start_.events > 0) {
    const std::chrono::nanoseconds since_start = clock_.Now() - start_;
    const std::chrono::duration<double> counted =
        std::clamp(since_start, slot_width_, kRecentSlots * slot_width_);
    loss.events_per_s = static_cast<double>(recent) / counted.count();
  }
  if (newest_.value > 0) loss.newest = newest_;
  for (const LossCause cause : options_.causes) {
    LossShare& share = loss.causes.emplace_back();
    share.cause = cause;
    if (cause == LossCause::kUnreached) {
      share.trouble = UnreachedFilter();
      share.share = share.trouble.empty() ? 0 : 1;
      continue;
    }
    share.lost = sum.LostBy(cause);
    share.share_max = options_.limits.MaxOf(cause);
    if (sum.events > 0) share.share = static_cast<double>(share.lost) / static_cast<double>(sum.events);
    if (sum.events >= options_.limits.events_min && share.share > share.share_max)
      share.trouble = TroubleOf(cause, sum);
  }
  return loss;
}

// Empty: each filter got an event, or there were too few events to tell.
std::string LossWatch::UnreachedFilter() const {
  if (since_start_.events < options_.limits.unreached_events_min) return {};
  for (size_t i = 0; i < options_.filters.size(); ++i) {
    if ((since_start_.reached >> i & 1) != 0) continue;
    return fmt::format(
        "none of {} events in \"{}\" reached filter \"{}\": do its scenes and its condition `when` fit them?",
        WithCommas(since_start_.events), options_.topic, options_.filters[i]);
  }
  return {};
}

std::string LossWatch::TroubleOf(LossCause cause, const LossCounts& sum) const {
  const uint64_t lost = sum.LostBy(cause);
  const std::string percent = fmt::format("{} of {}", Percent(lost, sum.events), options_.noun);
  const std::string of =
      fmt::format("{} of {} in \"{}\"", WithCommas(lost), WithCommas(sum.events), options_.topic);
  switch (cause) {
    case LossCause::kTooOld: {
      const uint64_t of_1970 = sum.before_1971 + sum.created_before_1971;
      if (of_1970 * 2 > lost) {
        return fmt::format("{} of {} are before 1971: is the unit of {} right? {} are dropped as too old",
                           Percent(of_1970, sum.events), options_.noun, FieldOf(sum), of);
      }
      return fmt::format(
          "{} are older than every window and dropped, {}: do producers hold events back? Send histories "
          "with seenctl replay",
          percent, of);
    }
    case LossCause::kSkipped:
      return fmt::format(
          "{} are skipped, {}: do the pointers and values of input.only_if and input.kinds fit them?",
          percent, of);
    case LossCause::kNoFilter:
      return fmt::format("{} are covered by no filter, {}: do filters[].scenes and filters[].when fit them?",
                         percent, of);
    case LossCause::kRejected: {
      const auto most = std::max_element(sum.rejected.begin(), sum.rejected.end()) - sum.rejected.begin();
      const auto reason = static_cast<RejectReason>(most);
      const std::string& example = rejections_[static_cast<size_t>(most)];
      const std::string_view guess =
          reason == RejectReason::kTooFarAhead  ? "; is the producer's time zone or clock wrong?"
          : reason == RejectReason::kOutOfRange ? "; is the unit of the time right?"
                                                : "";
      return fmt::format("{} of \"{}\": {} read, {} rejected ({}{}): seenctl dead-letters", options_.noun,
                         options_.topic, WithCommas(sum.events), WithCommas(lost),
                         example.empty() ? RejectReasonName(reason) : std::string_view(example), guess);
    }
    case LossCause::kMisrouted:
    case LossCause::kUnreached:
      break;
  }
  return fmt::format("{} are in another partition than their user's, {}, so look-ups miss them: {}", percent,
                     of, GuessPartitioner(sum.partitioners, options_.partitioner));
}

}  // namespace seen
