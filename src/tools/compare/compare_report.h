#pragma once
// The result of a comparison: its numbers, and its forms as text and as JSON.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tools/compare/comparison.h"
#include "tools/compare/difference_reason.h"

namespace seen {

struct ReasonCount {
  DifferenceReason reason;
  uint64_t items = 0;  // among the differences that were asked about
};

struct DifferenceExample {
  FilterDifference difference;
  DifferenceReason reason;
};

/// The candidates that only one of the two filters drops.
struct SideReport {
  uint64_t items = 0;
  uint64_t asked = 0;                       // size of the even sample that the daemon was asked about
  std::vector<ReasonCount> reasons;         // most items first
  std::vector<DifferenceExample> examples;  // a few for each reason, ordered as `reasons`
};

/// Requests that could not be compared. They count neither as agreement nor as difference.
struct NotCompared {
  uint64_t bad_lines = 0;
  uint64_t old_filter = 0;            // the old filter gave no answer
  uint64_t daemon = 0;                // the daemon gave no answer, or another daemon owns the user
  std::vector<std::string> examples;  // file, line and error; at most kFailureExamplesMax

  uint64_t requests() const { return bad_lines + old_filter + daemon; }
};
inline constexpr size_t kFailureExamplesMax = 20;

struct CompareReport {
  std::string old_filter;  // for a person: "Redis 127.0.0.1:6379, BF.MEXISTS seen:{user}"
  std::string new_filter;
  TimeMs at{0};  // when the comparison began
  uint64_t requests = 0;
  uint64_t requests_that_differ = 0;
  uint64_t users = 0;  // distinct users of the compared requests; above 100,000 an estimate within about 1%
  AgreementCounts total;
  std::map<std::string, AgreementCounts> by_filter;
  ShareHistogram old_shares{};  // requests by the share of candidates that the old filter drops
  ShareHistogram new_shares{};
  SideReport only_old;
  SideReport only_new;
  NotCompared not_compared;
  uint64_t why_unanswered = 0;
  uint64_t repeated = 0;
  uint64_t also_seen = 0;
  uint64_t unknown_items = 0;
  std::string stopped;  // why the run ended early; empty: it didn't
  std::vector<std::string> warnings;

  /// Every request was compared, and every question was answered.
  bool IsComplete() const { return stopped.empty() && not_compared.requests() == 0 && why_unanswered == 0; }
};

/// "nothing", "up to 10%", ..., "over 90%"
std::string ShareBinText(size_t bin);
/// "98.94%". Never "100.00%" if something differs.
std::string PercentText(uint64_t part, uint64_t whole);

std::string CompareText(const CompareReport& report);
nlohmann::ordered_json CompareJson(const CompareReport& report);

}  // namespace seen
