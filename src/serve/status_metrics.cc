#include "serve/status_metrics.h"

#include <algorithm>
#include <functional>
#include <string>

#include "serve/items_status.h"

namespace seen {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric Sample(MetricType type, double value) {
  ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

MetricFamily Whole(std::string name, std::string help, double value) {
  return {std::move(name), std::move(help), MetricType::Gauge, {Sample(MetricType::Gauge, value)}};
}

MetricFamily Total(std::string name, std::string help, double value) {
  return {std::move(name), std::move(help), MetricType::Counter, {Sample(MetricType::Counter, value)}};
}

/// One sample a partition; none if `value` returns nullopt.
MetricFamily PerPartition(const DaemonStatus& status, std::string name, std::string help, MetricType type,
                          const std::function<std::optional<double>(const PartitionStatus&)>& value) {
  MetricFamily family{std::move(name), std::move(help), type, {}};
  for (const PartitionStatus& partition : status.partitions) {
    if (partition.next_offset < 0) continue;  // the partition isn't open, so it has no figures
    const std::optional<double> sample = value(partition);
    if (!sample) continue;
    ClientMetric metric = Sample(type, *sample);
    metric.label.push_back({"partition", std::to_string(partition.partition)});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

std::optional<double> Seconds(const std::optional<TimeMs>& time) {
  if (!time) return std::nullopt;
  return static_cast<double>(time->value) / 1000.0;
}

double LostMessages(const PartitionStatus& partition) {
  int64_t messages = 0;
  for (const LostRange& range : partition.lost_ranges) messages += range.to - range.from;
  return static_cast<double>(messages);
}

auto IncompleteFilters(const PartitionStatus& partition) {
  return std::count_if(partition.filters.begin(), partition.filters.end(),
                       [](const FilterStatus& filter) { return filter.complete_since.has_value(); });
}

/// For each reason, the partition that has been held the longest.
MetricFamily HeldSince(const DaemonStatus& status) {
  MetricFamily family{"seen_held_since_seconds",
                      "When the daemon began to hold back consumption, since the epoch, for the partition "
                      "that waits the longest. 0: no partition waits.",
                      MetricType::Gauge,
                      {}};
  for (const HoldReason reason : kHoldReasons) {
    double since = 0;
    for (const PartitionStatus& partition : status.partitions) {
      if (partition.held_by != reason || !partition.assigned) continue;
      const double its = static_cast<double>(partition.held_since.value) / 1000.0;
      since = since == 0 ? its : std::min(since, its);
    }
    ClientMetric metric = Sample(MetricType::Gauge, since);
    metric.label.push_back({"reason", std::string(HoldReasonName(reason))});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily RekeyingLag(const DaemonStatus& status) {
  MetricFamily family{"seen_rekeying_lag_messages",
                      "Messages of the source's partition that the keyed topic has not acknowledged yet.",
                      MetricType::Gauge,
                      {}};
  if (!status.rekeying) return family;
  for (const RekeyingPartitionStatus& partition : status.rekeying->partitions) {
    if (!partition.assigned) continue;  // another daemon's
    ClientMetric metric = Sample(MetricType::Gauge, static_cast<double>(partition.lag_messages));
    metric.label.push_back({"partition", std::to_string(partition.partition)});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

/// One sample a topic that this daemon's groups read.
MetricFamily Unread(const DaemonStatus& status, std::string name, std::string help,
                    size_t (*count)(const UnreadPartitions&)) {
  MetricFamily family{std::move(name), std::move(help), MetricType::Gauge, {}};
  const auto add = [&](const std::string& topic, const UnreadPartitions& unread) {
    if (topic.empty()) return;  // not known yet
    ClientMetric metric = Sample(MetricType::Gauge, static_cast<double>(count(unread)));
    metric.label.push_back({"topic", topic});
    family.metric.push_back(std::move(metric));
  };
  const auto add_rekeying = [&](const std::optional<RekeyingStatus>& rekeying) {
    if (rekeying) add(rekeying->source_topic, rekeying->unread);
  };
  add(status.topic, status.unread);
  add_rekeying(status.rekeying);
  if (status.items) {
    add(status.items->ordered_topic, status.items->unread);
    add_rekeying(status.items->rekeying);
  }
  return family;
}

/// One sample a partition that is streamed; none if `value` returns nullopt.
MetricFamily OfStreams(const DaemonStatus& status, std::string name, std::string help, MetricType type,
                       const std::function<std::optional<double>(const StateStreamFigures&)>& value) {
  MetricFamily family{std::move(name), std::move(help), type, {}};
  if (!status.state_topic) return family;
  for (const auto& [partition, figures] : status.state_topic->streams) {
    const std::optional<double> sample = value(figures);
    if (!sample) continue;
    ClientMetric metric = Sample(type, *sample);
    metric.label.push_back({"partition", std::to_string(partition)});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily RestoredShare(const DaemonStatus& status) {
  MetricFamily family{"seen_state_restore_share",
                      "How much of the partition's state has come from the state topic, 0 to 1. Present only "
                      "during the restore.",
                      MetricType::Gauge,
                      {}};
  if (!status.state_topic) return family;
  for (const auto& [partition, figures] : status.state_topic->restores) {
    ClientMetric metric = Sample(MetricType::Gauge, figures.share);
    metric.label.push_back({"partition", std::to_string(partition)});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily BuildInfo(const DaemonStatus& status) {
  MetricFamily family = Whole("seen_build_info", "Always 1. The label says which version runs.", 1);
  family.metric[0].label.push_back({"version", status.version});
  return family;
}

MetricFamily Forwarded(const DaemonStatus& status) {
  MetricFamily family{"seen_forwarded_requests_total",
                      "Requests passed on to other daemons, by result.",
                      MetricType::Counter,
                      {}};
  if (!status.forwarded) return family;
  const std::pair<const char*, uint64_t> results[] = {{"answered", status.forwarded->answered},
                                                      {"failed", status.forwarded->failed},
                                                      {"refused", status.forwarded->refused}};
  for (const auto& [result, count] : results) {
    ClientMetric metric = Sample(MetricType::Counter, static_cast<double>(count));
    metric.label.push_back({"result", result});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily OfShares(const DaemonStatus& status, std::string name, std::string help,
                      const std::function<std::optional<double>(const MemoryShare&)>& value) {
  MetricFamily family{std::move(name), std::move(help), MetricType::Gauge, {}};
  for (const MemoryShare& share : status.memory) {
    const std::optional<double> sample = value(share);
    if (!sample) continue;
    ClientMetric metric = Sample(MetricType::Gauge, *sample);
    metric.label.push_back({"share", share.name});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

}  // namespace

MetricFamily CertificateNotAfter(const DaemonStatus& status) {
  MetricFamily family{"seen_certificate_not_after_seconds",
                      "When the certificate of access.certificate expires, as a Unix time.",
                      MetricType::Gauge,
                      {}};
  const TimeMs not_after = status.access.certificate_not_after;
  if (not_after.value > 0)
    family.metric.push_back(Sample(MetricType::Gauge, static_cast<double>(not_after.value) / 1000));
  return family;
}

MetricFamily AccessReloadsFailed(const DaemonStatus& status) {
  return {"seen_access_reloads_failed_total",
          "Times that a file of access changed and couldn't be read. The daemon keeps the old one.",
          MetricType::Counter,
          {Sample(MetricType::Counter, static_cast<double>(status.access.reloads_failed))}};
}

std::vector<MetricFamily> StatusMetrics(const DaemonStatus& status) {
  using P = const PartitionStatus&;
  using S = const StateStreamFigures&;
  using Value = std::optional<double>;
  const auto gauge = [&](std::string name, std::string help, const std::function<Value(P)>& value) {
    return PerPartition(status, std::move(name), std::move(help), MetricType::Gauge, value);
  };
  const auto counter = [&](std::string name, std::string help, const std::function<Value(P)>& value) {
    return PerPartition(status, std::move(name), std::move(help), MetricType::Counter, value);
  };
  const auto number = [](auto value) { return Value(static_cast<double>(value)); };

  std::vector<MetricFamily> families = {
      BuildInfo(status),
      Whole("seen_ready", "1 while /readyz answers 200.", status.ready ? 1 : 0),
      Whole("seen_replica", "1 while another group owns the outputs, and this group only answers.",
            status.is_replica ? 1 : 0),
      Whole("seen_brokers_reachable", "1 while the daemon can reach a Kafka broker.",
            status.brokers_reachable ? 1 : 0),
      Total(
          "seen_log_checks_total",
          "Times that the daemon read the last record of an input partition again and found the same record.",
          static_cast<double>(status.log_checks)),
      Whole("seen_longest_window_seconds", "The longest window of a filter.",
            static_cast<double>(status.window_days_max) * 86'400),
      Whole("seen_input_partitions", "Partitions of the input topic. 0 until the number is known.",
            status.partitions_total),
      Unread(status, "seen_partitions_refused",
             "Partitions that the group assigned to this daemon, and that it doesn't read.",
             [](const UnreadPartitions& unread) { return unread.refused.size(); }),
      Unread(status, "seen_partitions_unowned", "Partitions that no member of the group owns.",
             [](const UnreadPartitions& unread) { return unread.unowned.size(); }),
      HeldSince(status),
      Forwarded(status),
      CertificateNotAfter(status),
      AccessReloadsFailed(status),
      RestoredShare(status),
      OfStreams(status, "seen_state_stream_runs_total", "Runs that the state topic has completely.",
                MetricType::Counter, [](S s) { return static_cast<double>(s.runs); }),
      OfStreams(status, "seen_state_stream_bases_total", "Bases that the state topic has completely.",
                MetricType::Counter, [](S s) { return static_cast<double>(s.bases); }),
      OfStreams(status, "seen_state_stream_bytes_total",
                "Bytes of the runs and bases that the state topic has completely.", MetricType::Counter,
                [](S s) { return static_cast<double>(s.bytes); }),
      OfStreams(status, "seen_state_stream_dropped_total",
                "Times that the daemon dropped changes before a run took them, or that a run was not "
                "delivered. A base follows.",
                MetricType::Counter,
                [](S s) { return static_cast<double>(s.dropped_changes + s.undelivered_runs); }),
      OfStreams(status, "seen_state_stream_foreign_records_total",
                "Records of other owners between this daemon's records, in the state topic.",
                MetricType::Counter, [](S s) { return static_cast<double>(s.foreign_records); }),
      OfStreams(status, "seen_state_stream_epoch",
                "Offset of this owner's opening in the state topic. Absent until the topic has the opening, "
                "and at replicas.",
                MetricType::Gauge, [&](S s) { return s.epoch < 0 ? Value() : number(s.epoch); }),
      OfStreams(status, "seen_state_stream_position",
                "Input offset below which the state topic has everything.", MetricType::Gauge,
                [](S s) { return static_cast<double>(s.sent_to); }),
      OfShares(status, "seen_memory_budget_bytes", "How the daemon divides store.memory_mib into shares.",
               [&](const MemoryShare& share) { return number(share.budget_bytes); }),
      OfShares(
          status, "seen_memory_used_bytes",
          "How much of a share is in use. The daemon measures only some shares.",
          [&](const MemoryShare& share) { return share.used_bytes ? number(*share.used_bytes) : Value(); }),
      gauge("seen_partition_owned",
            "1 while the group assigns the partition to this daemon, and that group owns the outputs.",
            [&](P p) { return number(p.assigned && !status.is_replica ? 1 : 0); }),
      gauge("seen_partition_answers", "1 while the daemon answers look-ups of the partition's users.",
            [&](P p) { return number(p.answers ? 1 : 0); }),
      gauge("seen_partition_age_seconds",
            "Time since the state last held everything in the partition. Absent if that isn't known.",
            [](P p) { return p.age ? Value(static_cast<double>(p.age->count()) / 1000.0) : Value(); }),
      gauge("seen_partition_ready", "1 while the partition is caught up and nothing holds it back.",
            [&](P p) { return number(p.state == "ready" ? 1 : 0); }),
      gauge("seen_partition_time_seconds",
            "Greatest Kafka timestamp read from the partition, since the epoch.",
            [&](P p) { return Seconds(p.partition_time); }),
      gauge("seen_consumer_lag_messages",
            "Messages of the partition that the daemon has not read yet, up to the end that it saw last.",
            [&](P p) { return number(p.lag_messages); }),
      gauge("seen_retention_headroom_seconds",
            "Time until retention deletes the oldest unread message. Absent if no message is unread.",
            [](P p) { return p.retention_headroom_s; }),
      gauge("seen_lost_messages_unacknowledged",
            "Messages that retention deleted before the daemon read them, kept across restarts until POST "
            "/v1/lost-ranges/acknowledge.",
            [](P p) { return Value(LostMessages(p)); }),
      gauge("seen_incomplete_filters",
            "Filters whose state lacks a part of their window, because records or state were lost, or the "
            "filter was added.",
            [&](P p) { return number(IncompleteFilters(p)); }),
      gauge("seen_tail_bytes", "Memory of the changes since the last checkpoint.",
            [&](P p) { return number(p.tail_bytes); }),
      gauge("seen_snapshot_marks_outstanding",
            "Users whose snapshot is not acknowledged yet (an upper bound).",
            [&](P p) { return number(p.marks_outstanding); }),
      counter("seen_swept_users_total", "Users whose snapshots the daily sweep made due.",
              [&](P p) { return number(p.republish.users_made_due); }),
      counter("seen_endings_total", "Times that a user's served items ended and the snapshot became due.",
              [&](P p) { return number(p.republish.endings); }),
      counter("seen_unexposed_published_total", "Served items that the daemon published as never shown.",
              [&](P p) { return p.unexposed ? number(p.unexposed->published) : Value(); }),
      counter("seen_unexposed_resolved_total", "Served items that were shown in time.",
              [&](P p) { return p.unexposed ? number(p.unexposed->resolved) : Value(); }),
      gauge("seen_unexposed_outstanding", "Unexposed items that their topic has not acknowledged yet.",
            [&](P p) { return p.unexposed ? number(p.unexposed->outstanding) : Value(); }),
      gauge("seen_users_at_daily_limit",
            "Users with a day as full as items_per_day_max allows. Counts only users that were published or "
            "asked about since the start.",
            [&](P p) { return number(p.users_at_daily_limit); }),
      gauge("seen_checkpoint_last_time_seconds", "When the last checkpoint was written, since the epoch.",
            [](P p) { return Seconds(p.last_checkpoint_at); }),
      gauge("seen_store_bytes", "The partition's state on disk.", [&](P p) { return number(p.store.bytes); }),
      gauge("seen_journal_bytes", "The partition's journal on disk.",
            [&](P p) { return number(p.store.journal_bytes); }),
      gauge("seen_journal_dates", "UTC days that the partition's journal has.",
            [&](P p) { return number(p.store.journal_days); }),
      gauge("seen_store_level0_files", "Files of the store's level 0.",
            [&](P p) { return number(p.store.level0_files); }),
      gauge("seen_store_compaction_pending_bytes", "What compaction still has to rewrite (an estimate).",
            [&](P p) { return number(p.store.compaction_pending_bytes); }),
      counter("seen_store_compaction_bytes_total", "Bytes that compactions wrote.",
              [&](P p) { return number(p.store.compaction_bytes_total); }),
      counter("seen_store_block_cache_hits_total", "Blocks found in the store's cache.",
              [&](P p) { return number(p.store.block_cache_hits); }),
      counter("seen_store_block_cache_misses_total", "Blocks read from disk.",
              [&](P p) { return number(p.store.block_cache_misses); }),
  };
  if (status.input_retention_ms) {
    families.push_back(
        Whole("seen_input_retention_seconds",
              "How long the input topic keeps records. Absent if that is unlimited or not known.",
              static_cast<double>(*status.input_retention_ms) / 1000.0));
  }
  if (status.disk) {
    families.push_back(Whole("seen_store_disk_bytes", "Size of the file system that the store is on.",
                             static_cast<double>(status.disk->bytes)));
    families.push_back(Whole("seen_store_disk_free_bytes",
                             "Bytes that the daemon may still write to the file system that the store is on.",
                             static_cast<double>(status.disk->free_bytes)));
  }
  families.push_back(RekeyingLag(status));
  uint64_t unfilled = 0;
  for (const FillStatus& fill : status.fills.fills) {
    for (const FillPartitionStatus& partition : fill.partitions)
      unfilled += partition.state == "done" ? 0u : 1u;
  }
  families.push_back(Whole("seen_fill_partitions_left",
                           "Partitions that fills still have to read again, counted for each filter.",
                           static_cast<double>(unfilled)));
  families.push_back(Total("seen_fill_records_total", "Records that fills have read again.",
                           static_cast<double>(status.fills.records)));
  families.push_back(Total("seen_fill_users_total", "Users whose history fills have written.",
                           static_cast<double>(status.fills.users)));
  if (status.item_groups) {
    const ItemGroupsStatus& groups = *status.item_groups;
    const auto whole = [&](std::string name, std::string help, auto value) {
      families.push_back(Whole(std::move(name), std::move(help), static_cast<double>(value)));
    };
    const auto total = [&](std::string name, std::string help, auto value) {
      families.push_back(Total(std::move(name), std::move(help), static_cast<double>(value)));
    };
    whole("seen_item_groups_lag_messages",
          "Records of the topic of groups that the daemon has still to read.", groups.lag_messages);
    whole("seen_item_groups_rows", "Rows in the copy of the topic of groups (an estimate).", groups.rows);
    whole("seen_item_groups_bytes", "Size of the copy of the topic of groups on disk.", groups.bytes);
    total("seen_item_groups_records_total",
          "Records of the topic of groups that the daemon read into its copy.", groups.records);
    total("seen_item_groups_unreadable_total",
          "Records of the topic of groups that the daemon could not read and left out.", groups.unreadable);
    total("seen_item_groups_disk_reads_total", "Look-ups of an item's group that the cache couldn't answer.",
          groups.disk_reads);
    total("seen_item_groups_too_far_ahead_total",
          "Records of the topic of groups whose item's time is ahead of the clock by more than "
          "input.future_skew_s_max.",
          groups.too_far_ahead);
    total("seen_item_groups_errors_total", "Look-ups of an item's group that failed.", groups.errors);
  }
  if (status.items) AppendItemsMetrics(*status.items, families);
  std::erase_if(families, [](const MetricFamily& family) { return family.metric.empty(); });
  return families;
}

}  // namespace seen
