#pragma once
// The metrics that are made from the daemon's status at each scrape, and those of the process itself. Only
// for this room, because it brings in prometheus-cpp.

#include <prometheus/metric_family.h>

#include <vector>

#include "query/daemon_status.h"

namespace seen {

/// Any thread.
std::vector<prometheus::MetricFamily> StatusMetrics(const DaemonStatus& status);

/// Memory, CPU, file descriptors and start, under the names that every Prometheus client uses. Figures that
/// /proc doesn't have are left out. Any thread.
std::vector<prometheus::MetricFamily> ProcessMetrics();

}  // namespace seen
