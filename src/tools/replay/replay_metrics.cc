#include "tools/replay/replay_metrics.h"

#include <fmt/format.h>

#include "base/durable_file.h"

namespace seen {

std::string ReplayMetricsText(const Manifest& manifest, const Rejects& rejects, TimeMs reached) {
  std::string text;
  const auto head = [&](std::string_view name, std::string_view type, std::string_view help) {
    text += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  };
  const LineCounts counts = manifest.Counts();
  head("seen_replay_lines_total", "counter",
       "Lines or records that are done, over all runs of the manifest.");
  for (const auto& [outcome, count] :
       {std::pair{"sent", counts.sent}, {"rejected", counts.rejected}, {"skipped", counts.skipped}}) {
    text += fmt::format("seen_replay_lines_total{{topic=\"{}\",outcome=\"{}\"}} {}\n", manifest.target,
                        outcome, count);
  }
  head("seen_replay_rejects_total", "counter", "Lines of this run that couldn't be sent, by reason.");
  for (const auto& [reason, of] : rejects.reasons()) {
    text += fmt::format("seen_replay_rejects_total{{topic=\"{}\",reason=\"{}\"}} {}\n", manifest.target,
                        reason, of.count);
  }
  head("seen_replay_reached_timestamp_seconds", "gauge", "The time of the last event that was sent.");
  text += fmt::format("seen_replay_reached_timestamp_seconds{{topic=\"{}\"}} {:.3f}\n", manifest.target,
                      static_cast<double>(reached.value) / 1000);
  head("seen_replay_finished", "gauge", "1 once the run has finished all its input.");
  text +=
      fmt::format("seen_replay_finished{{topic=\"{}\"}} {}\n", manifest.target, manifest.finished ? 1 : 0);
  return text;
}

Status WriteReplayMetrics(const std::string& path, const Manifest& manifest, const Rejects& rejects,
                          TimeMs reached) {
  const Status written = WriteDurably(path, ReplayMetricsText(manifest, rejects, reached));
  if (!written)
    return Fail(written.error().code, fmt::format("--metrics: {}: {}", path, written.error().message));
  return {};
}

}  // namespace seen
