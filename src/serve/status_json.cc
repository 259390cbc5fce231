#include "serve/status_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "serve/items_status.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  // `user_id_start` may end within a character.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json NullIfUnknown(int64_t offset) { return offset < 0 ? Json(nullptr) : Json(offset); }

Json TimeJson(const std::optional<TimeMs>& time) { return time ? Json(time->value) : Json(nullptr); }

Json AgeJson(const std::optional<std::chrono::milliseconds>& age) {
  return age ? Json(age->count()) : Json(nullptr);
}

Json CheckpointJson(const CheckpointReport& report) {
  return {{"next_offset", report.next_offset},
          {"users", report.users},
          {"bytes", report.bytes},
          {"marks_set", report.marks_set},
          {"marks_cleared", report.marks_cleared},
          {"journal_rows", report.journal_rows},
          {"duration_ms", report.duration.count()}};
}

Json StoreJson(const StoreFigures& store) {
  return {{"bytes", store.bytes},
          {"level0_files", store.level0_files},
          {"compaction_pending_bytes", store.compaction_pending_bytes},
          {"block_cache_hits", store.block_cache_hits},
          {"block_cache_misses", store.block_cache_misses},
          {"journal_bytes", store.journal_bytes},
          {"journal_days", store.journal_days}};
}

Json RepublishJson(const RepublishStatus& republish) {
  Json json = {{"sweeping", republish.sweeping},
               {"all_requested", republish.all_requested},
               {"awaits_checkpoint", republish.awaits_checkpoint},
               {"swept_day", nullptr},
               {"users_made_due", republish.users_made_due},
               {"endings", republish.endings}};
  if (republish.swept_day) json["swept_day"] = DayText({*republish.swept_day});
  return json;
}

Json PartitionJson(const PartitionStatus& partition) {
  Json json = {{"partition", partition.partition},
               {"state", partition.state},
               {"reason", partition.reason},
               {"answers", partition.answers},
               {"assigned", partition.assigned},
               {"next_offset", NullIfUnknown(partition.next_offset)},
               {"checkpoint_offset", partition.checkpoint_offset},
               {"low_watermark", NullIfUnknown(partition.low_watermark)},
               {"high_watermark", NullIfUnknown(partition.high_watermark)},
               {"lag_messages", partition.lag_is_known ? Json(partition.lag_messages) : Json(nullptr)},
               {"age_ms", AgeJson(partition.age)},
               {"partition_time_ms", partition.partition_time.value},
               {"retention_headroom_s", nullptr},
               {"tail_bytes", partition.tail_bytes},
               {"marks_outstanding", partition.marks_outstanding},
               {"replays", partition.replays},
               {"misrouted", partition.misrouted},
               {"misrouted_last", nullptr},
               {"lost_ranges", Json::array()},
               {"filters", Json::array()},
               {"last_checkpoint_at_ms", nullptr},
               {"last_checkpoint", nullptr},
               {"store", StoreJson(partition.store)},
               {"republish", RepublishJson(partition.republish)},
               {"unexposed", nullptr},
               {"heaviest_users", Json::array()},
               {"users_at_daily_limit", partition.users_at_daily_limit}};
  if (partition.unexposed) {
    json["unexposed"] = {{"published", partition.unexposed->published},
                         {"resolved", partition.unexposed->resolved},
                         {"retried", partition.unexposed->retried},
                         {"outstanding", partition.unexposed->outstanding}};
  }
  for (const HeavyUser& user : partition.heaviest_users) {
    json["heaviest_users"].push_back(
        {{"filter", user.filter}, {"user_id_start", user.user_id_start}, {"items", user.items}});
  }
  if (partition.retention_headroom_s) json["retention_headroom_s"] = *partition.retention_headroom_s;
  if (partition.misrouted > 0) {
    json["misrouted_last"] = {
        {"offset", NullIfUnknown(partition.misrouted_last.offset)},
        {"expected_partition", partition.misrouted_last.expected_partition},
        {"user_id_start", partition.misrouted_last.user_id_start},
        {"remedy",
         "look-ups miss these events: key them by user id, and set input.partitioner to what their producer "
         "uses (murmur2: Java clients; crc32: librdkafka and kcat)"}};
  }
  for (const LostRange& range : partition.lost_ranges) {
    json["lost_ranges"].push_back({{"from_offset", range.from},
                                   {"to_offset", range.to},
                                   {"messages", range.to - range.from},
                                   {"noticed_at_ms", range.noticed_at.value}});
  }
  for (const FilterStatus& filter : partition.filters)
    json["filters"].push_back({{"filter", filter.name}, {"complete_since", TimeJson(filter.complete_since)}});
  if (partition.last_checkpoint_at) {
    json["last_checkpoint_at_ms"] = partition.last_checkpoint_at->value;
    json["last_checkpoint"] = CheckpointJson(partition.last_checkpoint);
  }
  return json;
}

Json StateTopicJson(const StateTopicStatus& status) {
  const auto known = [](int64_t offset) { return offset < 0 ? Json() : Json(offset); };
  Json json = {{"topic", status.topic}, {"problem", status.problem}};
  json["streams"] = Json::array();
  for (const auto& [partition, figures] : status.streams) {
    json["streams"].push_back({{"partition", partition},
                               {"epoch", known(figures.epoch)},
                               {"base_at", known(figures.base_at)},
                               {"sent_to", figures.sent_to},
                               {"runs", figures.runs},
                               {"bases", figures.bases},
                               {"bytes", figures.bytes},
                               {"dropped_changes", figures.dropped_changes},
                               {"undelivered_runs", figures.undelivered_runs},
                               {"foreign_records", figures.foreign_records}});
  }
  json["restores"] = Json::array();
  for (const auto& [partition, figures] : status.restores) {
    const bool is_known = figures.share > 0.01;
    json["restores"].push_back(
        {{"partition", partition},
         {"share", figures.share},
         {"bytes", figures.bytes},
         {"seconds", figures.seconds},
         {"seconds_left", is_known ? Json(figures.seconds * (1 - figures.share) / figures.share) : Json()}});
  }
  return json;
}

Json RekeyingJson(const RekeyingStatus& rekeying) {
  Json json = {{"source_topic", rekeying.source_topic},
               {"group_id", rekeying.group_id},
               {"caught_up", rekeying.caught_up},
               {"problem", rekeying.problem},
               {"lag_messages", rekeying.lag_messages}};
  AddUnread(rekeying.unread, json);
  json["partitions"] = Json::array();
  for (const RekeyingPartitionStatus& partition : rekeying.partitions) {
    json["partitions"].push_back({{"partition", partition.partition},
                                  {"assigned", partition.assigned},
                                  {"committed_offset", NullIfUnknown(partition.committed_offset)},
                                  {"high_watermark", NullIfUnknown(partition.high_watermark)},
                                  {"lag_messages", partition.lag_messages},
                                  {"lost_messages", partition.lost_messages}});
  }
  return json;
}

Json ItemGroupsJson(const ItemGroupsStatus& groups) {
  return {{"topic", groups.topic},
          {"problem", groups.problem},
          {"lag_messages", groups.lag_messages},
          {"records", groups.records},
          {"unreadable", groups.unreadable},
          {"rows", groups.rows},
          {"bytes", groups.bytes},
          {"cache_bytes", groups.cache_bytes},
          {"disk_reads", groups.disk_reads},
          {"errors", groups.errors},
          {"too_far_ahead", groups.too_far_ahead}};
}

}  // namespace

std::string WriteStatus(const DaemonStatus& status) {
  Json json = {{"version", status.version},
               {"librdkafka_version", status.librdkafka_version},
               {"rocksdb_version", status.rocksdb_version},
               {"store_version", status.store_version},
               {"ready", status.ready},
               {"not_ready_reason", status.not_ready_reason},
               {"troubles", status.troubles},
               {"started_at_ms", status.started_at.value},
               {"brokers", status.brokers},
               {"embedded_kafka", status.embedded_kafka},
               {"brokers_reachable", status.brokers_reachable},
               {"instance_id", status.instance_id},
               {"role", status.is_replica ? "replica" : "owner"},
               {"owner_group", status.owner_group},
               {"topic", status.topic},
               {"partitions_total", status.partitions_total}};
  AddUnread(status.unread, json);
  json["rekeying"] = nullptr;
  json["items"] = nullptr;
  json["state_topic"] = nullptr;
  if (status.state_topic) json["state_topic"] = StateTopicJson(*status.state_topic);
  json["partitions"] = Json::array();
  if (status.items) json["items"] = ItemsJson(*status.items);
  if (status.item_groups) json["items"]["groups"] = ItemGroupsJson(*status.item_groups);
  if (status.rekeying) json["rekeying"] = RekeyingJson(*status.rekeying);
  for (const PartitionStatus& partition : status.partitions) {
    json["partitions"].push_back(PartitionJson(partition));
  }
  return Dump(json);
}

std::string WriteUser(std::string_view filter, std::string_view user_id, const UserAnswer& answer) {
  Json json = {{"filter", filter},
               {"user_id", user_id},
               {"partition", answer.partition},
               {"partition_time_ms", answer.as_of.partition_time.value},
               {"lag_messages", answer.as_of.lag_messages ? Json(*answer.as_of.lag_messages) : Json(nullptr)},
               {"age_ms", AgeJson(answer.as_of.age)},
               {"complete_since", TimeJson(answer.as_of.complete_since)},
               {"items", answer.items},
               {"bytes", answer.bytes},
               {"removals", answer.removals},
               {"segments", Json::array()}};
  for (const SegmentSummary& segment : answer.segments) {
    Json one = {{"kind", segment.kind},
                {"day", DayText(DayOf(segment.from))},
                {"from_ms", segment.from.value},
                {"to_ms", segment.to.value},
                {"items", segment.items},
                {"first_at_ms", segment.first_at.value},
                {"last_at_ms", segment.last_at.value},
                {"bytes", segment.bytes},
                {"counts_until_ms", nullptr},
                {"in_window", segment.in_window}};
    if (segment.counts_until) one["counts_until_ms"] = segment.counts_until->value;
    if (segment.kind == "repeated") one["exposures"] = segment.exposures;
    json["segments"].push_back(std::move(one));
  }
  return Dump(json);
}

}  // namespace seen
