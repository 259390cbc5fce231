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

// Events of histories are old, but their partitions have to be right.
uint64_t EventsFor(LossCause cause, const LossCounts& counts) {
  return counts.events + (cause == LossCause::kMisrouted ? counts.replayed : 0);
}

std::string_view FieldOf(const LossCounts& sum) {
  return sum.created_before_1971 > sum.before_1971 ? "item_created_at" : "exposed_at";
}

}  // namespace

LossCounts& LossCounts::operator+=(const LossCounts& other) {
  events += other.events;
  replayed += other.replayed;
  at_end += other.at_end;
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
    case LossCause::kNoId:
      return no_id_share_max;
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
  if (slot.number != number) slot = {.number = number, .counts = {}};
  slot.counts += report.counts;
  slot.newest = std::max(slot.newest, report.newest);
  since_start_ += report.counts;
  newest_ = std::max(newest_, report.newest);
  if (report.rejection)
    rejections_[static_cast<size_t>(report.rejection->reason)] = report.rejection->message;
}

TopicLoss LossWatch::Look() const {
  const int64_t now = SlotNow();
  TopicLoss loss;
  loss.topic = options_.topic;
  Slot window;
  LossCounts& sum = window.counts;
  uint64_t recent = 0;
  const MutexLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.number < 0 || slot.number <= now - kSlots) continue;
    sum += slot.counts;
    window.newest = std::max(window.newest, slot.newest);
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
    const uint64_t of = EventsFor(cause, sum);
    if (of > 0) share.share = static_cast<double>(share.lost) / static_cast<double>(of);
    if (of >= options_.limits.events_min && share.share > share.share_max) {
      share.trouble = TroubleOf(cause, sum);
    } else if (cause == LossCause::kTooOld && share.share_max < 1 && IsOutOfWindows(window)) {
      share.lost = sum.events;
      share.share = 1;
      share.trouble = fmt::format(
          "all events that come to \"{}\" are older than every window by this machine's clock, the newest of "
          "{}: is the clock of this machine or of the producers wrong?",
          options_.topic, TimeText(window.newest));
    }
  }
  return loss;
}

// Whether the events that producers send now are out of every window. The daemon judges events by the times
// of their records, and answers by its clock. So a wrong clock hides what it has taken in.
bool LossWatch::IsOutOfWindows(const Slot& window) const {
  if (!options_.longest_window || window.newest.value <= 0) return false;
  if (window.counts.at_end < options_.limits.events_min) return false;
  const std::chrono::milliseconds longest = *options_.longest_window;
  return window.newest.value < clock_.WallNow().value - longest.count();
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
  const uint64_t events = EventsFor(cause, sum);
  const std::string percent = fmt::format("{} of {}", Percent(lost, events), options_.noun);
  const std::string of =
      fmt::format("{} of {} in \"{}\"", WithCommas(lost), WithCommas(events), options_.topic);
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
          "{} are skipped, {}: do input.only_if, input.kinds, input.ids_ignored and input.items_only_if fit "
          "them?",
          percent, of);
    case LossCause::kNoId:
      return fmt::format(
          "{} have no item with an id, {}: do input.fields.items and input.fields.item_id fit them?", percent,
          of);
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
