#pragma once
// A replay's figures for Prometheus, in a file for the text-file folder of a node exporter.

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "tools/replay/manifest.h"
#include "tools/replay/rejects.h"

namespace seen {

/// `reached`: the time of the last event; 0: none yet.
std::string ReplayMetricsText(const Manifest& manifest, const Rejects& rejects, TimeMs reached);
/// Replaces the whole file.
Status WriteReplayMetrics(const std::string& path, const Manifest& manifest, const Rejects& rejects,
                          TimeMs reached);

}  // namespace seen
