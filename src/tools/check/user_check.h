#pragma once
// Compares one user's filter, as served and as published, with what was really sent.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/ask/daemon_client.h"
#include "tools/check/oracle.h"

namespace seen {

struct CheckCounts {
  uint64_t users = 0;
  uint64_t items = 0;      // must be seen; looked up in every way below
  uint64_t negatives = 0;  // must not be seen; looked up in the same ways

  uint64_t snapshot_false_negatives = 0;
  uint64_t unseen_false_negatives = 0;     // POST .../unseen returned a seen item
  uint64_t published_false_negatives = 0;  // in the user's last record of the snapshot topic
  uint64_t published_missing = 0;          // users without such a record
  uint64_t published_differing = 0;        // filter bytes other than those served
  uint64_t count_mismatches = 0;           // item_count is less than must be in, or more than may be in
  uint64_t horizon_mismatches = 0;         // the filter forgets too early or too late
  uint64_t unexplained = 0;  // items that POST .../unseen drops without a collision of fingerprints
  uint64_t strangers = 0;    // fingerprints in the filter that no counting item of the user has

  uint64_t snapshot_false_positives = 0;  // allowed at the configured rate
  uint64_t unseen_false_positives = 0;    // each is a 32-bit collision, unless it is unexplained
  double rate_asked_sum = 0;              // sum of the snapshots' false_positive_rate over users

  // Why items in events of users aren't seen, as in SeenItems.
  uint64_t left_window = 0;
  uint64_t taken_back = 0;
  uint64_t too_few_exposures = 0;

  /// Whether any item had one right answer.
  bool ComparedAny() const { return items + left_window + taken_back + too_few_exposures > 0; }
  uint64_t FalseNegatives() const {
    return snapshot_false_negatives + unseen_false_negatives + published_false_negatives;
  }
  uint64_t Failures() const {
    return FalseNegatives() + published_missing + published_differing + count_mismatches +
           horizon_mismatches + unexplained + strangers;
  }
  double SnapshotFalsePositiveRate() const {
    return negatives == 0 ? 0
                          : static_cast<double>(snapshot_false_positives) / static_cast<double>(negatives);
  }
  double RateAsked() const { return users == 0 ? 0 : rate_asked_sum / static_cast<double>(users); }
};

/// The counts, by their names in verify's JSON.
inline constexpr std::pair<const char*, uint64_t CheckCounts::*> kCheckFigures[] = {
    {"users", &CheckCounts::users},
    {"items", &CheckCounts::items},
    {"negatives", &CheckCounts::negatives},
    {"snapshot_false_negatives", &CheckCounts::snapshot_false_negatives},
    {"unseen_false_negatives", &CheckCounts::unseen_false_negatives},
    {"published_false_negatives", &CheckCounts::published_false_negatives},
    {"published_missing", &CheckCounts::published_missing},
    {"published_differing", &CheckCounts::published_differing},
    {"count_mismatches", &CheckCounts::count_mismatches},
    {"horizon_mismatches", &CheckCounts::horizon_mismatches},
    {"unseen_false_positives_unexplained", &CheckCounts::unexplained},
    {"strangers", &CheckCounts::strangers},
    {"snapshot_false_positives", &CheckCounts::snapshot_false_positives},
    {"unseen_false_positives", &CheckCounts::unseen_false_positives},
    {"left_window", &CheckCounts::left_window},
    {"taken_back", &CheckCounts::taken_back},
    {"too_few_exposures", &CheckCounts::too_few_exposures}};

struct CheckOutcome {
  CheckCounts counts;
  // Earlier events may be missing, by the daemon's own word; nullopt: the filter is whole.
  std::optional<TimeMs> complete_since;
  std::vector<std::string> failures;  // for people; the first kFailuresMax
  static constexpr size_t kFailuresMax = 20;
  void Add(const CheckOutcome& other);
};

struct CheckOptions {
  std::string filter = "default";
  size_t filter_number = 0;   // in the oracle's rules
  bool names_filter = false;  // failures name the filter
  uint32_t negatives_per_user = 64;
  bool published = false;    // check the published snapshot, too
  TimeMs published_at = {};  // when it was read
  bool history_complete =
      true;  // false: the topic's start is gone, so a filter may hold more than the oracle knows
};

/// One thread. Several checkers may share an oracle while no thread adds to it.
class UserChecker {
 public:
  UserChecker(const Oracle& oracle, DaemonClient& daemon, const CheckOptions& options)
      : oracle_(oracle), daemon_(daemon), options_(options) {}

  /// Adds to the outcome. `published`: the user's last published snapshot; nullptr: there is none. Errors:
  /// the daemon gave no answer.
  Status Check(std::string_view user_id, const std::string* published);
  /// What Check added since the last call.
  CheckOutcome TakeOutcome() { return std::exchange(outcome_, {}); }

 private:
  struct Question;
  Status CheckToday(std::string_view user_id, const std::string* published);
  void Failed(std::string_view user_id, std::string_view message);
  Result<Question> Ask(std::string_view user_id);
  Status AskUnseen(std::string_view user_id, Question& question);
  void CheckSnapshot(const Question& question, std::string_view user_id);
  void CheckPublished(const Question& question, std::string_view user_id, const std::string* published);
  void CheckUnseen(const Question& question, std::string_view user_id);
  void CheckStrangers(const Question& question, std::string_view user_id);

  const Oracle& oracle_;
  DaemonClient& daemon_;
  CheckOptions options_;
  CheckOutcome outcome_;
};

/// `count` item ids that are in no event of the user: up to half of them are other users' items, the rest
/// were never sent to anybody. `own`: the user's items, sorted. The same user gets the same ids.
std::vector<std::string> NegativesFor(const Oracle& oracle, std::string_view user_id,
                                      const std::vector<uint32_t>& own, uint32_t count);

}  // namespace seen
