// The parts of seenctl reshard: where rows go, and how bases get into a topic.
#include <gtest/gtest.h>

#include <map>

#include "model/delta.h"
#include "rows/keys.h"
#include "state_stream/part_reader.h"
#include "tools/state/base_sender.h"
#include "tools/state/resharded.h"

namespace seen {
namespace {

constexpr int32_t kPartitions = 16;

std::string DeltaOf(const std::string& user_id) {
  Delta delta;
  delta.user_id = user_id;
  if (!user_id.empty()) delta.segments = {{Day{20'000}, 10, 20, {{1}}}};
  if (user_id.empty()) delta.removals = {{{1}, Day{20'000}}};
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

class RouteRowTest : public testing::Test {
 protected:
  std::optional<int32_t> Route(std::string_view key, std::string_view value) {
    const auto routed = RouteRow(key, value, Partitioner::kMurmur2, kPartitions, lookup_);
    EXPECT_TRUE(routed) << routed.error().message;
    return routed ? *routed : std::nullopt;
  }
  static int32_t PartitionOfUser(const std::string& user_id) {
    return PartitionOf(Partitioner::kMurmur2, user_id, kPartitions);
  }

  std::string marked_id_;
  std::string delta_;
  const RowLookup lookup_{[this](const UserRef&) { return Result<std::string>(marked_id_); },
                          [this](const UserRef&) { return Result<std::string>(delta_); }};
};

TEST_F(RouteRowTest, AUsersRowsGoToTheUsersPartition) {
  for (const std::string user_id : {"u1", "u2", "用户", "u4", "u5"}) {
    const UserRef user{FilterId{1}, UserKeyOf(user_id)};
    const int32_t expected = PartitionOfUser(user_id);
    delta_ = DeltaOf(user_id);
    EXPECT_EQ(Route(View(KeyOf(Table::kDeltas, user)), delta_), expected);
    EXPECT_EQ(Route(View(KeyOf(Table::kMarks, user)), user_id), expected);
    EXPECT_EQ(Route(View(KeyOf(Table::kMarks, user)), ""), expected) << "an older version's";
    EXPECT_EQ(Route(View(KeyOf(Ending{17, user})), ""), expected);
    std::string served(8, '\0');
    served += std::string{static_cast<char>(user_id.size()), '\0'} + user_id + "{}";
    EXPECT_EQ(Route(View(KeyOf(ServedRow{17, user.user, {1}, 2, 3})), served), expected);
    EXPECT_EQ(Route(View(KeyOf(Table::kDeltas, {kResolvingFilter, user.user})), delta_), expected);
  }
}

TEST_F(RouteRowTest, WhoseIdIsGoneGoesEverywhereUnlessAMarkNamesIt) {
  const UserRef user{FilterId{1}, UserKeyOf("u1")};
  EXPECT_EQ(Route(View(KeyOf(Table::kDeltas, user)), DeltaOf("")), kAllPartitions);
  marked_id_ = "u1";
  EXPECT_EQ(Route(View(KeyOf(Table::kDeltas, user)), DeltaOf("")), PartitionOfUser("u1"));
  delta_ = DeltaOf("");
  EXPECT_EQ(Route(View(KeyOf(Table::kMarks, user)), ""), std::nullopt) << "nobody could publish it";
  EXPECT_EQ(Route(View(KeyOf(Ending{17, user})), ""), std::nullopt)
      << "elsewhere the user would be taken for one of whom nothing is left";
}

TEST_F(RouteRowTest, WhatIsTheOldPartitionsOwnStaysBehind) {
  const UserRef user{FilterId{1}, UserKeyOf("u1")};
  for (const std::string_view key :
       {PositionKey(), WholenessKey(), DescriptorKey(), JournalStartKey(), SweepKey()})
    EXPECT_EQ(Route(key, "u1"), std::nullopt);
  EXPECT_EQ(Route(View(KeyOf(Table::kPublished, user)), "u1"), std::nullopt);
  EXPECT_EQ(Route(View(KeyOf(Table::kMarks, {kRetiredTopicLast, user.user})), "u1"), std::nullopt);
  EXPECT_EQ(
      Route(View(KeyOf(Table::kMarks, {FilterId(size_t{kRetiredTopicLast.number()} - 1'000), user.user})),
            "u1"),
      std::nullopt);
}

TEST_F(RouteRowTest, ARowThatCantBeReadIsAnError) {
  EXPECT_FALSE(RouteRow("\x21", "", Partitioner::kMurmur2, kPartitions, lookup_));
  EXPECT_FALSE(RouteRow("\x20", "u1", Partitioner::kMurmur2, kPartitions, lookup_));
  EXPECT_FALSE(RouteRow(View(KeyOf(ServedRow{})), "short", Partitioner::kMurmur2, kPartitions, lookup_));
}

/// Takes two records at a time. Acknowledges them when PollDeliveries is called.
class SlowSink : public PartitionSink {
 public:
  bool TrySend(int32_t partition, std::string_view record, uint64_t ticket) override {
    if (waiting_.size() == 2) return false;
    auto& records = log[partition];
    waiting_.push_back(
        {partition, ticket, records.size() == lost_at ? -1 : static_cast<int64_t>(records.size())});
    records.emplace_back(record);
    sent.emplace_back(record);
    return true;
  }
  void PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) override {
    for (const PartitionDelivery& delivery : std::exchange(waiting_, {})) on_delivery(delivery);
  }
  std::map<int32_t, std::vector<std::string>> log;
  std::vector<std::string> sent;  // the records of all partitions, in order
  size_t lost_at = SIZE_MAX;

 private:
  std::vector<PartitionDelivery> waiting_;
};

BaseSender::Options SenderOptions() {
  BaseSender::Options options;
  options.places.resize(3);
  options.opening = {"group", "seenctl reshard", "0.1.0", false, {5}, 0, kNoOffset};
  options.record_bytes_max = 200;
  return options;
}

Status SendAll(BaseSender& sender) {
  Status sent = sender.Begin([](int32_t) {
    RowBatch rows;
    rows.Add({RowOp::kPut, PositionKey(), "position"});
    rows.Add({RowOp::kPut, DescriptorKey(), "descriptor"});
    return rows;
  });
  for (int32_t i = 0; i < 300 && sent; ++i) {
    const std::string key = "\x20" + std::to_string(1'000 + i);
    sent = sender.Add(i % 2, {RowOp::kPut, key, "value " + std::to_string(i * 7919)});
  }
  return sent ? sender.Finish() : sent;
}

TEST(BaseSender, EachPartitionGetsAnOpeningAndAWholeBase) {
  SlowSink sink;
  BaseSender sender(SenderOptions(), sink);
  const Status sent = SendAll(sender);
  ASSERT_TRUE(sent) << sent.error().message;
  for (int32_t partition = 0; partition < 3; ++partition) {
    const auto& records = sink.log[partition];
    ASSERT_GE(records.size(), 3U);
    const auto opening = DecodeStateRecord(records[0]);
    ASSERT_TRUE(opening);
    EXPECT_EQ(std::get<StateOpening>(*opening).group, "group");
    std::optional<PartReader> reader;
    RowBatch rows;
    for (size_t i = 1; i < records.size(); ++i) {
      EXPECT_LE(records[i].size(), 200U);
      const auto record = DecodeStateRecord(records[i]);
      ASSERT_TRUE(record);
      const auto& part = std::get<ReadStatePart>(*record);
      EXPECT_EQ(part.head.kind, StreamKind::kBase);
      EXPECT_EQ(part.head.epoch, 0);
      EXPECT_EQ(part.head.to, 0);
      if (!reader) reader.emplace(part.head);
      ASSERT_TRUE(reader->Take(part, rows));
      if (part.head.is_last) {
        EXPECT_EQ(part.head.base_at, 1);
      }
    }
    EXPECT_TRUE(reader->is_whole());
    EXPECT_EQ(rows.rows(), partition == 2 ? 2U : 152U);
    EXPECT_EQ(rows.GetRow(0).value, "position");
  }
}

TEST(BaseSender, NoBaseIsWholeUntilAllOfThemAreThere) {
  SlowSink sink;
  BaseSender sender(SenderOptions(), sink);
  ASSERT_TRUE(SendAll(sender));
  // The last parts are sent last. So if the run is cut short, no base is whole.
  ASSERT_GE(sink.sent.size(), 3U);
  for (size_t i = 0; i < sink.sent.size(); ++i) {
    const auto record = DecodeStateRecord(sink.sent[i]);
    ASSERT_TRUE(record);
    const auto* const part = std::get_if<ReadStatePart>(&*record);
    EXPECT_EQ(part != nullptr && part->head.is_last, i + 3 >= sink.sent.size()) << i;
  }
}

TEST(BaseSender, AnOlderBaseCountsUntilTheNewOneIsWhole) {
  SlowSink sink;
  BaseSender::Options options = SenderOptions();
  for (auto& place : options.places) place = {.position = 77, .older_base_at = 5};
  BaseSender sender(options, sink);
  ASSERT_TRUE(SendAll(sender));
  for (const auto& [partition, records] : sink.log) {
    for (const std::string& bytes : records) {
      const auto record = DecodeStateRecord(bytes);
      ASSERT_TRUE(record);
      if (const auto* const opening = std::get_if<StateOpening>(&*record)) {
        EXPECT_EQ(opening->position, 77);
        EXPECT_EQ(opening->base_at, 5);
        continue;
      }
      const StatePart& head = std::get<ReadStatePart>(*record).head;
      EXPECT_EQ(head.to, 77);
      EXPECT_EQ(head.base_at, head.is_last ? sender.base_at(partition) : 5);
    }
  }
}

TEST(BaseSender, ARecordThatIsGivenUpIsAnError) {
  SlowSink sink;
  sink.lost_at = 2;
  auto options = SenderOptions();
  options.refusal = [] { return std::string("not allowed"); };
  BaseSender sender(options, sink);
  const Status sent = SendAll(sender);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, "not allowed");
}

}  // namespace
}  // namespace seen
