#pragma once
// FlowTest: a partition's flow over a fake store, and a clock that the test moves.
// TimedTest: the same with its log, and with a publisher to a fake topic.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "flow/partition_flow.h"
#include "flow/publisher.h"
#include "support/fakes.h"

namespace seen::test {

class FlowTest : public ::testing::Test {
 protected:
  static constexpr int64_t kNow = 1'763'700'000'000;  // 2025-11-21T04:40:00Z

  /// Opens the partition with what the store holds, or opens it again, as after a crash.
  void OpenFlow(const PartitionOptions& with, int64_t start = 0, int64_t high = 0) {
    OpenFlow(with, start, high, clock);
  }
  void OpenFlow(const PartitionOptions& with, int64_t start, int64_t high, const Clock& by) {
    OpenFlowOver(std::make_unique<sim::FakeStore>(durable, fault, level0_files), with, durable.position,
                 start, high, by);
  }
  void OpenFlowOver(std::unique_ptr<PartitionStore> store, const PartitionOptions& with,
                    const std::optional<Position>& position, int64_t start, int64_t high, const Clock& by) {
    partition = std::make_shared<OpenPartition>();
    partition->store = std::move(store);
    partition->flow = std::make_unique<PartitionFlow>(with, position, start, high, *partition->store,
                                                      dead_letters, reporter, by);
    flow = partition->flow.get();
  }
  /// An event as the front end sends it, in the record at the next offset.
  Result<size_t> SendNext(std::string value, int64_t timestamp_ms) {
    record_values.push_back(std::move(value));
    const Record record{next++, {timestamp_ms}, "u1", record_values.back(), false};
    return flow->intake.Apply({&record, 1});
  }
  bool Seen(std::string_view item, std::string_view user = "u1", FilterIndex filter = 0) {
    const auto delta = sim::ReadDecoded(flow->reader, filter, UserKeyOf(user));
    EXPECT_TRUE(delta.has_value());
    const Day horizon = flow->state.options().filters[filter].AnswerHorizon(clock.WallNow());
    const auto seen = SeenFingerprints(*delta, horizon, 10'000);
    return std::binary_search(seen.begin(), seen.end(), FingerprintOf(item));
  }
  void Checkpoint() {
    flow->intake.Freeze();
    const auto written = flow->checkpoint.Write();
    ASSERT_TRUE(written.has_value()) << written.error().message;
  }

  sim::VirtualClock clock;
  sim::CountingReporter reporter;
  std::mt19937_64 random{1};
  sim::FakeDeadLetters dead_letters{random};
  sim::DurableState durable;
  sim::StoreFault fault = sim::StoreFault::kNone;
  uint32_t level0_files = 0;
  std::shared_ptr<OpenPartition> partition;
  PartitionFlow* flow = nullptr;  // of the open partition
  std::deque<std::string> record_values;
  int64_t next = 0;
};

class TimedTest : public FlowTest {
 protected:
  TimedTest() {
    topic.fail_percent = 0;
    topic.deliver_all = true;
    clock.SetWall(kNow);
    format.wanted = {true, true, true, true, true};
    FilterPolicy filter;
    filter.name = "home";
    filter.snapshot = SnapshotPolicy{};
    options.filters = {filter};
  }
  /// Opens the partition, or opens it again, as after a crash.
  void Open() {
    const auto plan = EventPlan::Make(format);
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    options.plan = *plan;
    const int64_t end = static_cast<int64_t>(log.size());
    opened.Take(0);
    OpenFlow(options, 0, end);
    opened.Add(partition);
    publisher.emplace(opened, topic, reporter, clock, Publisher::Options());
    const int64_t from = flow->intake.ReadFrom(0);
    for (int64_t offset = from; offset < end; ++offset) Apply(offset);
    flow->intake.ReachedEnd(end);
  }
  void Send(std::string value, std::optional<int64_t> timestamp_ms = std::nullopt) {
    log.push_back({timestamp_ms.value_or(clock.WallNow().value), std::move(value)});
    Apply(static_cast<int64_t>(log.size()) - 1);
  }
  /// Replays an event of a history. If `value` is empty, sends the mark that `note` names.
  void Replay(std::string value, ReplayNote note, std::optional<int64_t> timestamp_ms = std::nullopt) {
    log.push_back({timestamp_ms.value_or(clock.WallNow().value), std::move(value), note});
    Apply(static_cast<int64_t>(log.size()) - 1);
  }
  static std::string Event(std::string_view kind, std::string_view item, int64_t at_ms,
                           std::string_view user = "u1", std::string_view more = "") {
    std::string json = R"({"user_id":")" + std::string(user) + R"(","kind":")" + std::string(kind) + '"';
    if (!item.empty()) json += R"(,"item_id":")" + std::string(item) + '"';
    return json + std::string(more) + R"(,"exposed_at":)" + std::to_string(at_ms) + "}";
  }
  bool Seen(std::string_view item, std::string_view user = "u1", FilterIndex filter = 0) {
    SeenReader reader;
    const Status read = flow->reader.ReadSeen(filter, UserKeyOf(user),
                                              options.filters[filter].AnswerAt(clock.WallNow()), reader);
    EXPECT_TRUE(read.has_value());
    return reader.seen().Contains(FingerprintOf(item));
  }
  /// Lets the publisher work for a while. Writes the checkpoint that the snapshots of a new day wait for.
  void Publish(int rounds = 6) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < 4; ++i) {
        publisher->Step();
        if (flow->sweep.IsUrgent()) Checkpoint();
      }
      clock.Advance(600);
    }
  }
  /// From here on publication is left to marks. Set options.behind_age to -1 ms before Open.
  void FallBehind() { flow->state.SetWatermarks(0, static_cast<int64_t>(log.size()) + kBehind); }
  /// The rest of the log is a gap. Send nothing afterwards.
  void CatchUp() { flow->intake.ReachedEnd(static_cast<int64_t>(log.size()) + kBehind); }
  /// Whether the published snapshot has the item. False if there is no snapshot, or a tombstone.
  bool Published(std::string_view item, const std::string& user = "u1", FilterIndex filter = 0) {
    const auto found = topic.topic.find({filter, user});
    if (found == topic.topic.end()) return false;
    const auto view = SnapshotView::Parse(found->second);
    EXPECT_TRUE(view.has_value());
    return view && view->MightContain(item);
  }
  bool HasSnapshot(const std::string& user = "u1", FilterIndex filter = 0) {
    return topic.topic.contains({filter, user});
  }

  static constexpr int64_t kBehind = 1'000'000;
  struct Logged {
    int64_t timestamp_ms;
    std::string value;
    std::optional<ReplayNote> replay = std::nullopt;
  };
  EventFormat format;
  PartitionOptions options;
  sim::FakeSnapshotTopic topic{random};
  OpenPartitions opened;
  std::optional<Publisher> publisher;
  std::deque<Logged> log;

 private:
  void Apply(int64_t offset) {
    const Logged& logged = log[static_cast<size_t>(offset)];
    Record record{offset, {logged.timestamp_ms}, "u1", logged.value, logged.replay && logged.value.empty()};
    if (logged.replay) record.replay = &*logged.replay;
    const auto taken = flow->intake.Apply({&record, 1});
    ASSERT_TRUE(taken.has_value());
    ASSERT_EQ(*taken, 1u);
  }
};

}  // namespace seen::test
