#pragma once
// A replay that sends nothing, but reads and decodes the whole history, and reports what a real run would do.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/hyper_log_log.h"
#include "base/result.h"
#include "config/config.h"
#include "model/day.h"
#include "model/event.h"
#include "model/hashes.h"
#include "tools/replay/history_source.h"
#include "tools/replay/rejects.h"
#include "tools/replay/target_topic.h"

namespace seen {

/// The number of distinct values of a stream, in bounded memory: exact up to 100,000, then within about 1%.
/// One thread.
class DistinctCount {
 public:
  /// `hash`: 64 evenly distributed bits of the value.
  void Add(uint64_t hash) {
    sketch_.Add(hash);
    if (is_exact_) {
      exact_.insert(hash);
      is_exact_ = exact_.size() <= kExactMax;
      if (!is_exact_) exact_ = {};
    }
  }
  bool is_exact() const { return is_exact_; }
  uint64_t count() const { return is_exact_ ? exact_.size() : static_cast<uint64_t>(sketch_.Estimate()); }

 private:
  static constexpr size_t kExactMax = 100'000;
  HyperLogLog<14> sketch_;
  std::unordered_set<uint64_t> exact_;
  bool is_exact_ = true;
};

/// Encodes the state of some users as the store would. Keeps every user at first. Each time its memory is
/// full, it drops every other user. One thread.
class StateSample {
 public:
  explicit StateSample(uint64_t fingerprints_max = 2'000'000) : fingerprints_max_(fingerprints_max) {}

  void Add(const UserKey& user, std::string_view user_id, Day day, std::span<const ExposedItem> items);

  uint64_t users() const { return users_.size(); }
  /// Estimated bytes of rows (schemas/store.md), uncompressed, for all users, and for filters with these
  /// windows on that day.
  uint64_t EstimatedBytes(std::span<const FilterConfig> filters, Day today) const;

 private:
  struct User {
    std::string id;
    std::map<int32_t, std::vector<Fingerprint>> days;
  };
  bool Keeps(const UserKey& user) const { return (user.low & ((uint64_t{1} << thinned_) - 1)) == 0; }
  void Thin();

  uint64_t fingerprints_max_;
  uint64_t fingerprints_ = 0;
  int thinned_ = 0;  // one user of 2^thinned_ is kept
  std::unordered_map<UserKey, User, UserKeyHash> users_;
};

struct DryRunReport {
  LineCounts lines;    // `sent`: would be sent
  uint64_t items = 0;  // shown, with repetitions
  DistinctCount users;
  DistinctCount distinct_items;
  std::map<int32_t, uint64_t> events_by_day;
  std::map<std::string, uint64_t> events_beyond_window;  // by filter
  uint64_t state_bytes = 0;                              // estimated
  uint64_t users_sampled = 0;
  uint64_t bytes_not_read = 0;  // added to files meanwhile
  std::vector<std::string> damaged;
  double read_s = 0;  // time for reading and decoding
  bool whole = true;  // false: interrupted
};

struct DryRunSettings {
  EntryJudge::Rules rules;
  bool quiet = false;
};

Result<DryRunReport> DryRun(const DryRunSettings& settings, HistorySource& source, Rejects& rejects);

/// The least duration of a real run in seconds: by reading and decoding, or by the rate.
double RunSeconds(const DryRunReport& report, double rate);

std::string DryRunText(const DryRunReport& report, const Rejects& rejects, const TargetTopic* target,
                       const std::vector<TargetProblem>& problems, double rate);
std::string DryRunJson(const DryRunReport& report, const Rejects& rejects, const TargetTopic* target,
                       const std::vector<TargetProblem>& problems, double rate);

}  // namespace seen
