#pragma once
// A snapshot's bytes as a report for people and scripts.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// The envelope's fields and sizes, and for each of `test_ids` whether the filter might contain it ("tests").
/// If the snapshot has a filter of similar items: that filter, too ("similar"), and for each id whether it
/// may be similar to a seen item ("near_tests").
/// kMalformed: as SnapshotView::Parse.
Result<nlohmann::ordered_json> DescribeSnapshot(std::string_view bytes,
                                                std::span<const std::string> test_ids);

/// The same as lines for people.
std::string SnapshotText(const nlohmann::ordered_json& description);

}  // namespace seen
