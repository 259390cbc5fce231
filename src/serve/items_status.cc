#include "serve/items_status.h"

#include <functional>
#include <string>
#include <utility>

namespace seen {
namespace {

using Json = nlohmann::ordered_json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

Json RejectedJson(const std::array<uint64_t, kRejectReasons>& rejected) {
  Json json = Json::object();
  for (size_t i = 0; i < kRejectReasons; ++i) {
    if (rejected[i] > 0) json[std::string(RejectReasonName(static_cast<RejectReason>(i)))] = rejected[i];
  }
  return json;
}

Json PartitionJson(const ItemsPartitionStatus& partition) {
  const GroupFigures& figures = partition.figures;
  return {{"partition", partition.partition},
          {"state", partition.state},
          {"reason", partition.reason},
          {"next_offset", partition.next_offset},
          {"checkpoint_offset", partition.checkpoint_offset},
          {"high_watermark", partition.high_watermark < 0 ? Json(nullptr) : Json(partition.high_watermark)},
          {"lag_messages", partition.lag_messages},
          {"lost_messages", partition.lost_messages},
          {"items", figures.items},
          {"bytes", figures.bytes},
          {"read", figures.items_total},
          {"copies", figures.copies_total},
          {"grouped", figures.grouped_total},
          {"deleted", figures.deleted_total},
          {"moved", figures.moved_total},
          {"no_text", figures.no_text_total},
          {"cut_texts", partition.cut_texts},
          {"too_old", figures.too_old_total},
          {"times_corrected", figures.times_corrected_total},
          {"rejected", RejectedJson(partition.rejected)},
          {"compared", figures.compared_total},
          {"candidates", figures.candidates_total},
          {"lists_cut", figures.lists_cut_total},
          {"candidates_cut", figures.candidates_cut_total},
          {"groups_sent", partition.groups_sent},
          {"checkpoints", partition.checkpoints},
          {"checkpoint_seconds", partition.checkpoint_seconds}};
}

class Families {
 public:
  Families(const ItemsStatus& status, std::vector<MetricFamily>& out) : status_(status), out_(out) {}

  using Value = std::function<double(const ItemsPartitionStatus&)>;
  void Add(MetricType type, const char* name, const char* help, const Value& value) {
    MetricFamily& family = out_.emplace_back(MetricFamily{name, help, type, {}});
    for (const ItemsPartitionStatus& partition : status_.partitions)
      family.metric.push_back(
          Sample(type, value(partition), {{"partition", std::to_string(partition.partition)}}));
  }
  void Counter(const char* name, const char* help, const Value& value) {
    Add(MetricType::Counter, name, help, value);
  }
  void Gauge(const char* name, const char* help, const Value& value) {
    Add(MetricType::Gauge, name, help, value);
  }
  /// Over all partitions.
  void Total(const char* name, const char* help, uint64_t value) {
    out_.push_back(
        {name, help, MetricType::Counter, {Sample(MetricType::Counter, static_cast<double>(value), {})}});
  }
  void Rejected() {
    MetricFamily& family = out_.emplace_back(
        MetricFamily{"seen_items_rejected_total",
                     "Records of items that could not be read and went to the dead letters.",
                     MetricType::Counter,
                     {}});
    for (size_t i = 0; i < kRejectReasons; ++i) {
      uint64_t count = status_.rekeying_rejected[i];
      for (const ItemsPartitionStatus& partition : status_.partitions) count += partition.rejected[i];
      family.metric.push_back(
          Sample(MetricType::Counter, static_cast<double>(count),
                 {{"reason", std::string(RejectReasonName(static_cast<RejectReason>(i)))}}));
    }
  }

 private:
  static ClientMetric Sample(MetricType type, double value, std::vector<ClientMetric::Label> labels) {
    ClientMetric metric;
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    metric.label = std::move(labels);
    return metric;
  }

  const ItemsStatus& status_;
  std::vector<MetricFamily>& out_;
};

}  // namespace

void AddUnread(const UnreadPartitions& unread, Json& json) {
  Json refused = Json::array();
  for (const RefusedPartition& partition : unread.refused) {
    refused.push_back({{"partition", partition.partition},
                       {"reason", partition.reason},
                       {"since_ms", partition.since.value}});
  }
  json["partitions_refused"] = std::move(refused);
  json["partitions_unowned"] = unread.unowned;
}

Json ItemsJson(const ItemsStatus& status) {
  Json json = {{"topic", status.topic},
               {"ordered_topic", status.ordered_topic.empty() ? Json(nullptr) : Json(status.ordered_topic)},
               {"group_id", status.group_id},
               {"problem", status.problem},
               {"ordering", nullptr}};
  AddUnread(status.unread, json);
  json["partitions"] = Json::array();
  if (status.rekeying) {
    json["ordering"] = {{"group_id", status.rekeying->group_id},
                        {"caught_up", status.rekeying->caught_up},
                        {"problem", status.rekeying->problem},
                        {"lag_messages", status.rekeying->lag_messages},
                        {"rejected", RejectedJson(status.rekeying_rejected)}};
    AddUnread(status.rekeying->unread, json["ordering"]);
  }
  for (const ItemsPartitionStatus& partition : status.partitions)
    json["partitions"].push_back(PartitionJson(partition));
  return json;
}

void AppendItemsMetrics(const ItemsStatus& status, std::vector<MetricFamily>& out) {
  using P = const ItemsPartitionStatus&;
  const auto number = [](auto value) { return static_cast<double>(value); };
  Families families(status, out);
  families.Counter("seen_items_total", "Items read, without deletions.",
                   [&](P p) { return number(p.figures.items_total); });
  families.Counter("seen_items_copies_total", "Items whose text is a verbatim copy of an older item's text.",
                   [&](P p) { return number(p.figures.copies_total); });
  families.Counter("seen_items_grouped_total", "Items that joined an older item's group, copies included.",
                   [&](P p) { return number(p.figures.grouped_total); });
  families.Counter("seen_items_moved_total", "Items that changed their group.",
                   [&](P p) { return number(p.figures.moved_total); });
  families.Counter("seen_items_deleted_total", "Deletions read.",
                   [&](P p) { return number(p.figures.deleted_total); });
  families.Counter("seen_items_no_text_total", "Items without a word.",
                   [&](P p) { return number(p.figures.no_text_total); });
  families.Counter("seen_items_cut_texts_total",
                   "Texts that the daemon cut, because they were longer than items.text_bytes_max.",
                   [&](P p) { return number(p.cut_texts); });
  families.Counter("seen_items_too_old_total",
                   "Items that were beyond items.window_days when they came. The daemon compares them, but "
                   "doesn't keep them.",
                   [&](P p) { return number(p.figures.too_old_total); });
  families.Counter(
      "seen_items_times_corrected_total",
      "Index times that were ahead of the clock. The daemon corrected them when it opened the index.",
      [&](P p) { return number(p.figures.times_corrected_total); });
  families.Rejected();
  families.Counter("seen_items_compared_total", "SimHashes compared in lists of candidates.",
                   [&](P p) { return number(p.figures.compared_total); });
  families.Counter("seen_items_candidates_total", "Candidates verified.",
                   [&](P p) { return number(p.figures.candidates_total); });
  families.Counter("seen_items_lists_cut_total",
                   "Entries left out of lists of candidates, because the lists were too long.",
                   [&](P p) { return number(p.figures.lists_cut_total); });
  families.Counter("seen_items_candidates_cut_total", "Candidates left out, because an item had too many.",
                   [&](P p) { return number(p.figures.candidates_cut_total); });
  families.Counter("seen_items_groups_sent_total", "Records handed to the topic of groups.",
                   [&](P p) { return number(p.groups_sent); });
  families.Counter("seen_items_checkpoints_total", "Checkpoints of the index of items.",
                   [&](P p) { return number(p.checkpoints); });
  families.Counter("seen_items_checkpoint_seconds_total",
                   "How long the checkpoints of the index of items took, in all.",
                   [&](P p) { return p.checkpoint_seconds; });
  families.Gauge("seen_items_index_items", "Items in the index (an estimate).",
                 [&](P p) { return number(p.figures.items); });
  families.Gauge("seen_items_index_bytes", "Size of the index of items on disk.",
                 [&](P p) { return number(p.figures.bytes); });
  families.Gauge("seen_items_lag_messages", "Items of the ordered topic that the daemon has not read yet.",
                 [&](P p) { return number(p.lag_messages); });
  families.Counter("seen_items_lost_messages_total",
                   "Items that retention deleted before the daemon read them, since the start.",
                   [&](P p) { return number(p.lost_messages); });
  families.Total("seen_items_leases_lapsed_total",
                 "Times that the lease of a partition of items ended while groups waited to be sent.",
                 status.leases_lapsed);
  families.Total("seen_item_groups_foreign_total",
                 "Records of the topic of groups that another process wrote, and that differ from what this "
                 "daemon decided. The daemon sends the items' groups again.",
                 status.foreign_groups);
  if (!status.rekeying) return;
  ClientMetric lag;
  lag.gauge.value = number(status.rekeying->lag_messages);
  out.push_back({"seen_items_ordering_lag_messages",
                 "Items of a topic with several partitions that the daemon has not put in order yet.",
                 MetricType::Gauge,
                 {lag}});
}

}  // namespace seen
