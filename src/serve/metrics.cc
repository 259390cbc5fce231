#include "serve/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <vector>

#include "base/log.h"
#include "base/log_budget.h"
#include "base/mutex.h"
#include "base/result.h"

namespace seen {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;
using prometheus::Labels;

// All in seconds.
Histogram::BucketBoundaries LatencyBounds() {
  Histogram::BucketBoundaries bounds;
  bounds.reserve(LatencyCounts::kBoundsMs.size());
  for (const int64_t ms : LatencyCounts::kBoundsMs) bounds.push_back(static_cast<double>(ms) / 1000.0);
  return bounds;
}

Histogram::BucketBoundaries CheckpointBounds() {
  return {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
}

Histogram::BucketBoundaries HttpBounds() {
  return {0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5};
}

/// Adds the counts of a batch. A clock that runs ahead makes latencies negative, but their sum must not be
/// negative.
void Observe(Histogram& histogram, const LatencyCounts& counts) {
  const std::vector<double> increments(counts.counts().begin(), counts.counts().end());
  if (std::all_of(increments.begin(), increments.end(), [](double n) { return n == 0; })) return;
  histogram.ObserveMultiple(increments, static_cast<double>(std::max<int64_t>(0, counts.sum_ms())) / 1000.0);
}

std::string Text(int32_t number) { return std::to_string(number); }

}  // namespace

struct Metrics::Counted {
  explicit Counted(const MetricsOptions& options);

  struct PerFilter {
    std::string name;
    Counter* snapshots;
    Counter* bytes;
    Counter* failed;
    Counter* merged;
    Counter* withheld;
    Counter* probes;
    Counter* false_positives;
    Histogram* visible_to_published;
    Histogram* event_to_published;
  };
  struct Http {
    Counter* requests;
    Histogram* duration;
  };

  Family<Counter>& Counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Counter& OneCounter(const char* name, const char* help) { return Counters(name, help).Add({}); }
  Family<Histogram>& Histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  /// A count of reports, and its counter.
  template <typename Report>
  struct Summed {
    uint64_t Report::*count;
    Counter* counter;
  };
  template <typename Report>
  Summed<Report> Sum(uint64_t Report::*count, const char* name, const char* help) {
    return {count, &OneCounter(name, help)};
  }
  template <typename Report>
  static void Add(const std::vector<Summed<Report>>& rows, const Report& report) {
    for (const auto& [count, counter] : rows) counter->Increment(static_cast<double>(report.*count));
  }
  const PerFilter& Of(FilterIndex filter) const {
    const auto found = filters.find(filter);
    Check(found != filters.end(), "a filter is named when the metrics are made");
    return found->second;
  }
  Histogram& RecordToVisible(int32_t partition) {
    const MutexLock lock(record_to_visible_mutex);
    Histogram*& histogram = record_to_visible[partition];
    if (histogram == nullptr) {
      histogram = &record_to_visible_family.Add({{"partition", Text(partition)}}, LatencyBounds());
    }
    return *histogram;
  }
  /// `Report`: of a batch of records, or of their re-keying.
  template <typename Report>
  void CountRejectedAndSkipped(const Report& report) {
    for (size_t i = 0; i < kRejectReasons; ++i) {
      if (report.rejected[i] > 0) rejected_for[i]->Increment(static_cast<double>(report.rejected[i]));
    }
    for (size_t i = 0; i < kSkipReasons; ++i) {
      if (report.skipped[i] > 0) skipped_for[i]->Increment(static_cast<double>(report.skipped[i]));
    }
  }
  PerFilter MakeFilter(const std::string& name);

  LossWatch* const input_loss;
  LossWatch* const source_loss;
  prometheus::Registry registry;

  // Of each batch of records.
  const std::vector<Summed<BatchReport>> of_batch = {
      Sum(&BatchReport::records, "seen_records_total", "Kafka records read from the input topic."),
      Sum(&BatchReport::bytes, "seen_input_bytes_total",
          "Bytes of the keys and values that the daemon read from the input topic."),
      Sum(&BatchReport::events, "seen_events_total",
          "Exposures taken in. A batch event counts each of its items."),
      Sum(&BatchReport::served, "seen_served_items_total",
          "Items that the recommender returned, from served events."),
      Sum(&BatchReport::declared, "seen_declared_items_total",
          "Items of kinds that filters[].kinds declares."),
      Sum(&BatchReport::looked_up, "seen_similar_lookups_total",
          "Exposed items for which the daemon looked up similar items."),
      Sum(&BatchReport::joined, "seen_similar_joined_total",
          "Exposed items with similar items. The daemon recorded the similar items beside them."),
      Sum(&BatchReport::removed, "seen_removed_items_total", "Items taken back, from removed events."),
      Sum(&BatchReport::erased, "seen_erased_users_total", "Erasures of users that the daemon took in."),
      Sum(&BatchReport::too_old, "seen_events_too_old_total",
          "Exposures that the daemon dropped, because they were older than every window when they were "
          "recorded."),
      Sum(&BatchReport::items_without_id, "seen_items_without_id_total",
          "Elements of items without a valid id that the daemon skipped (input.items_skip_invalid)."),
      Sum(&BatchReport::items_by_condition, "seen_items_skipped_total",
          "Elements of items that the daemon skipped, because input.items_only_if doesn't hold for them."),
      Sum(&BatchReport::replayed, "seen_replayed_events_total",
          "Events of histories that are replayed. The histograms of latency don't include them."),
      Sum(&BatchReport::misrouted, "seen_events_misrouted_total",
          "Events in another partition than their user's."),
  };
  Family<Counter>& rejected = Counters(
      "seen_events_rejected_total", "Records that could not be decoded and went to the dead-letter topic.");
  std::array<Counter*, kRejectReasons> rejected_for{};
  Family<Counter>& skipped = Counters(
      "seen_events_skipped_total",
      "Events that the daemon skipped, because the configuration excludes them or they only mark a replay.");
  std::array<Counter*, kSkipReasons> skipped_for{};
  Family<Counter>& timestamps_ahead = Counters(
      "seen_timestamps_ahead_total",
      "Records whose Kafka timestamp is ahead of this host's clock by more than input.future_skew_s_max.");
  LogBudget timestamps_budget;
  Family<Counter>& lost =
      Counters("seen_lost_messages_total",
               "Messages that retention deleted before the daemon read them, since the start.");
  Counter& rekeyed = OneCounter("seen_rekeyed_total", "Records handed on to the keyed topic.");
  Counter& rewound =
      OneCounter("seen_rekeying_rewinds_total",
                 "Times that the daemon read a partition of the source again after a failed delivery.");
  Family<Counter>& rekeying_lost = Counters(
      "seen_rekeying_lost_messages_total",
      "Messages of the source that retention deleted before the daemon re-keyed them, since the start.");
  Counter& user_key_collisions =
      OneCounter("seen_user_key_collisions_total", "Collisions: two user ids with the same 128-bit key.");
  Family<Histogram>& record_to_visible_family = Histograms(
      "seen_event_to_visible_seconds", "From an event's Kafka timestamp until look-ups see the event.");
  Mutex record_to_visible_mutex;
  std::map<int32_t, Histogram*> record_to_visible GUARDED_BY(record_to_visible_mutex);  // by partition
  Histogram& exposed_to_visible = Histograms("seen_exposed_to_visible_seconds",
                                             "From an event's exposed_at until look-ups see the event.")
                                      .Add({}, LatencyBounds());

  Family<Counter>& checkpoints = Counters("seen_checkpoints_total", "Checkpoints by result.");
  Counter& checkpoints_ok = checkpoints.Add({{"result", "ok"}});
  Counter& checkpoints_no_space = checkpoints.Add({{"result", "no_space"}});
  Counter& checkpoints_failed = checkpoints.Add({{"result", "failed"}});
  const std::vector<Summed<CheckpointReport>> of_checkpoint = {
      Sum(&CheckpointReport::users, "seen_checkpoint_users_total", "Users whose state checkpoints wrote."),
      Sum(&CheckpointReport::bytes, "seen_checkpoint_bytes_total", "Bytes that checkpoints wrote."),
      Sum(&CheckpointReport::journal_rows, "seen_journal_rows_total",
          "Events that checkpoints wrote to the journal."),
      Sum(&CheckpointReport::journal_bytes, "seen_journal_row_bytes_total",
          "Bytes of the events that checkpoints wrote to the journal, before compression."),
  };
  Counter& journal_days_dropped = OneCounter(
      "seen_journal_dates_dropped_total",
      "Days that the daemon dropped from partitions' journals, because they were too old or too large.");
  Histogram& checkpoint_duration =
      Histograms("seen_checkpoint_duration_seconds", "From freezing a tail until it is durable.")
          .Add({}, CheckpointBounds());

  Family<Counter>& holds = Counters("seen_flow_holds_total", "Times that consumption was held back.");
  Family<Counter>& held_seconds =
      Counters("seen_flow_held_seconds_total",
               "How long consumption was held back, counted when consumption goes on.");
  struct Hold {
    Counter* times;
    Counter* seconds;
  };
  std::array<Hold, kHoldReasons.size() + 1> holds_for{};  // by HoldReason; kNone has none

  Family<Counter>& snapshots =
      Counters("seen_snapshots_total", "Snapshots that the publisher handed to the producer.");
  Family<Counter>& snapshot_bytes = Counters(
      "seen_snapshot_bytes_total", "Bytes of the snapshots that the publisher handed to the producer.");
  Family<Counter>& snapshots_merged = Counters("seen_snapshots_merged_total",
                                               "Snapshots of an incomplete filter that the publisher "
                                               "rendered as the union with the last published one.");
  Family<Counter>& snapshots_withheld =
      Counters("seen_snapshots_withheld_total",
               "Snapshots of an incomplete filter that the publisher didn't send, because the last published "
               "one holds more items.");
  Family<Counter>& snapshots_failed = Counters(
      "seen_snapshots_failed_total", "Snapshots that were not delivered. The publisher sends them again.");
  Family<Counter>& probes =
      Counters("seen_snapshot_probes_total",
               "Random items that the daemon looks up in every 32nd published snapshot, 64 in each.");
  Family<Counter>& false_positives = Counters("seen_snapshot_false_positives_total",
                                              "Random items that a published snapshot takes for seen. Their "
                                              "share is the sampled rate of false positives.");
  Family<prometheus::Gauge>& requested_rates =
      prometheus::BuildGauge()
          .Name("seen_snapshot_false_positive_ratio_requested")
          .Help("The rate of false positives that filters[].snapshot.false_positive_rate asks for.")
          .Register(registry);
  std::vector<std::pair<SnapshotPolicy, prometheus::Gauge*>> requested;  // a reload may change the rate
  Family<Counter>& publish_errors =
      Counters("seen_publisher_errors_total", "Reads of the state that failed while publishing.");
  std::array<Counter*, kPublishSteps> publish_errors_of{};
  Counter& leases_lapsed =
      OneCounter("seen_publish_leases_lapsed_total",
                 "Times that the lease of an assigned partition ended. The publisher publishes nothing of "
                 "the partition until a commit of offsets succeeds.");
  Counter& foreign_snapshots = OneCounter(
      "seen_snapshots_foreign_total",
      "Records of the snapshot topics that another process wrote. The publisher republishes their users.");
  Counter& outputs_cut = OneCounter("seen_snapshot_partitions_cut_total",
                                    "Times that a partition of a snapshot topic was recreated or lost its "
                                    "end. The publisher republishes all its users.");
  Counter& too_large = OneCounter(
      "seen_snapshots_too_large_total",
      "Snapshots longer than their topic takes: the topic refused them, or the daemon didn't try.");
  Counter& dead_letters_dropped =
      OneCounter("seen_dead_letters_dropped_total",
                 "Dead letters that their topic refused even without key and value, or whose topic is gone.");
  Counter& no_space_at_opening =
      OneCounter("seen_openings_without_space_total",
                 "Times that the daemon couldn't open the store's directory, a partition's state or the copy "
                 "of groups, because the disk was full.");
  Family<Counter>& retired_tombstones =
      Counters("seen_retired_tombstones_total",
               "Tombstones of erased users for snapshot topics that no configured filter has any more.");
  Counter& retired_sent = retired_tombstones.Add({{"result", "sent"}});
  Counter& retired_failed = retired_tombstones.Add({{"result", "failed"}});
  Counter& retired_topic_missing = retired_tombstones.Add({{"result", "topic_missing"}});
  Mutex missing_mutex;
  std::set<std::string, std::less<>> missing_topics GUARDED_BY(missing_mutex);  // named in the log
  Family<Histogram>& visible_to_published =
      Histograms("seen_visible_to_published_seconds",
                 "From the time when an event is visible until Kafka acknowledges a snapshot with it.");
  Family<Histogram>& event_to_published =
      Histograms("seen_event_to_published_seconds",
                 "From an event's Kafka timestamp until Kafka acknowledges a snapshot with the event.");
  std::map<FilterIndex, PerFilter> filters;  // fixed after construction

  Family<Counter>& http_requests = Counters("seen_http_requests_total", "HTTP answers by route and status.");
  Family<Histogram>& http_duration =
      Histograms("seen_http_request_duration_seconds", "From a request's last byte to its finished answer.");
  Mutex http_mutex;
  std::map<std::pair<std::string_view, unsigned>, Http> http GUARDED_BY(http_mutex);  // keys view constants

  LogBudget rejected_budget;
  LogBudget misrouted_budget;
  LogBudget checkpoint_budget;
  LogBudget flow_budget;
  LogBudget snapshot_budget;
  LogBudget publish_budget;
  LogBudget lease_budget;
  LogBudget foreign_budget;
  LogBudget gap_budget;
  LogBudget collision_budget;
  LogBudget rekeying_budget;
};

Metrics::Counted::Counted(const MetricsOptions& options)
    : input_loss(options.input_loss), source_loss(options.source_loss) {
  // Counters of what can happen start at 0, because a rate needs two samples.
  for (size_t i = 0; i < kRejectReasons; ++i) {
    rejected_for[i] =
        &rejected.Add({{"reason", std::string(RejectReasonName(static_cast<RejectReason>(i)))}});
  }
  for (size_t i = 0; i < kSkipReasons; ++i) {
    if (static_cast<SkipReason>(i) == SkipReason::kNone) continue;
    skipped_for[i] = &skipped.Add({{"reason", std::string(SkipReasonName(static_cast<SkipReason>(i)))}});
  }
  for (const HoldReason reason : kHoldReasons) {
    const Labels labels = {{"reason", std::string(HoldReasonName(reason))}};
    holds_for[static_cast<size_t>(reason)] = {&holds.Add(labels), &held_seconds.Add(labels)};
  }
  for (size_t i = 0; i < kPublishSteps; ++i) {
    publish_errors_of[i] =
        &publish_errors.Add({{"step", std::string(PublishStepName(static_cast<PublishStep>(i)))}});
  }
  for (const auto& [id, name] : options.filters) filters.emplace(id, MakeFilter(name));
  for (const auto& [id, policy] : options.snapshots) {
    requested.emplace_back(policy, &requested_rates.Add({{"filter", Of(id).name}}));
  }
}

Metrics::Counted::PerFilter Metrics::Counted::MakeFilter(const std::string& name) {
  const Labels labels = {{"filter", name}};
  return {name,
          &snapshots.Add(labels),
          &snapshot_bytes.Add(labels),
          &snapshots_failed.Add(labels),
          &snapshots_merged.Add(labels),
          &snapshots_withheld.Add(labels),
          &probes.Add(labels),
          &false_positives.Add(labels),
          &visible_to_published.Add(labels, LatencyBounds()),
          &event_to_published.Add(labels, LatencyBounds())};
}

Metrics::Metrics(const MetricsOptions& options) : counted_(std::make_unique<Counted>(options)) {}
Metrics::~Metrics() = default;

std::string Metrics::Page(const DaemonStatus& status) {
  for (const auto& [policy, rate] : counted_->requested) rate->Set(policy.shape().false_positive_rate);
  for (const PartitionStatus& partition : status.partitions) {
    counted_->lost.Add({{"partition", Text(partition.partition)}});
    counted_->timestamps_ahead.Add({{"partition", Text(partition.partition)}});
    if (partition.next_offset >= 0) counted_->RecordToVisible(partition.partition);
  }
  if (status.rekeying) {
    for (const RekeyingPartitionStatus& partition : status.rekeying->partitions) {
      if (partition.assigned) counted_->rekeying_lost.Add({{"partition", Text(partition.partition)}});
    }
  }
  auto families = counted_->registry.Collect();
  for (auto&& more : {StatusMetrics(status), ProcessMetrics()}) {
    families.insert(families.end(), more.begin(), more.end());
  }
  std::ostringstream page;
  prometheus::TextSerializer().Serialize(page, families);
  return std::move(page).str();
}

void Metrics::HttpAnswered(std::string_view route, unsigned status, std::chrono::nanoseconds duration) {
  Counted::Http http{};
  {
    const MutexLock lock(counted_->http_mutex);
    auto found = counted_->http.find({route, status});
    if (found == counted_->http.end()) {
      const Labels labels = {{"route", std::string(route)}, {"code", std::to_string(status)}};
      Counted::Http made{&counted_->http_requests.Add(labels),
                         &counted_->http_duration.Add(labels, HttpBounds())};
      found = counted_->http.emplace(std::pair(route, status), made).first;
    }
    http = found->second;
  }
  http.requests->Increment();
  http.duration->Observe(std::chrono::duration<double>(duration).count());
}

void Metrics::BatchApplied(const BatchReport& report) {
  Counted& c = *counted_;
  c.Add(c.of_batch, report);
  if (report.timestamps_ahead > 0) {
    c.timestamps_ahead.Add({{"partition", Text(report.partition)}})
        .Increment(static_cast<double>(report.timestamps_ahead));
    if (c.timestamps_budget.Allow()) {
      log::Warning("record timestamps ahead of the clock; they don't move partition time",
                   {{"partition", report.partition},
                    {"records", report.timestamps_ahead},
                    {"timestamp_ms", report.timestamp_ahead_max.value},
                    {"remedy",
                     "set the clocks of this host and of the producers, or use "
                     "message.timestamp.type=LogAppendTime on input.topic"},
                    {"lines_held_back", c.timestamps_budget.TakeHeldBack()}});
    }
  }
  c.CountRejectedAndSkipped(report);
  if (c.input_loss != nullptr) c.input_loss->Add(report.live);
  Observe(c.RecordToVisible(report.partition), report.record_to_visible);
  Observe(c.exposed_to_visible, report.exposed_to_visible);
}

void Metrics::EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) {
  if (!counted_->rejected_budget.Allow()) return;
  log::Warning("event rejected", {{"reason", RejectReasonName(rejection.reason)},
                                  {"detail", rejection.message},
                                  {"partition", partition},
                                  {"offset", offset},
                                  {"lines_held_back", counted_->rejected_budget.TakeHeldBack()}});
}

void Metrics::EventMisrouted(int32_t partition, int32_t expected_partition, int64_t offset) {
  if (!counted_->misrouted_budget.Allow()) return;
  log::Warning("event in another partition than its user's",
               {{"partition", partition},
                {"expected_partition", expected_partition},
                {"offset", offset},
                {"remedy", "key events by user id; set input.partitioner to what their producer uses"},
                {"lines_held_back", counted_->misrouted_budget.TakeHeldBack()}});
}

void Metrics::PartitionTimeCorrected(int32_t partition, TimeMs stored, TimeMs now) {
  log::Warning("partition time was ahead of the clock; it is corrected",
               {{"partition", partition},
                {"stored_ms", stored.value},
                {"corrected_ms", now.value},
                {"remedy", "check this host's clock; a record from years ahead had moved partition time"}});
}

void Metrics::RangeLost(int32_t partition, const LostRange& range) {
  const int64_t messages = std::max<int64_t>(0, range.to - range.from);
  counted_->lost.Add({{"partition", Text(partition)}}).Increment(static_cast<double>(messages));
  log::Error(
      "retention deleted messages before the daemon read them",
      {{"partition", partition},
       {"from_offset", range.from},
       {"to_offset", range.to},
       {"remedy", "lengthen the input topic's retention; acknowledge by POST /v1/lost-ranges/acknowledge"}});
}

void Metrics::CheckpointWritten(int32_t partition, const CheckpointReport& report) {
  Counted& c = *counted_;
  c.checkpoints_ok.Increment();
  c.Add(c.of_checkpoint, report);
  c.journal_days_dropped.Increment(report.journal_days_dropped);
  c.checkpoint_duration.Observe(std::chrono::duration<double>(report.duration).count());
  log::Debug("checkpoint written", {{"partition", partition},
                                    {"next_offset", report.next_offset},
                                    {"users", report.users},
                                    {"bytes", report.bytes},
                                    {"marks_set", report.marks_set},
                                    {"marks_cleared", report.marks_cleared},
                                    {"duration_ms", report.duration.count()}});
}

void Metrics::CheckpointFailed(int32_t partition, const Error& error) {
  Counted& c = *counted_;
  (error.code == Code::kNoSpace ? c.checkpoints_no_space : c.checkpoints_failed).Increment();
  if (!c.checkpoint_budget.Allow()) return;
  log::Error("checkpoint failed", {{"partition", partition},
                                   {"code", CodeName(error.code)},
                                   {"error", error.message},
                                   {"lines_held_back", c.checkpoint_budget.TakeHeldBack()}});
}

void Metrics::FlowHeld(int32_t partition, HoldReason reason) {
  Counted& c = *counted_;
  c.holds_for.at(static_cast<size_t>(reason)).times->Increment();
  if (!c.flow_budget.Allow()) return;
  log::Warning("consumption held back", {{"partition", partition},
                                         {"reason", HoldReasonName(reason)},
                                         {"lines_held_back", c.flow_budget.TakeHeldBack()}});
}

void Metrics::FlowResumed(int32_t partition, HoldReason reason, std::chrono::milliseconds held) {
  Counted& c = *counted_;
  c.holds_for.at(static_cast<size_t>(reason))
      .seconds->Increment(
          std::chrono::duration<double>(std::max(held, std::chrono::milliseconds(0))).count());
  if (!c.flow_budget.Allow()) return;
  log::Info("consumption continues", {{"partition", partition},
                                      {"reason", HoldReasonName(reason)},
                                      {"held_ms", held.count()},
                                      {"lines_held_back", c.flow_budget.TakeHeldBack()}});
}

void Metrics::SnapshotsSent(FilterIndex filter, uint64_t snapshots, uint64_t bytes) {
  const Counted::PerFilter& of = counted_->Of(filter);
  of.snapshots->Increment(static_cast<double>(snapshots));
  of.bytes->Increment(static_cast<double>(bytes));
}

void Metrics::SnapshotsAcknowledged(FilterIndex filter, const LatencyCounts& visible_to_published,
                                    const LatencyCounts& record_to_published) {
  const Counted::PerFilter& of = counted_->Of(filter);
  Observe(*of.visible_to_published, visible_to_published);
  Observe(*of.event_to_published, record_to_published);
}

void Metrics::SnapshotsFailed(FilterIndex filter, uint64_t snapshots) {
  const Counted::PerFilter& of = counted_->Of(filter);
  of.failed->Increment(static_cast<double>(snapshots));
  if (!counted_->snapshot_budget.Allow()) return;
  log::Warning("snapshots not delivered; the publisher sends them again",
               {{"filter", of.name},
                {"snapshots", snapshots},
                {"lines_held_back", counted_->snapshot_budget.TakeHeldBack()}});
}

void Metrics::SnapshotsProbed(FilterIndex filter, const ProbeCounts& counts) {
  const Counted::PerFilter& of = counted_->Of(filter);
  of.probes->Increment(static_cast<double>(counts.probes));
  of.false_positives->Increment(static_cast<double>(counts.false_positives));
}

void Metrics::SnapshotsMerged(FilterIndex filter, uint64_t merged, uint64_t withheld) {
  const Counted::PerFilter& of = counted_->Of(filter);
  of.merged->Increment(static_cast<double>(merged));
  of.withheld->Increment(static_cast<double>(withheld));
}

void Metrics::RetiredTombstones(uint64_t sent, uint64_t failed) {
  counted_->retired_sent.Increment(static_cast<double>(sent));
  counted_->retired_failed.Increment(static_cast<double>(failed));
}

void Metrics::RetiredTopicMissing(std::string_view topic) {
  counted_->retired_topic_missing.Increment();
  {
    const MutexLock lock(counted_->missing_mutex);
    if (!counted_->missing_topics.emplace(topic).second) return;
  }
  log::Warning(
      "a snapshot topic that no filter has any more doesn't exist: erased users get no tombstone there",
      {{"topic", topic},
       {"remedy",
        "none if the topic was deleted for good; if it is to come back, create it again and erase "
        "these users again"}});
}

void Metrics::PublishFailed(int32_t partition, PublishStep step, const Error& error) {
  Counted& c = *counted_;
  c.publish_errors_of[static_cast<size_t>(step)]->Increment();
  if (error.code == Code::kCorrupt) {
    log::Error("partition stopped: its state can't be read",
               {{"partition", partition},
                {"step", PublishStepName(step)},
                {"error", error.message},
                {"remedy", "check the disk, then start once with --rebuild"}});
    return;
  }
  if (!c.publish_budget.Allow()) return;
  log::Warning("the publisher can't read the state; it retries",
               {{"partition", partition},
                {"step", PublishStepName(step)},
                {"code", CodeName(error.code)},
                {"error", error.message},
                {"remedy", "check the disk under store.directory and the limit of open files"},
                {"lines_held_back", c.publish_budget.TakeHeldBack()}});
}

void Metrics::LeaseLapsed(int32_t partition) {
  counted_->leases_lapsed.Increment();
  if (!counted_->lease_budget.Allow()) return;
  log::Warning("the lease has ended: the daemon publishes nothing until a commit of offsets succeeds",
               {{"partition", partition},
                {"remedy", "check the brokers; a machine that stood still recovers by itself"},
                {"lines_held_back", counted_->lease_budget.TakeHeldBack()}});
}

void Metrics::ForeignSnapshots(int32_t partition, std::string_view filter, uint64_t snapshots) {
  counted_->foreign_snapshots.Increment(static_cast<double>(snapshots));
  if (!counted_->foreign_budget.Allow()) return;
  log::Warning(
      "another process wrote into the snapshot topic: the publisher republishes these users",
      {{"partition", partition},
       {"filter", filter},
       {"snapshots", snapshots},
       {"remedy",
        "if this happens once after a machine stood still, do nothing; otherwise look for another writer"},
       {"lines_held_back", counted_->foreign_budget.TakeHeldBack()}});
}

void Metrics::ForeignUpdates(int32_t partition, uint64_t records) {
  if (!counted_->foreign_budget.Allow()) return;
  log::Warning("another process wrote into the topic of updates",
               {{"partition", partition},
                {"records", records},
                {"remedy",
                 "if this happens once after a machine stood still, do nothing; otherwise look for "
                 "another group with the same updates.topic, and give each group a topic of its own"},
                {"lines_held_back", counted_->foreign_budget.TakeHeldBack()}});
}

void Metrics::UpdatesDropped(int32_t partition, uint64_t gaps, std::string_view cause) {
  if (!counted_->gap_budget.Allow()) return;
  log::Warning("additions were dropped: readers of updates are stale until snapshots hold them",
               {{"partition", partition},
                {"gaps", gaps},
                {"reason", cause},
                {"lines_held_back", counted_->gap_budget.TakeHeldBack()}});
}

void Metrics::OutputCut(int32_t partition, std::string_view filter) {
  counted_->outputs_cut.Increment();
  log::Error(
      "the snapshot topic's partition ends before what was published: it was recreated or cut, or it is "
      "another topic; the publisher republishes its users",
      {{"partition", partition}, {"filter", filter}});
}

void Metrics::SnapshotTooLarge(std::string_view /*topic*/) { counted_->too_large.Increment(); }

void Metrics::DeadLetterDropped() { counted_->dead_letters_dropped.Increment(); }
void Metrics::NoSpaceAtOpening() { counted_->no_space_at_opening.Increment(); }

void Metrics::UserKeyCollision(int32_t partition) {
  counted_->user_key_collisions.Increment();
  if (!counted_->collision_budget.Allow()) return;
  log::Error("two user ids share a key: the later user's items go into the earlier user's filter",
             {{"partition", partition}, {"lines_held_back", counted_->collision_budget.TakeHeldBack()}});
}

void Metrics::BatchRekeyed(const RekeyReport& report) {
  Counted& c = *counted_;
  c.rekeyed.Increment(static_cast<double>(report.sent));
  c.CountRejectedAndSkipped(report);
  if (c.source_loss != nullptr) c.source_loss->Add(report.live);
}

void Metrics::RekeyingRewound(int32_t partition, int64_t offset) {
  counted_->rewound.Increment();
  if (!counted_->rekeying_budget.Allow()) return;
  log::Warning("re-keying goes back to the first record that was not delivered",
               {{"source_partition", partition},
                {"offset", offset},
                {"lines_held_back", counted_->rekeying_budget.TakeHeldBack()}});
}

void Metrics::RekeyingLost(int32_t partition, const LostRange& range) {
  const int64_t messages = std::max<int64_t>(0, range.to - range.from);
  counted_->rekeying_lost.Add({{"partition", Text(partition)}}).Increment(static_cast<double>(messages));
  log::Error("retention deleted messages before the daemon re-keyed them",
             {{"source_partition", partition},
              {"from_offset", range.from},
              {"to_offset", range.to},
              {"remedy", "lengthen the retention of input.topic"}});
}

}  // namespace seen
