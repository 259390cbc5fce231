#pragma once
// A replay's figures as Prometheus reads them from a node exporter's folder of text files.

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "tools/replay/manifest.h"
#include "tools/replay/rejects.h"

namespace seen {

/// `reached`: the last event's time; 0: none yet.
std::string ReplayMetricsText(const Manifest& manifest, const Rejects& rejects, TimeMs reached);
/// Replaces the file whole.
Status WriteReplayMetrics(const std::string& path, const Manifest& manifest, const Rejects& rejects,
                          TimeMs reached);

}  // namespace seen
