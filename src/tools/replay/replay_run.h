#pragma once
// One run of replay: sends a source's entries to the topic, and records the finished ones in the manifest.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "kafka/bulk_producer.h"
#include "tools/load/rate_limiter.h"
#include "tools/progress.h"
#include "tools/replay/history_source.h"
#include "tools/replay/lag_pacer.h"
#include "tools/replay/manifest.h"
#include "tools/replay/rejects.h"
#include "tools/replay/target_topic.h"

namespace seen {

struct ReplaySettings {
  bool stamps_exposure = true;  // records carry the time of their exposure, otherwise of sending
  HistoryTimes times{};         // limits of exposed_at; events outside are skipped
  double rate = 0;              // events a second; 0: no limit
  std::optional<std::chrono::milliseconds> lag_max{};  // limit of the daemons' lag, by their watermarks
  std::string watermarks_topic{};
  bool live_first = true;       // live events don't wait behind it: SendWindow, small requests, low priority
  bool publishes_live = false;  // daemons publish users as events come; otherwise once, when the run ends
  bool resends = false;         // dead letters: one that is rejected again can be recognised
  std::string manifest_path{};  // empty: no progress is stored
  std::string metrics_path{};   // empty: no metrics are written
  bool quiet = false;
};

/// One thread.
class ReplayRun {
 public:
  /// Looks at the target, and prints its problems. `to` and `rejects` must outlive this object. kRefused: a
  /// problem prevents the replay.
  static Result<std::unique_ptr<ReplayRun>> Make(const ReplayTarget& to, ReplaySettings settings,
                                                 Manifest manifest, std::unique_ptr<HistorySource> source,
                                                 Rejects& rejects);
  ~ReplayRun();

  /// Runs until the source ends, an interrupt, or an error. kMalformed: too many lines are rejected. In every
  /// case the manifest then has what was acknowledged.
  Status Run();

  const Manifest& manifest() const { return manifest_; }
  const HistorySource& source() const { return *source_; }
  const BuildCounts& counts() const { return judge_->counts(); }  // of this run
  const LineCounts& before() const { return before_; }            // of earlier runs

 private:
  ReplayRun(const ReplayTarget& to, TargetTopic topic, ReplaySettings settings, Manifest manifest,
            std::unique_ptr<HistorySource> source, Rejects& rejects);
  Status Open();
  Status SendAll();
  Status SendMarks(std::string_view mark);
  Status Send(const HistoryEntry& entry);
  Status CheckRejects();
  Status Save();
  std::string ProgressNote() const;
  Status WaitForWindow();
  void NoteAcknowledged(uint64_t ticket);

  const ReplayTarget& to_;
  const TargetTopic topic_;
  const ReplaySettings settings_;
  Manifest manifest_;
  std::unique_ptr<HistorySource> source_;  // outlives the producer, which reports acknowledgements to it
  Rejects& rejects_;
  std::optional<EntryJudge> judge_;
  RateLimiter limiter_;
  std::unique_ptr<LagPacer> pacer_;   // knows the daemons' lag; without lag_max only for display
  std::optional<SendWindow> window_;  // nullopt: limited only by the producer's queue
  // A record whose acknowledgement is timed. One at a time.
  struct Probe {
    uint64_t ticket;
    uint64_t in_flight;  // other records in flight when it was sent
    Instant sent;
  };
  std::optional<Probe> probe_;
  bool began_ = false;  // every partition has the begin mark
  Progress progress_;
  std::unique_ptr<BulkProducer> producer_;
  TimeMs reached_;      // time of the last event
  uint64_t lines_ = 0;  // of this run
  uint64_t lines_before_ = 0;
  const LineCounts before_;  // of earlier runs
  const uint64_t by_rules_before_;
  uint64_t next_check_ = 0;
  Instant started_;
};

/// A replay's figures for Prometheus, in a file for the text-file folder of a node exporter.

/// `reached`: the time of the last event; 0: none yet.
std::string ReplayMetricsText(const Manifest& manifest, const Rejects& rejects, TimeMs reached);
/// Replaces the whole file.
Status WriteReplayMetrics(const std::string& path, const Manifest& manifest, const Rejects& rejects,
                          TimeMs reached);

}  // namespace seen
