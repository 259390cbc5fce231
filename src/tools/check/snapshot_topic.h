#pragma once
// A published snapshot, and the bytes of one as a report for people and scripts.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/reach_brokers.h"

namespace seen {

/// The user's last record of a snapshot topic. kNotFound: no record, or a tombstone.
Result<std::string> ReadLastSnapshot(const WholeTopic& topic, std::string_view user_id);

/// The envelope's fields and sizes, and for each of `test_ids` whether the filter might contain it ("tests").
/// If the snapshot has a filter of similar items: that filter, too ("similar"), and for each id whether it
/// may be similar to a seen item ("near_tests").
/// kMalformed: as SnapshotView::Parse.
Result<nlohmann::ordered_json> DescribeSnapshot(std::string_view bytes,
                                                std::span<const std::string> test_ids);

/// The same as lines for people.
std::string SnapshotText(const nlohmann::ordered_json& description);

}  // namespace seen
