#pragma once
// The daemon's answers as text for a person. All functions throw nlohmann::json::exception if an answer has
// another form than docs/HTTP.md says.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"

namespace seen {

/// A daemon's status on one screen. The most urgent lines come first, for an operator at 3 am. The table of
/// partitions has the column of lost messages only if some are lost.
struct StatusScreen {
  bool is_well = false;  // ready, and nothing in `troubles`
  std::string verdict;   // "READY", "READY, with troubles", "NOT READY"
  std::string text;      // lines, each with its end; without the verdict
};
/// Leaves out members that the status lacks, as in another version.
StatusScreen MakeStatusScreen(const nlohmann::json& status, TimeMs now);

/// "0.3 s", "12 s", "4 min", "3 h", "9 d"
std::string SpanText(int64_t ms);

/// POST .../unseen: one line per item.
std::string UnseenText(const nlohmann::json& answer);
/// One line per item that is similar to a seen item, or to another of the answer. Empty if there are none.
std::string SimilarText(const nlohmann::json& answer);
/// GET .../segments: a headline, and a line per segment.
std::string SegmentsText(const nlohmann::json& answer);
/// GET .../why: the daemon's explanation, then the events of the journal.
std::string WhyText(const nlohmann::json& answer);
/// GET /v1/groups/{item}: the daemon's explanation, the members, and what is near the item.
std::string GroupText(const nlohmann::json& answer);
/// POST /v1/similar: one line per item.
std::string SimilarItemsText(const nlohmann::json& answer);

}  // namespace seen
