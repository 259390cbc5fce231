#pragma once
// The digests of a state, in the form in which seenctl prints, saves and compares them.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rows/state_digest.h"

namespace seen {

class CopySink;

struct StateReport {
  std::string source;  // for people
  std::string topic;
  int32_t partitions_total = 0;  // of the topic
  TimeMs as_of;
  std::vector<PartitionDigest> partitions;  // ascending

  /// Sums over the partitions, by filter.
  std::vector<FilterDigest> Sum() const;
};

nlohmann::ordered_json StateReportToJson(const StateReport& report);
/// kMalformed names the field.
Result<StateReport> StateReportFromJson(const nlohmann::json& json);
/// As a table.
std::string StateReportText(const StateReport& report);

/// One line per difference, with partition and filter; empty: the reports agree. Different numbers of
/// partitions are compared by their sums, without users whose id is gone. Similar items aren't compared.
std::vector<std::string> CompareReports(const StateReport& expected, const StateReport& found);

/// Sums the rows, and stores nothing. Completes `report`, which must outlive the result and has its source
/// and time. kRefused: the partitions are of several topics. `scratch`: parent of SortFolder; empty: the
/// system's folder for temporary files.
std::unique_ptr<CopySink> IntoDigest(const std::string& scratch, StateReport& report);

}  // namespace seen
