#pragma once
// Watches which share of a topic's events doesn't reach the state, over a sliding window. Replays don't
// count: histories are older than windows, and their tools count what is rejected.

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "flow/filter_policy.h"
#include "flow/partitioner_guess.h"
#include "model/event.h"

namespace seen {

enum class LossCause : uint8_t {
  kTooOld,     // older than every window
  kSkipped,    // a condition, input.kinds or input.ids_ignored excludes it
  kNoId,       // none of its items has an id
  kNoFilter,   // no filter covers it
  kRejected,   // a dead letter
  kMisrouted,  // in another partition than its user's: look-ups miss it
  kUnreached,  // none of them reached some filter since the start, though others have them
};
inline constexpr std::array kLossCauses = {LossCause::kTooOld,   LossCause::kSkipped,  LossCause::kNoId,
                                           LossCause::kNoFilter, LossCause::kRejected, LossCause::kMisrouted,
                                           LossCause::kUnreached};

/// As in labels of metrics: "too_old".
constexpr std::string_view LossCauseName(LossCause cause) {
  constexpr std::array<std::string_view, kLossCauses.size()> kNames = {
      "too_old", "skipped", "no_id", "no_filter", "rejected", "misrouted", "unreached"};
  return kNames[static_cast<size_t>(cause)];
}

struct LossCounts {
  uint64_t events = 0;    // lost or not
  uint64_t replayed = 0;  // events of histories, which may be misrouted, too
  uint64_t at_end = 0;    // of `events`: read when nothing more waited, so their producers sent them now
  std::array<uint64_t, kLossCauses.size()> lost{};
  std::array<uint64_t, kRejectReasons> rejected{};
  uint64_t before_1971 = 0;          // of those that are too old
  uint64_t created_before_1971 = 0;  // likewise: all their items, of a window by item_created_at
  FilterMask reached = 0;            // filters that got an event
  PartitionerFits partitioners;

  uint64_t& LostBy(LossCause cause) { return lost[static_cast<size_t>(cause)]; }
  uint64_t LostBy(LossCause cause) const { return lost[static_cast<size_t>(cause)]; }
  LossCounts& operator+=(const LossCounts& other);
};

/// What a batch of records has beside its replayed records.
struct LiveReport {
  LossCounts counts;
  TimeMs newest;                       // the greatest time of an event; 0: none
  std::optional<Rejection> rejection;  // the last one

  void Rejected(const Rejection& why) {
    ++counts.LostBy(LossCause::kRejected);
    ++counts.rejected[static_cast<size_t>(why.reason)];
    rejection = why;
  }
};

/// input.loss: shares beyond which a loss is a trouble.
struct LossLimits {
  std::chrono::seconds window{600};
  uint64_t events_min = 100;
  double too_old_share_max = 0.05;
  double skipped_share_max = 0.99;
  double no_id_share_max = 0.5;
  double no_filter_share_max = 0.99;
  double rejected_share_max = 0.05;
  double misrouted_share_max = 0.01;
  uint64_t unreached_events_min = 10'000;

  double MaxOf(LossCause cause) const;
};

/// What a topic lost by one cause within the window.
struct LossShare {
  LossCause cause = LossCause::kTooOld;
  uint64_t lost = 0;
  double share = 0;  // of the events
  double share_max = 0;
  std::string trouble;  // for people: the loss and its likely cause; empty: the share isn't over its limit
};

struct TopicLoss {
  std::string topic;
  uint64_t events = 0;                 // within the window
  std::optional<double> events_per_s;  // of the last tenth of the window; nullopt: none since the start
  std::optional<TimeMs> newest;        // the greatest time of an event since the start
  std::vector<LossShare> causes;
};

class LossWatch {
 public:
  struct Options {
    std::string topic;
    std::string_view noun = "events";  // a constant
    std::vector<LossCause> causes{kLossCauses.begin(), kLossCauses.end()};
    std::vector<std::string> filters = {};                  // by their index
    std::optional<std::chrono::hours> longest_window = {};  // of all filters; nullopt: not watched
    Partitioner partitioner = Partitioner::kMurmur2;        // as configured
    LossLimits limits;
  };
  /// `clock` outlives this.
  LossWatch(Options options, const Clock& clock);

  /// Takes the counts of a batch. Any thread.
  void Add(const LiveReport& report);
  /// Any thread.
  TopicLoss Look() const;

 private:
  static constexpr int64_t kSlots = 60;
  static constexpr int64_t kRecentSlots = kSlots / 10;
  struct Slot {
    int64_t number = -1;
    LossCounts counts;
    TimeMs newest{0};
  };
  int64_t SlotNow() const;
  std::string TroubleOf(LossCause cause, const LossCounts& sum) const REQUIRES(mutex_);
  std::string UnreachedFilter() const REQUIRES(mutex_);
  bool IsOutOfWindows(const Slot& window) const;

  const Options options_;
  const Clock& clock_;
  const Instant start_;
  const std::chrono::nanoseconds slot_width_;
  mutable Mutex mutex_;
  std::array<Slot, kSlots> slots_ GUARDED_BY(mutex_);
  LossCounts since_start_ GUARDED_BY(mutex_);
  TimeMs newest_ GUARDED_BY(mutex_){0};
  std::array<std::string, kRejectReasons> rejections_ GUARDED_BY(mutex_);  // the last message of each reason
};

}  // namespace seen
