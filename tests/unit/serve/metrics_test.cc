#include "serve/metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "unit/serve/fake_query.h"

namespace seen {
namespace {

using namespace std::chrono_literals;

MetricsOptions Options() {
  return {.filters = {{FilterIndex{1}, "home"}, {FilterIndex{2}, "video"}},
          .snapshots = {{FilterIndex{1}, SnapshotPolicy({SnapshotFormat::kSplitBlockBloom, 0.01})}}};
}

/// The value of a sample. `sample`: name and labels as on the page, in the same order. NaN: no such sample.
double Value(const std::string& page, const std::string& sample) {
  const size_t at = ("\n" + page).find("\n" + sample + " ");
  if (at == std::string::npos) return std::nan("");
  return std::atof(page.c_str() + at + sample.size() + 1);
}

/// Reports each occurrence once.
void ReportAll(Metrics& metrics) {
  BatchReport batch;
  batch.records = 10;
  batch.bytes = 1500;
  batch.events = 12;
  batch.removed = 4;
  batch.erased = 5;
  batch.too_old = 2;
  batch.replayed = 12;
  batch.skipped[static_cast<size_t>(SkipReason::kCondition)] = 6;
  batch.skipped[static_cast<size_t>(SkipReason::kNoFilter)] = 7;
  batch.misrouted = 1;
  batch.timestamps_ahead = 2;
  batch.rejected[static_cast<size_t>(RejectReason::kNotJson)] = 3;
  batch.record_to_visible.Add(4, 10);
  batch.record_to_visible.Add(1'000'000, 1);
  batch.exposed_to_visible.Add(-60'000, 12);  // phones' clocks run ahead
  metrics.BatchApplied(batch);
  metrics.EventRejected({RejectReason::kNotJson, "", "not a JSON document"}, 0, 41);
  metrics.EventMisrouted(0, 1, 42);
  metrics.CheckpointWritten(0, {100, 7, 2048, 3, 1, 30ms});
  metrics.CheckpointFailed(0, {Code::kNoSpace, "the disk is full"});
  metrics.CheckpointFailed(0, {Code::kCorrupt, "broken"});
  metrics.FlowHeld(0, HoldReason::kLevel0Files);
  metrics.FlowResumed(0, HoldReason::kLevel0Files, 1500ms);
  metrics.SnapshotsSent(1, 5, 5000);
  LatencyCounts latency;
  latency.Add(900, 5);
  metrics.SnapshotsAcknowledged(1, latency, latency);
  metrics.SnapshotsFailed(2, 4);
  metrics.SnapshotsProbed(1, {640, 7});
  metrics.SnapshotsMerged(2, 6, 1);
  metrics.UserKeyCollision(0);
  metrics.PublishFailed(0, PublishStep::kRender, {Code::kUnavailable, "a disk that is slow"});
  metrics.RetiredTombstones(3, 1);
  metrics.RetiredTopicMissing("gone");
  RekeyReport rekeyed;
  rekeyed.sent = 21;
  rekeyed.rejected[static_cast<size_t>(RejectReason::kNotJson)] = 2;
  rekeyed.skipped[static_cast<size_t>(SkipReason::kCondition)] = 3;
  metrics.BatchRekeyed(rekeyed);
  metrics.RekeyingRewound(1, 5);
  metrics.RekeyingLost(2, {3, 10, {}});
  metrics.HttpAnswered("/v1/status", 200, 150us);
  metrics.HttpAnswered("/v1/status", 200, 150us);
  metrics.HttpAnswered("none", 404, 10us);
}

std::string FullPage() {
  Metrics metrics(Options());
  ReportAll(metrics);
  metrics.RangeLost(3, {10, 25, {}});
  return metrics.Page(BusyStatus());
}

TEST(Metrics, CountWhatIsReported) {
  const std::string page = FullPage();
  const std::vector<std::pair<std::string, double>> samples = {
      {"seen_records_total", 10},
      {"seen_input_bytes_total", 1500},
      {"seen_events_total", 12},
      {"seen_events_too_old_total", 2},
      {"seen_replayed_events_total", 12},
      {"seen_events_skipped_total{reason=\"condition\"}", 9},
      {"seen_events_skipped_total{reason=\"no_filter\"}", 7},
      {"seen_events_skipped_total{reason=\"kind\"}", 0},
      {"seen_removed_items_total", 4},
      {"seen_erased_users_total", 5},
      {"seen_events_misrouted_total", 1},
      {"seen_events_rejected_total{reason=\"not_json\"}", 5},
      {"seen_events_rejected_total{reason=\"too_large\"}", 0},
      {"seen_rekeyed_total", 21},
      {"seen_rekeying_rewinds_total", 1},
      {"seen_rekeying_lost_messages_total{partition=\"2\"}", 7},
      {"seen_user_key_collisions_total", 1},
      {"seen_timestamps_ahead_total{partition=\"0\"}", 2},
      {"seen_publisher_errors_total{step=\"render\"}", 1},
      {"seen_publisher_errors_total{step=\"scan_marks\"}", 0},
      {"seen_retired_tombstones_total{result=\"sent\"}", 3},
      {"seen_retired_tombstones_total{result=\"failed\"}", 1},
      {"seen_retired_tombstones_total{result=\"topic_missing\"}", 1},
      {"seen_lost_messages_total{partition=\"3\"}", 15},
      {"seen_lost_messages_total{partition=\"0\"}", 0},
      {"seen_event_to_visible_seconds_bucket{partition=\"0\",le=\"0.003\"}", 0},
      {"seen_event_to_visible_seconds_bucket{partition=\"0\",le=\"0.005\"}", 10},
      {"seen_event_to_visible_seconds_bucket{partition=\"0\",le=\"300\"}", 10},
      {"seen_event_to_visible_seconds_bucket{partition=\"0\",le=\"+Inf\"}", 11},
      {"seen_event_to_visible_seconds_count{partition=\"0\"}", 11},
      {"seen_event_to_visible_seconds_sum{partition=\"0\"}", 1000.04},
      {"seen_exposed_to_visible_seconds_count", 12},
      {"seen_exposed_to_visible_seconds_sum", 0},
      {"seen_checkpoints_total{result=\"ok\"}", 1},
      {"seen_checkpoints_total{result=\"no_space\"}", 1},
      {"seen_checkpoints_total{result=\"failed\"}", 1},
      {"seen_checkpoint_users_total", 7},
      {"seen_checkpoint_bytes_total", 2048},
      {"seen_checkpoint_duration_seconds_sum", 0.03},
      {"seen_flow_holds_total{reason=\"level0_files\"}", 1},
      {"seen_flow_held_seconds_total{reason=\"level0_files\"}", 1.5},
      {"seen_snapshots_total{filter=\"home\"}", 5},
      {"seen_snapshots_total{filter=\"video\"}", 0},
      {"seen_snapshot_bytes_total{filter=\"home\"}", 5000},
      {"seen_snapshots_failed_total{filter=\"video\"}", 4},
      {"seen_snapshot_probes_total{filter=\"home\"}", 640},
      {"seen_snapshot_false_positives_total{filter=\"home\"}", 7},
      {"seen_snapshot_false_positives_total{filter=\"video\"}", 0},
      {"seen_snapshot_false_positive_ratio_requested{filter=\"home\"}", 0.01},
      {"seen_snapshots_merged_total{filter=\"video\"}", 6},
      {"seen_snapshots_withheld_total{filter=\"video\"}", 1},
      {"seen_event_to_published_seconds_count{filter=\"home\"}", 5},
      {"seen_visible_to_published_seconds_sum{filter=\"home\"}", 4.5},
  };
  for (const auto& [sample, value] : samples) EXPECT_DOUBLE_EQ(Value(page, sample), value) << sample;
  // The library chooses the order of two labels.
  const double by_route = Value(page, R"(seen_http_requests_total{route="/v1/status",code="200"})");
  const double by_code = Value(page, R"(seen_http_requests_total{code="200",route="/v1/status"})");
  EXPECT_EQ(std::isnan(by_route) ? by_code : by_route, 2);
}

TEST(Metrics, ShowTheStatusAsGauges) {
  Metrics metrics(Options());
  std::string page = metrics.Page(BusyStatus());
  const std::vector<std::pair<std::string, double>> samples = {
      {"seen_build_info{version=\"0.1.0\"}", 1},
      {"seen_ready", 1},
      {"seen_brokers_reachable", 1},
      {"seen_input_partitions", 2},
      {"seen_partitions_refused{topic=\"exposures\"}", 1},
      {"seen_partitions_unowned{topic=\"exposures\"}", 2},
      {"seen_partitions_unowned{topic=\"raw\"}", 1},
      {"seen_partitions_unowned{topic=\"items-in-order\"}", 0},
      {"seen_lost_share{topic=\"exposures\",cause=\"too_old\"}", 0.25},
      {"seen_lost_share_excessive{topic=\"exposures\",cause=\"too_old\"}", 1},
      {"seen_lost_share_excessive{topic=\"raw\",cause=\"skipped\"}", 0},
      {"seen_open_transactions{topic=\"exposures\"}", 1},
      {"seen_open_transactions{topic=\"raw\"}", 0},
      {"seen_topic_missing{topic=\"filters\"}", 1},
      {"seen_topic_missing{topic=\"exposures\"}", 0},
      {"seen_topic_settings_wrong{topic=\"raw\"}", 1},
      {"seen_partition_owned{partition=\"0\"}", 0},
      {"seen_memory_budget_bytes{share=\"tails\"}", 3000},
      {"seen_memory_budget_bytes{share=\"fetch_queues\"}", 1500},
      {"seen_memory_used_bytes{share=\"tails\"}", 2000},
      {"seen_store_disk_bytes", 1e6},
      {"seen_store_disk_free_bytes", 250'000},
      {"seen_store_compaction_bytes_total{partition=\"0\"}", 8000},
      {"seen_partition_answers{partition=\"0\"}", 1},
      {"seen_partition_answers{partition=\"1\"}", 0},
      {"seen_partition_age_seconds{partition=\"0\"}", 1.5},
      {"seen_partition_ready{partition=\"0\"}", 1},
      {"seen_partition_ready{partition=\"1\"}", 0},
      {"seen_consumer_lag_messages{partition=\"0\"}", 17},
      {"seen_items_total{partition=\"0\"}", 101},
      {"seen_items_grouped_total{partition=\"0\"}", 103},
      {"seen_items_cut_texts_total{partition=\"0\"}", 114},
      {"seen_items_rejected_total{reason=\"not_json\"}", 3},
      {"seen_items_index_bytes{partition=\"0\"}", 113},
      {"seen_items_checkpoint_seconds_total{partition=\"0\"}", 1.5},
      {"seen_items_lag_messages{partition=\"0\"}", 5},
      {"seen_items_ordering_lag_messages", 17},
      {"seen_rekeying_lag_messages{partition=\"4\"}", 12},
      {"seen_partition_time_seconds{partition=\"0\"}", 1763700000.123},
      {"seen_retention_headroom_seconds{partition=\"0\"}", 3600.5},
      {"seen_lost_messages_unacknowledged{partition=\"0\"}", 10},
      {"seen_input_retention_seconds", 604'800},
      {"seen_longest_window_seconds", 2'592'000},
      {"seen_incomplete_filters{partition=\"0\"}", 1},
      {"seen_tail_bytes{partition=\"0\"}", 4096},
      {"seen_snapshot_marks_outstanding{partition=\"0\"}", 5},
      {"seen_checkpoint_last_time_seconds{partition=\"0\"}", 1763699999},
      {"seen_store_bytes{partition=\"0\"}", 1e6},
      {"seen_store_level0_files{partition=\"0\"}", 4},
      {"seen_store_compaction_pending_bytes{partition=\"0\"}", 5000},
      {"seen_store_block_cache_hits_total{partition=\"0\"}", 900},
      {"seen_users_at_daily_limit{partition=\"0\"}", 3},
      {"seen_state_stream_epoch{partition=\"4\"}", 7},
      {"seen_store_block_cache_misses_total{partition=\"0\"}", 100},
  };
  for (const auto& [sample, value] : samples) EXPECT_DOUBLE_EQ(Value(page, sample), value) << sample;
  EXPECT_TRUE(std::isnan(Value(page, "seen_retention_headroom_seconds{partition=\"1\"}")));
  EXPECT_TRUE(std::isnan(Value(page, "seen_rekeying_lag_messages{partition=\"5\"}"))) << "another daemon's";
  EXPECT_GT(Value(page, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(Value(page, "process_start_time_seconds"), 1.7e9);
  EXPECT_GT(Value(page, "process_open_fds"), 2);

  DaemonStatus owner = BusyStatus();
  owner.is_replica = false;
  EXPECT_EQ(Value(metrics.Page(owner), "seen_partition_owned{partition=\"0\"}"), 1);
  EXPECT_TRUE(std::isnan(Value(page, "seen_memory_used_bytes{share=\"fetch_queues\"}")))
      << "it isn't measured";

  DaemonStatus without = BusyStatus();
  without.disk.reset();
  without.partitions.clear();
  without.state_topic->streams[4].epoch = -1;
  page = metrics.Page(without);
  EXPECT_EQ(page.find("seen_store_bytes"), std::string::npos)
      << "a partition that is gone takes its gauges with it";
  EXPECT_EQ(page.find("seen_store_disk"), std::string::npos) << "it isn't known";
  EXPECT_EQ(page.find("seen_state_stream_epoch"), std::string::npos) << "its opening isn't acknowledged yet";
}

TEST(Metrics, PassOnWhatBatchesLose) {
  const SystemClock clock;
  LossWatch input({.topic = "exposures", .limits = {}}, clock);
  LossWatch source({.topic = "raw", .limits = {}}, clock);
  MetricsOptions options = Options();
  options.input_loss = &input;
  options.source_loss = &source;
  Metrics metrics(options);
  BatchReport batch;
  batch.live.counts.events = 7;
  metrics.BatchApplied(batch);
  RekeyReport rekeyed;
  rekeyed.live.counts.events = 3;
  metrics.BatchRekeyed(rekeyed);
  EXPECT_EQ(input.Look().events, 7u);
  EXPECT_EQ(source.Look().events, 3u);
}

TEST(Metrics, TellSinceWhenConsumptionIsHeld) {
  Metrics metrics(Options());
  DaemonStatus status = BusyStatus();
  std::string page = metrics.Page(status);
  for (const HoldReason reason : kHoldReasons) {
    const std::string label = "{reason=\"" + std::string(HoldReasonName(reason)) + "\"}";
    EXPECT_EQ(Value(page, "seen_held_since_seconds" + label), 0)
        << "an alert needs the series from the start";
    EXPECT_EQ(Value(page, "seen_flow_holds_total" + label), 0);
    EXPECT_EQ(Value(page, "seen_flow_held_seconds_total" + label), 0);
  }
  PartitionStatus longest = status.partitions.at(0);
  longest.held_by = HoldReason::kDiskFull;
  longest.held_since = TimeMs{1'700'000'000'000};
  PartitionStatus shorter = longest;
  shorter.held_since = TimeMs{1'700'000'009'000};
  PartitionStatus gone = longest;
  gone.assigned = false;
  gone.held_since = TimeMs{1'600'000'000'000};
  status.partitions = {shorter, longest, gone};
  page = metrics.Page(status);
  EXPECT_EQ(Value(page, "seen_held_since_seconds{reason=\"disk_full\"}"), 1'700'000'000);
  EXPECT_EQ(Value(page, "seen_held_since_seconds{reason=\"tail_full\"}"), 0);
  EXPECT_EQ(Value(page, "seen_held_since_seconds{reason=\"schema\"}"), 0);
  ASSERT_TRUE(status.rekeying && status.rekeying->partitions.at(0).assigned);
  status.rekeying->partitions[0].held_by = HoldReason::kSchema;
  status.rekeying->partitions[0].held_since = TimeMs{1'700'000'005'000};
  page = metrics.Page(status);
  EXPECT_EQ(Value(page, "seen_held_since_seconds{reason=\"schema\"}"), 1'700'000'005)
      << "re-keying waits as well";
}

TEST(Metrics, AreCountedFromManyThreads) {
  Metrics metrics(Options());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics] {
      for (int i = 0; i < 50; ++i) {
        ReportAll(metrics);
        if (i % 10 == 0) metrics.Page(BusyStatus());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const std::string page = metrics.Page(BusyStatus());
  EXPECT_EQ(Value(page, "seen_events_total"), 12 * 200);
  EXPECT_EQ(Value(page, "seen_event_to_visible_seconds_count{partition=\"0\"}"), 11 * 200);
  EXPECT_EQ(Value(page, "seen_flow_holds_total{reason=\"level0_files\"}"), 200);
}

std::set<std::string> Exported() {
  std::set<std::string> names;
  std::istringstream page(FullPage());
  for (std::string line; std::getline(page, line);) {
    std::istringstream words(line);
    std::string hash, keyword, name, type;
    words >> hash >> keyword >> name >> type;
    if (hash == "#" && keyword == "TYPE") names.insert(name + " " + type);
  }
  return names;
}

TEST(Metrics, AreAllDocumentedAndNoOthers) {
  std::set<std::string> documented;
  std::ifstream file(SEEN_SOURCE_DIR "/docs/METRICS.md");
  ASSERT_TRUE(file);
  for (std::string line; std::getline(file, line);) {  // | `name` | type | ...
    std::istringstream words(line);
    std::string bar, name, type;
    words >> bar >> name >> bar >> type;
    if (line.starts_with("| `") && name.size() > 2) {
      documented.insert(name.substr(1, name.size() - 2) + " " + type);
    }
  }
  EXPECT_EQ(Exported(), documented);
}

TEST(Metrics, KeepToTheNamingRules) {
  for (const std::string& metric : Exported()) {
    const bool counter = metric.ends_with(" counter");
    EXPECT_EQ(metric.find("_total ") != std::string::npos, counter) << metric;
    EXPECT_EQ(metric.find("_ms"), std::string::npos) << metric;
  }
}

TEST(Metrics, PassPromtoolsLint) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "promtool is not installed";
  const std::string path = testing::TempDir() + "/seen-metrics-" + std::to_string(getpid()) + ".txt";
  std::ofstream(path) << FullPage();
  FILE* promtool = popen(("promtool check metrics < " + path + " 2>&1").c_str(), "r");
  ASSERT_NE(promtool, nullptr);
  std::string output;
  std::array<char, 4096> bytes{};
  while (const size_t n = fread(bytes.data(), 1, bytes.size(), promtool)) output.append(bytes.data(), n);
  EXPECT_EQ(pclose(promtool), 0) << output;
  EXPECT_EQ(output, "");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace seen
