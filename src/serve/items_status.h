#pragma once
// The stream of items in /v1/status and /metrics.

#include <prometheus/metric_family.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "serve/daemon_status.h"

namespace seen {

/// Adds "partitions_refused" and "partitions_unowned".
void AddUnread(const UnreadPartitions& unread, nlohmann::ordered_json& json);
nlohmann::ordered_json ItemsJson(const ItemsStatus& status);
/// What docs/METRICS.md says of items, but for their groups.
void AppendItemsMetrics(const ItemsStatus& status, std::vector<prometheus::MetricFamily>& families);

}  // namespace seen
