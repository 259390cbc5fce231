#pragma once
// The stream of items in /v1/status and /metrics.

#include <prometheus/metric_family.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "query/daemon_status.h"

namespace seen {

/// Adds "partitions_refused" and "partitions_unowned".
void AddUnread(const UnreadPartitions& unread, nlohmann::ordered_json& json);
nlohmann::ordered_json ItemsJson(const ItemsStatus& status);
/// The metrics of items in docs/METRICS.md, without those of the copy of the topic of groups.
void AppendItemsMetrics(const ItemsStatus& status, std::vector<prometheus::MetricFamily>& families);

}  // namespace seen
