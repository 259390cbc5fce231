#pragma once
// The result of a comparison: its numbers, and how they are written as text and as JSON.

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
  uint64_t items = 0;  // of those that were asked
};

struct DifferenceExample {
  FilterDifference difference;
  DifferenceReason reason;
};

/// What only one of the two filters drops.
struct SideReport {
  uint64_t items = 0;
  uint64_t asked = 0;                       // of them, an even sample, for which the daemon was asked why
  std::vector<ReasonCount> reasons;         // most items first
  std::vector<DifferenceExample> examples;  // a few for each reason, in the reasons' order
};

/// Requests that could not be compared. They count neither as agreement nor as difference.
struct NotCompared {
  uint64_t bad_lines = 0;
  uint64_t old_filter = 0;            // the old filter gave no answer
  uint64_t daemon = 0;                // the daemon gave no answer, or another daemon has the user
  std::vector<std::string> examples;  // file and line, and what went wrong; kFailureExamplesMax

  uint64_t requests() const { return bad_lines + old_filter + daemon; }
};
inline constexpr size_t kFailureExamplesMax = 20;

struct CompareReport {
  std::string old_filter;  // for a person: "Redis 127.0.0.1:6379, BF.MEXISTS seen:{user}"
  std::string new_filter;
  TimeMs at{0};  // when the comparison began
  uint64_t requests = 0;
  uint64_t requests_that_differ = 0;
  uint64_t users = 0;  // different ones of the requests compared, to about 1% above 100,000
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
  std::string stopped;  // why the run ended before its end; empty: it didn't
  std::vector<std::string> warnings;

  /// Every request was compared, and every question was answered.
  bool IsComplete() const { return stopped.empty() && not_compared.requests() == 0 && why_unanswered == 0; }
};

/// "nothing", "up to 10%", ..., "over 90%"
std::string ShareBinText(size_t bin);
/// "98.94%": never "100.00%" where something differs.
std::string PercentText(uint64_t part, uint64_t whole);

std::string CompareText(const CompareReport& report);
nlohmann::ordered_json CompareJson(const CompareReport& report);

}  // namespace seen
