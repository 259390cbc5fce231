#pragma once
// A snapshot's bytes as a report for people and scripts.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// The envelope's fields and sizes, and for each of `test_ids` whether the filter might contain it ("tests").
/// Where it says what is similar, that filter too ("similar"), and whether each may be like one that was seen
/// ("near_tests").
/// kMalformed as SnapshotView::Parse says.
Result<nlohmann::ordered_json> DescribeSnapshot(std::string_view bytes,
                                                std::span<const std::string> test_ids);

/// The same as lines for people.
std::string SnapshotText(const nlohmann::ordered_json& description);

}  // namespace seen
