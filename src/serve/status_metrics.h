#pragma once
// The gauges of /metrics that are made from the daemon's status at each scrape, and those of the process
// itself. Of this room only: it brings in prometheus-cpp.

#include <prometheus/metric_family.h>

#include <vector>

#include "serve/daemon_status.h"

namespace seen {

/// Any thread.
std::vector<prometheus::MetricFamily> StatusMetrics(const DaemonStatus& status);

/// Memory, CPU, file descriptors and start under the names every Prometheus client uses. What /proc doesn't
/// tell is left out. Any thread.
std::vector<prometheus::MetricFamily> ProcessMetrics();

}  // namespace seen
