#pragma once

#include <fmt/format.h>

#include <set>
#include <string>

#include "query/query_port.h"

namespace seen {

/// A daemon with one filter, "home". User "u1", like any other user, has seen the items in `seen`.
class FakeQuery : public QueryPort {
 public:
  std::optional<Error> error;  // the answer, if it is set
  std::set<std::string, std::less<>> seen = {"a", "7"};
  DaemonStatus status;
  mutable std::string user_asked;
  mutable std::vector<std::string> also_asked;
  mutable std::vector<uint32_t> created_asked;
  mutable bool one_per_group_asked = false;
  std::optional<std::vector<SimilarCandidate>> similar;
  std::optional<GroupAnswer> group;
  mutable std::string group_asked;
  int acknowledged = 0;
  WhyAnswer why;
  std::optional<TimeMs> newest;
  std::string next;
  mutable std::string exposures_asked;
  mutable std::string item_asked;

  mutable SnapshotQuestion shape_asked;
  AsOf as_of = kAsOf;  // in the answers

  Status CanAnswer(std::string_view filter, std::string_view user_id) const override {
    if (auto e = Refusal(filter, user_id)) return Fail(*e);
    return {};
  }
  Result<SnapshotAnswer> Snapshot(std::string_view filter, std::string_view user_id,
                                  const SnapshotQuestion& question) const override {
    if (auto e = Refusal(filter, user_id)) return Fail(*e);
    shape_asked = question;
    return SnapshotAnswer{as_of, std::string("SEEN\0\xff\r\n", 8)};
  }
  Result<UnseenAnswer> Unseen(std::string_view filter, std::string_view user_id,
                              const CandidateList& candidates,
                              std::span<const std::string_view> also_seen) const override {
    if (auto e = Refusal(filter, user_id)) return Fail(*e);
    also_asked.assign(also_seen.begin(), also_seen.end());
    one_per_group_asked = candidates.one_per_group;
    created_asked.assign(candidates.created_seconds.begin(), candidates.created_seconds.end());
    std::set<std::string_view> known(also_seen.begin(), also_seen.end());
    UnseenAnswer answer{as_of, {}};
    for (uint32_t i = 0; i < candidates.ids.size(); ++i) {
      if (!seen.contains(candidates.ids[i]) && known.insert(candidates.ids[i]).second)
        answer.unseen.push_back(i);
    }
    answer.similar = similar;
    return answer;
  }
  Result<NewestAnswer> Newest(std::string_view user_id, TimeMs until) const override {
    user_asked = user_id;
    if (error) return Fail(*error);
    return NewestAnswer{as_of, newest && *newest <= until ? newest : std::nullopt};
  }
  Result<UserAnswer> User(std::string_view filter, std::string_view user_id,
                          const SegmentsQuestion& question) const override {
    if (auto e = Refusal(filter, user_id)) return Fail(*e);
    UserAnswer answer;
    if (question.limit) answer.next = fmt::format("{}+{}", question.cursor, *question.limit);
    answer.as_of = as_of;
    answer.partition = 3;
    answer.items = 2;
    answer.bytes = 40;
    const TimeMs day = StartOf(Day{20'000});
    answer.segments = {
        {"served",
         {day.value + 300'000},
         {day.value + 600'000},
         {day.value + 301'000},
         {day.value + 302'000},
         1,
         1,
         20,
         TimeMs{day.value + 2'400'000},
         false},
        {"exposed",
         day,
         StartOf(Day{20'001}),
         day,
         {day.value + 86'399'000},
         2,
         2,
         31,
         StartOf(Day{20'031}),
         true},
        {"repeated", day, StartOf(Day{20'001}), day, {day.value + 9'000}, 2, 5, 33, std::nullopt, false}};
    return answer;
  }
  Result<ExposuresAnswer> Exposures(std::string_view filter, std::string_view user_id,
                                    const ExposuresQuestion& question) const override {
    if (auto e = Refusal(filter, user_id)) return Fail(*e);
    exposures_asked = std::string(question.item.value_or("-")) + " " + std::to_string(question.since.value) +
                      " " + std::to_string(question.limit) + " " + std::string(question.cursor);
    return ExposuresAnswer{as_of,
                           {{"a", "exposed", "home", 3, {1'763'700'000'001}, "r-1"},
                            {"用", "removed", "", std::nullopt, {1'763'700'000'000}, ""}},
                           next};
  }
  Result<WhyAnswer> Why(std::string_view filter, std::string_view user_id,
                        std::string_view item) const override {
    if (auto e = Refusal(filter, user_id)) return Fail(*e);
    item_asked = item;
    WhyAnswer answer = why;
    answer.as_of = as_of;
    return answer;
  }
  Result<GroupAnswer> Group(std::string_view item_id, std::string_view after) const override {
    if (error) return Fail(*error);
    group_asked = std::string(item_id) + " " + std::string(after);
    if (!group) return Fail(Code::kNotFound, "item: nothing is known of it");
    return *group;
  }
  DaemonStatus GetStatus() const override { return status; }
  void AcknowledgeLostRanges() override { ++acknowledged; }
  Result<size_t> PublishAll() override {
    if (error) return Fail(*error);
    return size_t{2};
  }

  static constexpr AsOf kAsOf{{1'763'700'000'123}, 17, std::chrono::milliseconds(240)};

 private:
  std::optional<Error> Refusal(std::string_view filter, std::string_view user_id) const {
    user_asked = user_id;
    if (error) return error;
    if (filter != "home") return Error{Code::kNotFound, "no filter named \"" + std::string(filter) + "\""};
    return std::nullopt;
  }
};

/// A status with every field set. Its two partitions differ in the optional fields.
inline DaemonStatus BusyStatus() {
  DaemonStatus status;
  status.version = "0.1.0";
  status.librdkafka_version = "2.0.2";
  status.rocksdb_version = "7.8.3";
  status.store_version = 1;
  status.brokers = "127.0.0.1:9092";
  status.brokers_reachable = true;
  status.instance_id = "host-1";
  status.is_replica = true;
  status.owner_group = "seend-a";
  status.topic = "exposures";
  status.access.certificate_not_after = TimeMs{1'900'000'000'000};
  status.forwarded = ForwardFigures{5, 2, 1};
  status.state_topic = StateTopicStatus{"seen-state",
                                        "why",
                                        {{4, {7, -1, 90, 3, 1, 1234, 2, 5, 6, 8, "no base"}}},
                                        {{5, {0.25, 99, 3}}, {6, {0, 0, 1}}}};
  status.partitions_total = 2;
  status.input_retention_ms = 604'800'000;
  status.window_days_max = 30;
  status.memory = {{"tails", 3000, 2000}, {"fetch_queues", 1500, std::nullopt}};
  status.disk = DiskSpace{1'000'000, 250'000};
  status.started_at = {1'763'000'000'000};
  status.ready = true;
  PartitionStatus ready;
  ready.partition = 0;
  ready.state = "ready";
  ready.next_offset = 100;
  ready.checkpoint_offset = 90;
  ready.low_watermark = 0;
  ready.high_watermark = 117;
  ready.lag_messages = 17;
  ready.partition_time = {1'763'700'000'123};
  ready.retention_headroom_s = 3600.5;
  ready.tail_bytes = 4096;
  ready.marks_outstanding = 5;
  ready.published_to = 80;
  ready.replays = {"run-1"};
  ready.misrouted = 2;
  ready.misrouted_last = {42, 1, "user-\xe6\x97"};  // cut within a character
  ready.lost_ranges = {{10, 20, {1'763'600'000'000}}};
  ready.filters = {{"home", TimeMs{1'763'600'000'000}}, {"video", std::nullopt}};
  ready.last_checkpoint_at = TimeMs{1'763'699'999'000};
  ready.last_checkpoint = {90, 7, 2048, 3, 1, std::chrono::milliseconds(12)};
  ready.store = {1'000'000, 4, 5000, 900, 100, 7000, 8000};
  ready.republish = {true, true, true, 20'413, 12, 7};
  ready.unexposed = UnexposedStatus{21, 22, 23, 24};
  ready.updates = UpdateFigures{31, 32, 33, 34, 35, 36, 37, "the topic is away"};
  ready.refresh = RefreshStatus{41, 42, true, false, std::chrono::milliseconds(43'000)};
  ready.heaviest_users = {{"home", "user-\xe6\x97", 4'000}, {"video", "u2", 17}};
  ready.users_at_daily_limit = 3;
  PartitionStatus opening;
  opening.partition = 1;
  opening.state = "opening";
  opening.reason = "partition 1 is being opened";
  ready.answers = true;
  ready.age = std::chrono::milliseconds(1500);
  opening.lag_is_known = false;
  opening.assigned = false;
  status.partitions = {ready, opening};
  status.troubles = {"partition 4 of \"exposures\" is refused: no state"};
  status.unread = {{{4, "no state", {1'763'700'000'000}}}, {5, 6}, {{0, 100, 17, {1'763'700'000'000}}}};
  RekeyingStatus rekeying{"raw", "seend-rekey", false, "4 messages to re-key", 17, {}, {}};
  rekeying.partitions = {{4, true, 88, 100, 12, 3}, {5, false, -1, 5, 5, 0}};
  rekeying.unread.unowned = {7};
  status.rekeying = rekeying;
  status.topics = {{"filters", "missing", "filters is missing"}, {"raw", "retention.bytes", "raw is cut"}};
  status.losses = {
      {"exposures", 200, 3.5, TimeMs{1'763'699'000'000}, {{LossCause::kTooOld, 50, 0.25, 0.05, "old"}}},
      {"raw", 0, std::nullopt, std::nullopt, {{LossCause::kSkipped, 0, 0, 0.99, ""}}}};
  ItemsStatus items{"items", "items-in-order", "seend-items", "partition 0 is catching_up", {}, rekeying, {},
                    {}};
  if (items.rekeying) items.rekeying->source_topic = "items-raw";  // so that the label differs
  items.rekeying_rejected[static_cast<size_t>(RejectReason::kNotJson)] = 1;
  ItemsPartitionStatus& of = items.partitions.emplace_back();
  of.state = "catching_up";
  of.reason = "5 items are still to be read";
  of.next_offset = 95;
  of.checkpoint_offset = 80;
  of.high_watermark = 100;
  of.lag_messages = 5;
  of.lost_messages = 6;
  of.figures = {101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 117, 118, 112, 113};
  of.cut_texts = 114;
  of.groups_sent = 115;
  of.rejected[static_cast<size_t>(RejectReason::kNotJson)] = 2;
  of.checkpoints = 116;
  of.checkpoint_seconds = 1.5;
  status.items = items;
  status.item_groups = ItemGroupsStatus{"item-groups", "", 201, 202, 203, 204, 205, 206, 207, 208, 209};
  return status;
}

}  // namespace seen
