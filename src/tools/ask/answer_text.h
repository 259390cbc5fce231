#pragma once
// The daemon's answers and snapshots as text for a person. All functions on answers throw
// nlohmann::json::exception if an answer has another form than docs/HTTP.md says.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "tools/common_options.h"

namespace seen {

/// A daemon's status on one screen. The most urgent lines come first, for an operator at 3 am. The table of
/// partitions has the column of lost messages only if some are lost.
struct StatusScreen {
  bool is_well = false;  // ready, and nothing in `troubles`
  std::string verdict;   // "READY", "READY, with troubles", "NOT READY"
  std::string text;      // lines, each with its end; without the verdict
};
/// Leaves out members that the status lacks, as in another version.
StatusScreen MakeStatusScreen(const SortedJson& status, TimeMs now);

/// "0.3 s", "12 s", "4 min", "3 h", "9 d"
std::string SpanText(int64_t ms);

/// POST .../unseen: one line per item.
std::string UnseenText(const SortedJson& answer);
/// One line per item that is similar to a seen item, or to another of the answer. Empty if there are none.
std::string SimilarText(const SortedJson& answer);
/// GET .../segments: a headline, and a line per segment.
std::string SegmentsText(const SortedJson& answer);
/// GET .../why: the daemon's explanation, then the events of the journal.
std::string WhyText(const SortedJson& answer);
/// GET /v1/groups/{item}: the daemon's explanation, the members, and what is near the item.
std::string GroupText(const SortedJson& answer);
/// POST /v1/similar: one line per item.
std::string SimilarItemsText(const SortedJson& answer);

// --- a snapshot

/// The envelope's fields and sizes, and for each of `test_ids` whether the filter might contain it ("tests").
/// If the snapshot has a filter of similar items: that filter, too ("similar"), and for each id whether it
/// may be similar to a seen item ("near_tests").
/// kMalformed: as SnapshotView::Parse.
Result<OrderedJson> DescribeSnapshot(std::string_view bytes, std::span<const std::string> test_ids);

/// The same as lines for people.
std::string SnapshotText(const OrderedJson& description);

}  // namespace seen
