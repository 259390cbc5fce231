// The daemon's status as /v1/status and /metrics show it. A figure is one row: its name in the JSON, its
// member, the name of its metric and the metric's help. docs/METRICS.md and docs/HTTP.md say more.

#include <prometheus/metric_family.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "serve/metrics.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// What the value counts, if its metric counts seconds.
enum class Unit { kSame, kMs, kDays };

/// A row of the tables below. A value of null gives the metric no sample.
template <typename S>
struct Figure {
  const char* field;  // in the JSON; nullptr: only a metric
  Json (*value)(const S&);
  const char* metric = nullptr;  // a counter if it ends in _total, else a gauge; nullptr: only in the JSON
  const char* help = nullptr;
  Unit unit = Unit::kSame;
};

/// Specialised for each struct that has figures: an array of rows, in the order of the JSON.
template <typename S>
constexpr auto kFigures = nullptr;

template <typename S, size_t kRows>
Json ObjectOf(const std::array<Figure<S>, kRows>& rows, const S& of) {
  Json object = Json::object();
  for (const Figure<S>& row : rows) {
    if (row.field != nullptr) object[row.field] = row.value(of);
  }
  return object;
}

// ToJson: a member as the JSON has it.
Json ToJson(TimeMs time) { return time.value; }
Json ToJson(std::chrono::milliseconds duration) { return duration.count(); }
Json ToJson(LossCause cause) { return LossCauseName(cause); }
Json ToJson(const std::array<uint64_t, kRejectReasons>& rejected) {
  Json json = Json::object();
  for (size_t i = 0; i < kRejectReasons; ++i) {
    if (rejected[i] > 0) json[std::string(RejectReasonName(static_cast<RejectReason>(i)))] = rejected[i];
  }
  return json;
}
template <typename Value>
Json ToJson(const Value& value) {
  if constexpr (std::is_constructible_v<Json, const Value&>) {
    return value;
  } else {
    return ObjectOf(kFigures<Value>, value);
  }
}
template <typename Value>
Json ToJson(const std::optional<Value>& value) {
  return value ? ToJson(*value) : Json(nullptr);
}
template <typename Value>
Json ToJson(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const Value& value : values) array.push_back(ToJson(value));
  return array;
}
template <typename Value>
Json ToJson(const std::map<int32_t, Value>& by_partition) {
  Json array = Json::array();
  for (const auto& [partition, value] : by_partition) {
    Json& object = array.emplace_back(Json{{"partition", partition}});
    object.update(ToJson(value));
  }
  return array;
}

/// The member, or the member of a member, of an object. null: an optional member on the way is empty.
template <auto kMember, auto... kInner, typename S>
Json Of(const S& object) {
  if constexpr (sizeof...(kInner) == 0) {
    return ToJson(object.*kMember);
  } else if constexpr (requires { (object.*kMember).has_value(); }) {
    return object.*kMember ? Of<kInner...>(*(object.*kMember)) : Json(nullptr);
  } else {
    return Of<kInner...>(object.*kMember);
  }
}
/// An offset, where -1 means that it isn't known.
template <auto kMember, typename S>
Json Offset(const S& object) {
  return object.*kMember < 0 ? Json(nullptr) : Json(object.*kMember);
}

template <typename S, size_t kRows>
constexpr auto Rows(const Figure<S> (&rows)[kRows]) {
  return std::to_array(rows);
}

// The parts of a partition's status.

template <>
constexpr auto kFigures<CheckpointReport> = [] {
  using S = CheckpointReport;
  return Rows<S>({
      {"next_offset", Of<&S::next_offset>},
      {"users", Of<&S::users>},
      {"bytes", Of<&S::bytes>},
      {"marks_set", Of<&S::marks_set>},
      {"marks_cleared", Of<&S::marks_cleared>},
      {"journal_rows", Of<&S::journal_rows>},
      {"duration_ms", Of<&S::duration>},
  });
}();

template <>
constexpr auto kFigures<StoreFigures> = [] {
  using S = StoreFigures;
  return Rows<S>({
      {"bytes", Of<&S::bytes>, "seen_store_bytes", "The partition's state on disk."},
      {"level0_files", Of<&S::level0_files>, "seen_store_level0_files", "Files of the store's level 0."},
      {"compaction_pending_bytes", Of<&S::compaction_pending_bytes>, "seen_store_compaction_pending_bytes",
       "What compaction still has to rewrite (an estimate)."},
      {nullptr, Of<&S::compaction_bytes_total>, "seen_store_compaction_bytes_total",
       "Bytes that compactions wrote."},
      {"block_cache_hits", Of<&S::block_cache_hits>, "seen_store_block_cache_hits_total",
       "Blocks found in the store's cache."},
      {"block_cache_misses", Of<&S::block_cache_misses>, "seen_store_block_cache_misses_total",
       "Blocks read from disk."},
      {"journal_bytes", Of<&S::journal_bytes>, "seen_journal_bytes", "The partition's journal on disk."},
      {"journal_days", Of<&S::journal_days>, "seen_journal_dates",
       "UTC days that the partition's journal has."},
  });
}();

template <>
constexpr auto kFigures<RepublishStatus> = [] {
  using S = RepublishStatus;
  return Rows<S>({
      {"sweeping", Of<&S::sweeping>},
      {"all_requested", Of<&S::all_requested>},
      {"awaits_checkpoint", Of<&S::awaits_checkpoint>},
      {"swept_day",
       [](const S& of) { return of.swept_day ? Json(DayText({*of.swept_day})) : Json(nullptr); }},
      {"users_made_due", Of<&S::users_made_due>, "seen_swept_users_total",
       "Users whose snapshots the daily sweep made due."},
      {"endings", Of<&S::endings>, "seen_endings_total",
       "Times that a user's served items ended and the snapshot became due."},
  });
}();

template <>
constexpr auto kFigures<UnexposedStatus> = [] {
  using S = UnexposedStatus;
  return Rows<S>({
      {"published", Of<&S::published>, "seen_unexposed_published_total",
       "Served items that the daemon published as never shown."},
      {"resolved", Of<&S::resolved>, "seen_unexposed_resolved_total",
       "Served items that were shown in time."},
      {"retried", Of<&S::retried>},
      {"outstanding", Of<&S::outstanding>, "seen_unexposed_outstanding",
       "Unexposed items that their topic has not acknowledged yet."},
  });
}();

template <>
constexpr auto kFigures<UpdateFigures> = [] {
  using S = UpdateFigures;
  return Rows<S>({
      {"records", Of<&S::records>, "seen_updates_total", "Updates that the brokers have."},
      {"bytes", Of<&S::bytes>, "seen_update_bytes_total", "Bytes of these updates."},
      {"items", Of<&S::items>, "seen_update_items_total", "Additions in these updates."},
      {"gaps", Of<&S::gaps>, "seen_update_gaps_total",
       "Times that additions were dropped: readers are stale until the snapshots hold them."},
      {"foreign_records", Of<&S::foreign_records>, "seen_updates_foreign_total",
       "Records of the topic of updates that another process wrote."},
      {"outstanding_bytes", Of<&S::outstanding_bytes>, "seen_update_outstanding_bytes",
       "Bytes of additions that no broker has yet."},
      {"sent_to", Offset<&S::sent_to>},
      {"problem", Of<&S::problem>},
  });
}();

template <>
constexpr auto kFigures<RefreshStatus> = [] {
  using S = RefreshStatus;
  return Rows<S>({
      {"rounds", Of<&S::rounds>, "seen_refresh_rounds_total",
       "Rounds over the users whose snapshots lack what updates told."},
      {"users", Of<&S::users>, "seen_refresh_users_total", "Users that these rounds found."},
      {"is_paced", Of<&S::is_paced>},
      {nullptr, [](const S& of) { return Json(!of.is_paced); }, "seen_refresh_hurries",
       "1 while the round isn't paced, because readers wait for its snapshots."},
      {"is_late", Of<&S::is_late>, "seen_refresh_late",
       "1 while snapshots lack what was read more than two rounds ago."},
      {"published_age_ms", Of<&S::published_age>, "seen_published_age_seconds",
       "All that was read so long ago is in snapshots. Absent if that isn't known.", Unit::kMs},
  });
}();

template <>
constexpr auto kFigures<MisroutedExample> = [] {
  using S = MisroutedExample;
  return Rows<S>({
      {"offset", Offset<&S::offset>},
      {"expected_partition", Of<&S::expected_partition>},
      {"user_id_start", Of<&S::user_id_start>},
      {"remedy",
       [](const S&) {
         return Json(
             "look-ups miss these events: key them by user id, and set input.partitioner to what their "
             "producer uses (murmur2: Java clients; crc32: librdkafka and kcat; fnv1a: Sarama)");
       }},
  });
}();

template <>
constexpr auto kFigures<LostRange> = [] {
  using S = LostRange;
  return Rows<S>({
      {"from_offset", Of<&S::from>},
      {"to_offset", Of<&S::to>},
      {"messages", [](const S& range) { return Json(range.to - range.from); }},
      {"noticed_at_ms", Of<&S::noticed_at>},
  });
}();

template <>
constexpr auto kFigures<FilterStatus> = [] {
  using S = FilterStatus;
  return Rows<S>({
      {"filter", Of<&S::name>},
      {"complete_since", Of<&S::complete_since>},
  });
}();

template <>
constexpr auto kFigures<HeavyUser> = [] {
  using S = HeavyUser;
  return Rows<S>({
      {"filter", Of<&S::filter>},
      {"user_id_start", Of<&S::user_id_start>},
      {"items", Of<&S::items>},
  });
}();

Json LostMessages(const PartitionStatus& partition) {
  int64_t messages = 0;
  for (const LostRange& range : partition.lost_ranges) messages += range.to - range.from;
  return messages;
}

Json IncompleteFilters(const PartitionStatus& partition) {
  return std::count_if(partition.filters.begin(), partition.filters.end(),
                       [](const FilterStatus& filter) { return filter.complete_since.has_value(); });
}

template <>
constexpr auto kFigures<PartitionStatus> = [] {
  using S = PartitionStatus;
  return Rows<S>({
      {"partition", Of<&S::partition>},
      {"state", Of<&S::state>},
      {nullptr, [](const S& of) { return Json(of.state == "ready"); }, "seen_partition_ready",
       "1 while the partition is caught up and nothing holds it back."},
      {"reason", Of<&S::reason>},
      {"answers", Of<&S::answers>, "seen_partition_answers",
       "1 while the daemon answers look-ups of the partition's users."},
      {"assigned", Of<&S::assigned>},
      {"next_offset", Offset<&S::next_offset>},
      {"checkpoint_offset", Of<&S::checkpoint_offset>},
      {"low_watermark", Offset<&S::low_watermark>},
      {"high_watermark", Offset<&S::high_watermark>},
      {"lag_messages", [](const S& of) { return of.lag_is_known ? Json(of.lag_messages) : Json(nullptr); }},
      {nullptr, Of<&S::lag_messages>, "seen_consumer_lag_messages",
       "Messages of the partition that the daemon has not read yet, up to the end that it saw last."},
      {"age_ms", Of<&S::age>, "seen_partition_age_seconds",
       "Time since the state last held everything in the partition. Absent if that isn't known.", Unit::kMs},
      {"partition_time_ms", Of<&S::partition_time>, "seen_partition_time_seconds",
       "Greatest Kafka timestamp read from the partition, since the epoch.", Unit::kMs},
      {"retention_headroom_s", Of<&S::retention_headroom_s>, "seen_retention_headroom_seconds",
       "Time until retention deletes the oldest unread message. Absent if no message is unread."},
      {"tail_bytes", Of<&S::tail_bytes>, "seen_tail_bytes",
       "Memory of the changes since the last checkpoint."},
      {"marks_outstanding", Of<&S::marks_outstanding>, "seen_snapshot_marks_outstanding",
       "Users whose snapshot is not acknowledged yet (an upper bound)."},
      {"published_to", Offset<&S::published_to>},
      {"replays", Of<&S::replays>},
      {"misrouted", Of<&S::misrouted>},
      {"misrouted_last",
       [](const S& of) { return of.misrouted > 0 ? ToJson(of.misrouted_last) : Json(nullptr); }},
      {"lost_ranges", Of<&S::lost_ranges>},
      {nullptr, LostMessages, "seen_lost_messages_unacknowledged",
       "Messages that retention deleted before the daemon read them, kept across restarts until POST "
       "/v1/lost-ranges/acknowledge."},
      {"filters", Of<&S::filters>},
      {nullptr, IncompleteFilters, "seen_incomplete_filters",
       "Filters whose state lacks a part of their window, because records or state were lost, or the "
       "filter was added."},
      {"last_checkpoint_at_ms", Of<&S::last_checkpoint_at>, "seen_checkpoint_last_time_seconds",
       "When the last checkpoint was written, since the epoch.", Unit::kMs},
      {"last_checkpoint",
       [](const S& of) { return of.last_checkpoint_at ? ToJson(of.last_checkpoint) : Json(nullptr); }},
      {"store", Of<&S::store>},
      {"republish", Of<&S::republish>},
      {"unexposed", Of<&S::unexposed>},
      {"updates", Of<&S::updates>},
      {"refresh", Of<&S::refresh>},
      {"heaviest_users", Of<&S::heaviest_users>},
      {"users_at_daily_limit", Of<&S::users_at_daily_limit>, "seen_users_at_daily_limit",
       "Users with a day as full as items_per_day_max allows. Counts only users that were published or "
       "asked about since the start."},
  });
}();

// The state topic.

template <>
constexpr auto kFigures<StateStreamFigures> = [] {
  using S = StateStreamFigures;
  return Rows<S>({
      {"epoch", Offset<&S::epoch>, "seen_state_stream_epoch",
       "Offset of this owner's opening in the state topic. Absent until the topic has the opening, and at "
       "replicas."},
      {"base_at", Offset<&S::base_at>},
      {"sent_to", Of<&S::sent_to>, "seen_state_stream_position",
       "Input offset below which the state topic has everything."},
      {"runs", Of<&S::runs>, "seen_state_stream_runs_total", "Runs that the state topic has completely."},
      {"bases", Of<&S::bases>, "seen_state_stream_bases_total", "Bases that the state topic has completely."},
      {"bytes", Of<&S::bytes>, "seen_state_stream_bytes_total",
       "Bytes of the runs and bases that the state topic has completely."},
      {"dropped_changes", Of<&S::dropped_changes>},
      {"undelivered_runs", Of<&S::undelivered_runs>},
      {nullptr, [](const S& of) { return Json(of.dropped_changes + of.undelivered_runs); },
       "seen_state_stream_dropped_total",
       "Times that the daemon dropped changes before a run took them, or that a run was not delivered. A "
       "base "
       "follows."},
      {"foreign_records", Of<&S::foreign_records>, "seen_state_stream_foreign_records_total",
       "Records of others in the state topic that the daemon passed over: between its own, and before them."},
      {"refused_records", Of<&S::refused_records>, "seen_state_stream_refused_records_total",
       "Records at the end of the state topic that can't be read, or that name offsets which it can't have."},
      {"problem", Of<&S::problem>},
  });
}();

Json SecondsLeft(const StateRestoreFigures& restore) {
  const bool is_known = restore.share > 0.01;
  return is_known ? Json(restore.seconds * (1 - restore.share) / restore.share) : Json(nullptr);
}

template <>
constexpr auto kFigures<StateRestoreFigures> = [] {
  using S = StateRestoreFigures;
  return Rows<S>({
      {"share", Of<&S::share>, "seen_state_restore_share",
       "How much of the partition's state has come from the state topic, 0 to 1. Present only during the "
       "restore."},
      {"bytes", Of<&S::bytes>},
      {"seconds", Of<&S::seconds>},
      {"seconds_left", SecondsLeft},
  });
}();

Json UnsentPartitions(const StateTopicStatus& topic) {
  const auto unsent = std::count_if(topic.streams.begin(), topic.streams.end(),
                                    [](const auto& stream) { return !stream.second.problem.empty(); });
  return unsent + (topic.problem.empty() ? 0 : 1);
}

template <>
constexpr auto kFigures<StateTopicStatus> = [] {
  using S = StateTopicStatus;
  return Rows<S>({
      {"topic", Of<&S::topic>},
      {"problem", Of<&S::problem>},
      {nullptr, UnsentPartitions, "seen_state_topic_problems",
       "Partitions whose state isn't in the state topic as it should be, and 1 if no partition is written."},
      {"streams", Of<&S::streams>},
      {"restores", Of<&S::restores>},
  });
}();

// Topics that groups read.

template <>
constexpr auto kFigures<RefusedPartition> = [] {
  using S = RefusedPartition;
  return Rows<S>({
      {"partition", Of<&S::partition>},
      {"reason", Of<&S::reason>},
      {"since_ms", Of<&S::since>},
  });
}();

template <>
constexpr auto kFigures<OpenTransaction> = [] {
  using S = OpenTransaction;
  return Rows<S>({
      {"partition", Of<&S::partition>},
      {"offset", Of<&S::offset>},
      {"messages", Of<&S::messages>},
      {"since_ms", Of<&S::since>},
  });
}();

template <>
constexpr auto kFigures<RekeyingPartitionStatus> = [] {
  using S = RekeyingPartitionStatus;
  return Rows<S>({
      {"partition", Of<&S::partition>},
      {"assigned", Of<&S::assigned>},
      {"committed_offset", Offset<&S::committed_offset>},
      {"high_watermark", Offset<&S::high_watermark>},
      {"lag_messages", Of<&S::lag_messages>, "seen_rekeying_lag_messages",
       "Messages of the source's partition that the keyed topic has not acknowledged yet."},
      {"lost_messages", Of<&S::lost_messages>},
      {"reason", Of<&S::reason>},
  });
}();

template <>
constexpr auto kFigures<RekeyingStatus> = [] {
  using S = RekeyingStatus;
  using U = UnreadPartitions;
  return Rows<S>({
      {"source_topic", Of<&S::source_topic>},
      {"group_id", Of<&S::group_id>},
      {"caught_up", Of<&S::caught_up>},
      {"problem", Of<&S::problem>},
      {"lag_messages", Of<&S::lag_messages>},
      {"partitions_refused", Of<&S::unread, &U::refused>},
      {"partitions_unowned", Of<&S::unread, &U::unowned>},
      {"open_transactions", Of<&S::unread, &U::open_transactions>},
      {"partitions", Of<&S::partitions>},
  });
}();

// Items and their groups.

template <>
constexpr auto kFigures<ItemsPartitionStatus> = [] {
  using S = ItemsPartitionStatus;
  using G = GroupFigures;
  return Rows<S>({
      {"partition", Of<&S::partition>},
      {"state", Of<&S::state>},
      {"reason", Of<&S::reason>},
      {"next_offset", Of<&S::next_offset>},
      {"checkpoint_offset", Of<&S::checkpoint_offset>},
      {"high_watermark", Offset<&S::high_watermark>},
      {"lag_messages", Of<&S::lag_messages>, "seen_items_lag_messages",
       "Items of the ordered topic that the daemon has not read yet."},
      {"lost_messages", Of<&S::lost_messages>, "seen_items_lost_messages_total",
       "Items that retention deleted before the daemon read them, since the start."},
      {"items", Of<&S::figures, &G::items>, "seen_items_index_items", "Items in the index (an estimate)."},
      {"bytes", Of<&S::figures, &G::bytes>, "seen_items_index_bytes", "Size of the index of items on disk."},
      {"read", Of<&S::figures, &G::items_total>, "seen_items_total", "Items read, without deletions."},
      {"copies", Of<&S::figures, &G::copies_total>, "seen_items_copies_total",
       "Items whose text is a verbatim copy of an older item's text."},
      {"grouped", Of<&S::figures, &G::grouped_total>, "seen_items_grouped_total",
       "Items that joined an older item's group, copies included."},
      {"deleted", Of<&S::figures, &G::deleted_total>, "seen_items_deleted_total", "Deletions read."},
      {"moved", Of<&S::figures, &G::moved_total>, "seen_items_moved_total",
       "Items that changed their group."},
      {"no_text", Of<&S::figures, &G::no_text_total>, "seen_items_no_text_total", "Items without a word."},
      {"cut_texts", Of<&S::cut_texts>, "seen_items_cut_texts_total",
       "Texts that the daemon cut, because they were longer than items.text_bytes_max."},
      {"too_old", Of<&S::figures, &G::too_old_total>, "seen_items_too_old_total",
       "Items that were beyond items.window_days when they came. The daemon compares them, but doesn't keep "
       "them."},
      {"times_corrected", Of<&S::figures, &G::times_corrected_total>, "seen_items_times_corrected_total",
       "Index times that were ahead of the clock. The daemon corrected them when it opened the index."},
      {"rejected", Of<&S::rejected>},
      {"compared", Of<&S::figures, &G::compared_total>, "seen_items_compared_total",
       "SimHashes compared in lists of candidates."},
      {"candidates", Of<&S::figures, &G::candidates_total>, "seen_items_candidates_total",
       "Candidates verified."},
      {"lists_cut", Of<&S::figures, &G::lists_cut_total>, "seen_items_lists_cut_total",
       "Entries left out of lists of candidates, because the lists were too long."},
      {"candidates_cut", Of<&S::figures, &G::candidates_cut_total>, "seen_items_candidates_cut_total",
       "Candidates left out, because an item had too many."},
      {"groups_sent", Of<&S::groups_sent>, "seen_items_groups_sent_total",
       "Records handed to the topic of groups."},
      {"checkpoints", Of<&S::checkpoints>, "seen_items_checkpoints_total",
       "Checkpoints of the index of items."},
      {"checkpoint_seconds", Of<&S::checkpoint_seconds>, "seen_items_checkpoint_seconds_total",
       "How long the checkpoints of the index of items took, in all."},
  });
}();

/// The ordering of a topic of items with several partitions.
constexpr auto kOrdering = [] {
  using S = ItemsStatus;
  using R = RekeyingStatus;
  using U = UnreadPartitions;
  return Rows<S>({
      {"group_id", Of<&S::rekeying, &R::group_id>},
      {"caught_up", Of<&S::rekeying, &R::caught_up>},
      {"problem", Of<&S::rekeying, &R::problem>},
      {"lag_messages", Of<&S::rekeying, &R::lag_messages>},
      {"rejected", Of<&S::rekeying_rejected>},
      {"partitions_refused", Of<&S::rekeying, &R::unread, &U::refused>},
      {"partitions_unowned", Of<&S::rekeying, &R::unread, &U::unowned>},
      {"open_transactions", Of<&S::rekeying, &R::unread, &U::open_transactions>},
  });
}();

template <>
constexpr auto kFigures<ItemsStatus> = [] {
  using S = ItemsStatus;
  using U = UnreadPartitions;
  return Rows<S>({
      {"topic", Of<&S::topic>},
      {"ordered_topic",
       [](const S& of) { return of.ordered_topic.empty() ? Json(nullptr) : Json(of.ordered_topic); }},
      {"group_id", Of<&S::group_id>},
      {"problem", Of<&S::problem>},
      {"ordering", [](const S& of) { return of.rekeying ? ObjectOf(kOrdering, of) : Json(nullptr); }},
      {nullptr, Of<&S::rekeying, &RekeyingStatus::lag_messages>, "seen_items_ordering_lag_messages",
       "Items of a topic with several partitions that the daemon has not put in order yet."},
      {"partitions_refused", Of<&S::unread, &U::refused>},
      {"partitions_unowned", Of<&S::unread, &U::unowned>},
      {"open_transactions", Of<&S::unread, &U::open_transactions>},
      {"partitions", Of<&S::partitions>},
      {nullptr, Of<&S::leases_lapsed>, "seen_items_leases_lapsed_total",
       "Times that the lease of a partition of items ended while groups waited to be sent."},
      {nullptr, Of<&S::foreign_groups>, "seen_item_groups_foreign_total",
       "Records of the topic of groups that another process wrote, and that differ from what this daemon "
       "decided. The daemon sends the items' groups again."},
  });
}();

template <>
constexpr auto kFigures<ItemGroupsStatus> = [] {
  using S = ItemGroupsStatus;
  return Rows<S>({
      {"topic", Of<&S::topic>},
      {"problem", Of<&S::problem>},
      {"lag_messages", Of<&S::lag_messages>, "seen_item_groups_lag_messages",
       "Records of the topic of groups that the daemon has still to read."},
      {"records", Of<&S::records>, "seen_item_groups_records_total",
       "Records of the topic of groups that the daemon read into its copy."},
      {"unreadable", Of<&S::unreadable>, "seen_item_groups_unreadable_total",
       "Records of the topic of groups that the daemon could not read and left out."},
      {"rows", Of<&S::rows>, "seen_item_groups_rows",
       "Rows in the copy of the topic of groups (an estimate)."},
      {"bytes", Of<&S::bytes>, "seen_item_groups_bytes", "Size of the copy of the topic of groups on disk."},
      {"cache_bytes", Of<&S::cache_bytes>},
      {"disk_reads", Of<&S::disk_reads>, "seen_item_groups_disk_reads_total",
       "Look-ups of an item's group that the cache couldn't answer."},
      {"errors", Of<&S::errors>, "seen_item_groups_errors_total", "Look-ups of an item's group that failed."},
      {"too_far_ahead", Of<&S::too_far_ahead>, "seen_item_groups_too_far_ahead_total",
       "Records of the topic of groups whose item's time is ahead of the clock by more than "
       "input.future_skew_s_max."},
  });
}();

// What topics lose.

template <>
constexpr auto kFigures<LossShare> = [] {
  using S = LossShare;
  return Rows<S>({
      {"cause", Of<&S::cause>},
      {"lost", Of<&S::lost>},
      {"share", Of<&S::share>},
      {"share_max", Of<&S::share_max>},
      {"trouble", Of<&S::trouble>},
  });
}();

template <>
constexpr auto kFigures<TopicLoss> = [] {
  using S = TopicLoss;
  return Rows<S>({
      {"topic", Of<&S::topic>},
      {"events", Of<&S::events>},
      {"events_per_s", Of<&S::events_per_s>},
      {"newest_event_at_ms", Of<&S::newest>},
      {"causes", Of<&S::causes>},
  });
}();

// The daemon.

template <>
constexpr auto kFigures<MemoryShare> = [] {
  using S = MemoryShare;
  return Rows<S>({
      {nullptr, Of<&S::budget_bytes>, "seen_memory_budget_bytes",
       "How the daemon divides store.memory_mib into shares."},
      {nullptr, Of<&S::used_bytes>, "seen_memory_used_bytes",
       "How much of a share is in use. The daemon measures only some shares."},
  });
}();

Json PartitionsToFill(const DaemonStatus& status) {
  int64_t left = 0;
  for (const FillStatus& fill : status.fills.fills) {
    left += std::count_if(fill.partitions.begin(), fill.partitions.end(),
                          [](const FillPartitionStatus& partition) { return partition.state != "done"; });
  }
  return left;
}

Json CertificateNotAfter(const DaemonStatus& status) {
  const TimeMs not_after = status.access.certificate_not_after;
  return not_after.value > 0 ? Json(not_after.value) : Json(nullptr);
}

Json ItemsAndGroups(const DaemonStatus& status) {
  Json items = ToJson(status.items);
  if (status.item_groups) items["groups"] = ToJson(*status.item_groups);
  return items;
}

template <>
constexpr auto kFigures<TopicProblem> = [] {
  using S = TopicProblem;
  return Rows<S>({
      {"topic", Of<&S::topic>},
      {"problem", Of<&S::problem>},
      {"text", Of<&S::text>},
  });
}();

template <>
constexpr auto kFigures<DaemonStatus> = [] {
  using S = DaemonStatus;
  using U = UnreadPartitions;
  return Rows<S>({
      {"version", Of<&S::version>},
      {"librdkafka_version", Of<&S::librdkafka_version>},
      {"rocksdb_version", Of<&S::rocksdb_version>},
      {"store_version", Of<&S::store_version>},
      {"ready", Of<&S::ready>, "seen_ready", "1 while /readyz answers 200."},
      {"not_ready_reason", Of<&S::not_ready_reason>},
      {"troubles", Of<&S::troubles>},
      {"started_at_ms", Of<&S::started_at>},
      {"brokers", Of<&S::brokers>},
      {"embedded_kafka", Of<&S::embedded_kafka>},
      {"brokers_reachable", Of<&S::brokers_reachable>, "seen_brokers_reachable",
       "1 while the daemon can reach a Kafka broker."},
      {"instance_id", Of<&S::instance_id>},
      {"role", [](const S& of) { return Json(of.is_replica ? "replica" : "owner"); }},
      {nullptr, Of<&S::is_replica>, "seen_replica",
       "1 while another group owns the outputs, and this group only answers."},
      {"owner_group", Of<&S::owner_group>},
      {"topic", Of<&S::topic>},
      {"partitions_total", Of<&S::partitions_total>, "seen_input_partitions",
       "Partitions of the input topic. 0 until the number is known."},
      {"partitions_refused", Of<&S::unread, &U::refused>},
      {"partitions_unowned", Of<&S::unread, &U::unowned>},
      {"open_transactions", Of<&S::unread, &U::open_transactions>},
      {"rekeying", Of<&S::rekeying>},
      {"items", ItemsAndGroups},
      {"state_topic", Of<&S::state_topic>},
      {"losses", Of<&S::losses>},
      {"topic_problems", Of<&S::topics>},
      {"partitions", Of<&S::partitions>},
      {nullptr, Of<&S::log_checks>, "seen_log_checks_total",
       "Times that the daemon read the last record of an input partition again and found the same record."},
      {nullptr, Of<&S::window_days_max>, "seen_longest_window_seconds", "The longest window of a filter.",
       Unit::kDays},
      {nullptr, Of<&S::input_retention_ms>, "seen_input_retention_seconds",
       "How long the input topic keeps records. Absent if that is unlimited or not known.", Unit::kMs},
      {nullptr, CertificateNotAfter, "seen_certificate_not_after_seconds",
       "When the certificate of access.certificate expires, as a Unix time.", Unit::kMs},
      {nullptr, Of<&S::access, &AccessFigures::reloads_failed>, "seen_access_reloads_failed_total",
       "Times that a file of access changed and couldn't be read. The daemon keeps the old one."},
      {nullptr, Of<&S::disk, &DiskSpace::bytes>, "seen_store_disk_bytes",
       "Size of the file system that the store is on."},
      {nullptr, Of<&S::disk, &DiskSpace::free_bytes>, "seen_store_disk_free_bytes",
       "Bytes that the daemon may still write to the file system that the store is on."},
      {nullptr, PartitionsToFill, "seen_fill_partitions_left",
       "Partitions that fills still have to read again, counted for each filter."},
      {nullptr, Of<&S::fills, &FillFigures::records>, "seen_fill_records_total",
       "Records that fills have read again."},
      {nullptr, Of<&S::fills, &FillFigures::users>, "seen_fill_users_total",
       "Users whose history fills have written."},
  });
}();

double NumberOf(const Json& value, Unit unit) {
  const double number = value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>();
  return unit == Unit::kMs ? number / 1000 : unit == Unit::kDays ? number * 86'400 : number;
}

/// Collects the families of metrics of a page.
class Families {
 public:
  using Samples = std::vector<std::pair<std::string, double>>;  // the label's value, and the sample's

  /// `label`: nullptr: the samples have none. A family without a sample isn't shown.
  void Add(const char* name, const char* help, const char* label, const Samples& samples) {
    if (samples.empty()) return;
    const bool is_counter = std::string_view(name).ends_with("_total");
    MetricFamily& family = families_.emplace_back(
        MetricFamily{name, help, is_counter ? MetricType::Counter : MetricType::Gauge, {}});
    for (const auto& [label_value, value] : samples) {
      ClientMetric& metric = family.metric.emplace_back();
      (is_counter ? metric.counter.value : metric.gauge.value) = value;
      if (label != nullptr) metric.label.push_back({label, label_value});
    }
  }

  /// Adds the figures of some objects, each with its value of the label. nullptr: the object isn't there.
  template <typename S>
  void AddEach(const char* label, const std::vector<std::pair<std::string, const S*>>& objects) {
    for (const Figure<S>& row : kFigures<S>) {
      if (row.metric == nullptr) continue;
      Samples samples;
      for (const auto& [label_value, object] : objects) {
        const Json value = object != nullptr ? row.value(*object) : Json(nullptr);
        if (value.is_null()) continue;
        samples.emplace_back(label_value, NumberOf(value, row.unit));
      }
      Add(row.metric, row.help, label, samples);
    }
  }

  /// The same for what `part` returns of each partition.
  template <typename P, typename Part>
  void OfPartitions(const std::vector<const P*>& partitions, Part part) {
    std::vector<std::pair<std::string, decltype(part(*partitions[0]))>> objects;
    objects.reserve(partitions.size());
    for (const P* of : partitions) objects.emplace_back(std::to_string(of->partition), part(*of));
    AddEach("partition", objects);
  }
  template <typename S>
  void OfPartitions(const std::map<int32_t, S>& by_partition) {
    std::vector<std::pair<std::string, const S*>> objects;
    objects.reserve(by_partition.size());
    for (const auto& [partition, object] : by_partition)
      objects.emplace_back(std::to_string(partition), &object);
    AddEach("partition", objects);
  }

  /// The same for what each cause loses of each topic.
  template <typename Value>
  void OfLosses(const char* name, const char* help, const std::vector<TopicLoss>& losses, Value value) {
    MetricFamily& family = families_.emplace_back(MetricFamily{name, help, MetricType::Gauge, {}});
    for (const TopicLoss& loss : losses) {
      for (const LossShare& share : loss.causes) {
        ClientMetric& metric = family.metric.emplace_back();
        metric.label = {{"topic", loss.topic}, {"cause", std::string(LossCauseName(share.cause))}};
        metric.gauge.value = value(share);
      }
    }
  }

  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

/// For each reason, the partition that has been held the longest.
Families::Samples HeldSince(const DaemonStatus& status) {
  Families::Samples samples;
  for (const HoldReason reason : kHoldReasons) {
    double since = 0;
    const auto look = [&](const auto& partitions) {
      for (const auto& partition : partitions) {
        if (partition.held_by != reason || !partition.assigned) continue;
        const double its = static_cast<double>(partition.held_since.value) / 1000.0;
        since = since == 0 ? its : std::min(since, its);
      }
    };
    look(status.partitions);
    if (status.rekeying) look(status.rekeying->partitions);
    samples.emplace_back(HoldReasonName(reason), since);
  }
  return samples;
}

/// The partitions that nobody reads, of each topic that this daemon's groups read.
void AddUnread(const DaemonStatus& status, Families& families) {
  Families::Samples refused, unowned, transactions;
  const auto add = [&](const std::string& topic, const UnreadPartitions& unread) {
    if (topic.empty()) return;  // not known yet
    refused.emplace_back(topic, static_cast<double>(unread.refused.size()));
    unowned.emplace_back(topic, static_cast<double>(unread.unowned.size()));
    transactions.emplace_back(topic, static_cast<double>(unread.open_transactions.size()));
  };
  add(status.topic, status.unread);
  if (status.rekeying) add(status.rekeying->source_topic, status.rekeying->unread);
  if (status.items) add(status.items->ordered_topic, status.items->unread);
  if (status.items && status.items->rekeying)
    add(status.items->rekeying->source_topic, status.items->rekeying->unread);
  families.Add("seen_partitions_refused",
               "Partitions that the group assigned to this daemon, and that it doesn't read.", "topic",
               refused);
  families.Add("seen_partitions_unowned", "Partitions that no member of the group owns.", "topic", unowned);
  families.Add("seen_open_transactions",
               "Partitions that this daemon reads no further because a producer has left a transaction open.",
               "topic", transactions);
}

void AddTopicProblems(const DaemonStatus& status, Families& families) {
  std::map<std::string, double> missing{{status.topic, 0}}, wrong{{status.topic, 0}};
  for (const TopicProblem& topic : status.topics) {
    ++(topic.problem == "missing" ? missing : wrong)[topic.topic];
  }
  families.Add("seen_topic_missing", "1: a topic that the daemon uses doesn't exist.", "topic",
               {missing.begin(), missing.end()});
  families.Add("seen_topic_settings_wrong",
               "Settings of a topic that lose records which the daemon or its readers need.", "topic",
               {wrong.begin(), wrong.end()});
}

void AddForwarded(const ForwardFigures& forwarded, Families& families) {
  families.Add("seen_forwarded_requests_total", "Requests passed on to other daemons, by result.", "result",
               {{"answered", static_cast<double>(forwarded.answered)},
                {"failed", static_cast<double>(forwarded.failed)},
                {"refused", static_cast<double>(forwarded.refused)}});
}

void AddPartitions(const DaemonStatus& status, Families& families) {
  std::vector<const PartitionStatus*> open;  // the others have no figures
  Families::Samples owned;
  for (const PartitionStatus& partition : status.partitions) {
    if (partition.next_offset < 0) continue;
    open.push_back(&partition);
    owned.emplace_back(std::to_string(partition.partition), partition.assigned && !status.is_replica ? 1 : 0);
  }
  families.Add("seen_partition_owned",
               "1 while the group assigns the partition to this daemon, and that group owns the outputs.",
               "partition", owned);
  families.OfPartitions(open, [](const PartitionStatus& of) { return &of; });
  families.OfPartitions(open, [](const PartitionStatus& of) { return &of.store; });
  families.OfPartitions(open, [](const PartitionStatus& of) { return &of.republish; });
  families.OfPartitions(open,
                        [](const PartitionStatus& of) { return of.unexposed ? &*of.unexposed : nullptr; });
  families.OfPartitions(open, [](const PartitionStatus& of) { return of.updates ? &*of.updates : nullptr; });
  families.OfPartitions(open, [](const PartitionStatus& of) { return of.refresh ? &*of.refresh : nullptr; });
}

void AddItems(const ItemsStatus& items, Families& families) {
  families.AddEach<ItemsStatus>(nullptr, {{"", &items}});
  std::vector<const ItemsPartitionStatus*> partitions;
  std::array<uint64_t, kRejectReasons> rejected = items.rekeying_rejected;
  for (const ItemsPartitionStatus& partition : items.partitions) {
    partitions.push_back(&partition);
    for (size_t i = 0; i < kRejectReasons; ++i) rejected[i] += partition.rejected[i];
  }
  families.OfPartitions(partitions, [](const ItemsPartitionStatus& of) { return &of; });
  Families::Samples samples;
  for (size_t i = 0; i < kRejectReasons; ++i) {
    samples.emplace_back(RejectReasonName(static_cast<RejectReason>(i)), static_cast<double>(rejected[i]));
  }
  families.Add("seen_items_rejected_total",
               "Records of items that could not be read and went to the dead letters.", "reason", samples);
}

}  // namespace

std::vector<MetricFamily> StatusMetrics(const DaemonStatus& status) {
  Families families;
  families.Add("seen_build_info", "Always 1. The label says which version runs.", "version",
               {{status.version, 1}});
  families.AddEach<DaemonStatus>(nullptr, {{"", &status}});
  AddUnread(status, families);
  families.OfLosses("seen_lost_share",
                    "Share of the events within input.loss.window_s that didn't reach the state, 0 to 1. "
                    "Replays don't count.",
                    status.losses, [](const LossShare& share) { return share.share; });
  families.OfLosses("seen_lost_share_excessive",
                    "1 while the share is over its limit in input.loss, of at least input.loss.events_min "
                    "events. For unreached: while some filter got no event.",
                    status.losses, [](const LossShare& share) { return share.trouble.empty() ? 0 : 1; });
  AddTopicProblems(status, families);
  families.Add(
      "seen_held_since_seconds",
      "When the daemon began to hold back consumption, since the epoch, for the partition that waits "
      "the longest. 0: no partition waits.",
      "reason", HeldSince(status));
  if (status.forwarded) AddForwarded(*status.forwarded, families);
  std::vector<std::pair<std::string, const MemoryShare*>> shares;
  shares.reserve(status.memory.size());
  for (const MemoryShare& share : status.memory) shares.emplace_back(share.name, &share);
  families.AddEach("share", shares);
  AddPartitions(status, families);
  if (status.state_topic) {
    families.AddEach<StateTopicStatus>(nullptr, {{"", &*status.state_topic}});
    families.OfPartitions(status.state_topic->streams);
    families.OfPartitions(status.state_topic->restores);
  }
  if (status.rekeying) {
    std::vector<const RekeyingPartitionStatus*> assigned;  // the others are other daemons'
    for (const RekeyingPartitionStatus& partition : status.rekeying->partitions) {
      if (partition.assigned) assigned.push_back(&partition);
    }
    families.OfPartitions(assigned, [](const RekeyingPartitionStatus& of) { return &of; });
  }
  if (status.item_groups) families.AddEach<ItemGroupsStatus>(nullptr, {{"", &*status.item_groups}});
  if (status.items) AddItems(*status.items, families);
  return families.Take();
}

std::string WriteStatus(const DaemonStatus& status) {
  // `user_id_start` may end within a character.
  return JsonText(ToJson(status), 2) + "\n";
}

}  // namespace seen
