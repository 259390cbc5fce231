#include "similar/consume/items_handler.h"

#include <gtest/gtest.h>

#include "consume/stream_status.h"
#include "consume/topic_consumer.h"
#include "model/partitioner.h"
#include "similar/groups/item_reading.h"
#include "support/fake_group_log.h"
#include "support/fake_items.h"
#include "support/fakes.h"

namespace seen {
namespace {
using namespace std::chrono_literals;

using FakeEntry = sim::FakeGroupsTopic::Entry;

class ItemsTakerTest : public testing::Test, public ConsumerWait {
 protected:
  void WaitForSpace(std::chrono::milliseconds time) override { clock_.Advance(time.count()); }

  void Start(bool rebuild = false, std::vector<int32_t> partitions = {0, 1}) {
    if (log_) log_->Crash();
    log_.reset();
    runner_.reset();
    handler_.reset();
    ItemsHandlerOptions options;
    options.topic = "items";
    options.partitions = 2;
    options.future_skew_max = 600s;
    options.checkpoint_interval = 1s;
    options.make_reading = [this](const FeatureOptions& features) {
      ItemReadingOptions reading;
      reading.record_bytes_max = 1 << 20;
      reading.future_skew_max = 600s;
      reading.clock = &clock_;
      reading.features = features;
      return std::make_unique<ItemReading>(reading);
    };
    options.make_sink = [this](const std::string& decided_by) -> Result<std::unique_ptr<GroupSink>> {
      return groups_.MakeSink(decided_by);
    };
    options.instance = "seend-1";
    options.watch_groups = groups_.Watch();
    options.lease = lease_;
    options.awaits = [this] { return awaited_; };
    handler_ = std::make_unique<ItemsHandler>(options, indexes_, letters_, *this, clock_);
    TopicConsumer::Options run;
    run.topic = "items";
    run.rebuild = rebuild;
    runner_ = std::make_unique<TopicConsumer>(run, *handler_, *this, clock_);
    log_ = std::make_unique<sim::FakeGroupLog>(topic_, *runner_, 1);
    runner_->SetLog(*log_);
    log_->Assign(std::move(partitions));
    Steps();
  }
  void Steps(int count = 20) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(runner_->StepControl(0ms));
      runner_->StepWorker(0, 0ms);
      clock_.Advance(200);
    }
  }
  void Send(int32_t partition, const std::string& id, const std::string& text = "one two three four five") {
    const TimeMs now = clock_.WallNow();
    topic_.Append(partition, {now, id,
                              R"({"item_id":")" + id + R"(","created_at":)" + std::to_string(now.value) +
                                  R"(,"text":")" + text + "\"}"});
  }
  void SendUnreadable(int32_t partition) { topic_.Append(partition, {clock_.WallNow(), "?", "[]"}); }

  ItemsStatus Status() const {
    ItemsStatus status;
    handler_->AddStatus(runner_->Problems(), status);
    return status;
  }
  std::string Refusal(int32_t partition) const {
    for (const RefusedPartition& refused : Status().unread.refused) {
      if (refused.partition == partition) return refused.reason;
    }
    return "";
  }
  /// The next offset of the index on disk. -1: the index has no position.
  int64_t Durable(int32_t partition) {
    const auto position = indexes_.disks[partition].ReadPosition();
    return *position ? (*position)->next_offset : -1;
  }
  /// A language whose items go to `partition`.
  static std::string LanguageOf(int32_t partition) {
    for (const char* lang : {"en", "zh", "de", "fr", "ru", "ja"}) {
      if (PartitionOf(Partitioner::kMurmur2, lang, 2) == partition) return lang;
    }
    return "";
  }
  Result<SimilarAnswer> Ask(int32_t partition) {
    const std::string lang = LanguageOf(partition);
    return handler_->Similar({{"", "one two three four five", lang}, "", 10});
  }

  sim::VirtualClock clock_;
  sim::FakeTopic topic_{2};
  sim::FakeItemIndexes indexes_;
  sim::FakeGroupsTopic groups_;
  sim::FakeItemLetters letters_;
  const PublishLease* lease_ = nullptr;
  std::string awaited_;
  std::unique_ptr<ItemsHandler> handler_;
  std::unique_ptr<TopicConsumer> runner_;
  std::unique_ptr<sim::FakeGroupLog> log_;
};

TEST_F(ItemsTakerTest, CommitsWhatIsInTheIndexAndGoesOnFromThere) {
  topic_.on_commit = [&](int32_t partition, int64_t offset) {
    EXPECT_LE(offset, Durable(partition)) << "committed before it was durable";
  };
  Send(0, "a");
  Send(0, "b");
  Start();
  EXPECT_EQ(Durable(0), 2);
  EXPECT_EQ(topic_.committed(0), 2);
  EXPECT_EQ(groups_.records.at("b").group_id, "a");
  Send(0, "c");
  runner_->StepWorker(0, 0ms);
  runner_->Close(0ms);
  EXPECT_EQ(topic_.committed(0), 3) << "with a last checkpoint";
  Send(0, "d");
  Start();
  EXPECT_EQ(Durable(0), 4);
  EXPECT_EQ(groups_.records.at("d").group_id, "a");
}

TEST_F(ItemsTakerTest, AnIndexThatIsRefusedOrCorruptStopsItsPartitionAlone) {
  for (const Code code : {Code::kRefused, Code::kCorrupt}) {
    indexes_.open_fails = {{0, {code, "built with another similarity_min. Remedy: --rebuild"}}};
    Send(0, "a");
    Send(1, "b");
    Start();
    EXPECT_EQ(Refusal(0), "built with another similarity_min. Remedy: --rebuild");
    EXPECT_EQ(Refusal(1), "");
    EXPECT_EQ(Durable(1), topic_.watermarks(1).high);
    EXPECT_NE(Status().problem.find("partition 0 is refused: built with"), std::string::npos);
    const auto answer = Ask(0);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::kUnavailable);
    EXPECT_NE(answer.error().message.find("built with another"), std::string::npos);
    EXPECT_TRUE(Ask(1)) << Ask(1).error().message;
  }
}

TEST_F(ItemsTakerTest, RebuildDropsAnIndexThatDoesNotFitAndReadsFromTheEarliest) {
  Send(0, "a");
  Start();
  indexes_.open_fails = {{0, {Code::kCorrupt, "a block's checksum is wrong"}}};
  Send(0, "b");
  Start(true);
  EXPECT_EQ(Refusal(0), "");
  EXPECT_EQ(indexes_.removed, 1);
  EXPECT_EQ(Status().partitions.at(0).figures.items, 2u);
}

TEST_F(ItemsTakerTest, AnIndexThatTurnsOutCorruptStopsItsPartitionAlone) {
  Start();
  indexes_.on_write = [](int32_t partition) {
    return partition == 0 ? std::optional(Error{Code::kCorrupt, "a block's checksum is wrong"})
                          : std::nullopt;
  };
  Send(0, "a");
  Send(1, "b");
  Steps();
  EXPECT_EQ(Refusal(0), "a block's checksum is wrong");
  EXPECT_EQ(Durable(1), 1);
  EXPECT_FALSE(indexes_.is_open.contains(0)) << "it can be looked at, or removed";
}

TEST_F(ItemsTakerTest, AFullDiskIsTriedAgain) {
  indexes_.open_fails = {{0, {Code::kNoSpace, "no space left on the disk"}}};
  Send(0, "a");
  Send(1, "b");
  Start();
  EXPECT_EQ(Durable(1), 1);
  const auto partitions = Status().partitions;
  const auto opening = std::find_if(partitions.begin(), partitions.end(),
                                    [](const ItemsPartitionStatus& of) { return of.partition == 0; });
  ASSERT_NE(opening, partitions.end());
  EXPECT_EQ(opening->state, "opening");
  EXPECT_EQ(opening->reason, "no space left on the disk");
  indexes_.open_fails.clear();
  Steps();
  EXPECT_EQ(Durable(0), 1);

  // The same at a checkpoint. The index goes back to its last checkpoint, and the handler reads the later
  // items again.
  bool full = true;
  indexes_.on_checkpoint = [&](int32_t) {
    return full ? std::optional(Error{Code::kNoSpace, "no space left"}) : std::nullopt;
  };
  Send(0, "c");
  Steps();
  EXPECT_EQ(Durable(0), 1);
  EXPECT_EQ(Status().problem, "partition 0 is held: no space left");
  full = false;
  Steps();
  EXPECT_EQ(Durable(0), 2);
  EXPECT_EQ(Status().problem, "");
}

TEST_F(ItemsTakerTest, NothingIsDurableWhoseResultsHaveNotArrived) {
  Start();
  groups_.acknowledges = false;
  Send(0, "a");
  Steps();
  EXPECT_LE(Durable(0), 0);
  Send(0, "b");
  Steps();
  EXPECT_EQ(Status().partitions.at(0).state, "held");
  EXPECT_EQ(Status().partitions.at(0).next_offset, 1) << "a checkpoint that waits isn't overtaken";
  Steps(200);
  EXPECT_NE(Status().problem.find("no acknowledgement"), std::string::npos) << Status().problem;
  groups_.acknowledges = true;
  Steps();
  EXPECT_EQ(Durable(0), 2);
  EXPECT_EQ(Status().problem, "");
}

TEST_F(ItemsTakerTest, WhatTheTopicOfGroupsHasGivenUpOnIsSentAgain) {
  Start();
  groups_.gives_up = true;
  Send(0, "a");
  Steps();
  EXPECT_EQ(Durable(0), 1);
  EXPECT_TRUE(groups_.records.contains("a"));
  EXPECT_EQ(Refusal(0), "") << "the index is sound";
}

TEST_F(ItemsTakerTest, AFullQueueOfGroupsHoldsThePartitionAndLosesNothing) {
  groups_.queue_max = 1;
  groups_.acknowledges = false;
  for (int i = 0; i < 5; ++i) Send(0, "n" + std::to_string(i));
  Start();
  EXPECT_LE(Status().partitions.at(0).next_offset, 2);
  groups_.acknowledges = true;
  Steps();
  EXPECT_EQ(Durable(0), 5);
  EXPECT_EQ(groups_.records.size(), 5u);
}

TEST_F(ItemsTakerTest, NoGroupIsSentWithoutTheLeaseAndNoneIsLost) {
  CommitLease lease(LeaseTimes::Of(45s));
  lease_ = &lease;
  topic_.on_commit = [&](int32_t partition, int64_t) { lease.Committed(partition, clock_.Now()); };
  Start();
  EXPECT_EQ(topic_.committed(0), 0) << "an index that is new tells the group where it begins: no lease else";
  Send(0, "a");
  Steps();
  EXPECT_EQ(Durable(0), 1);
  EXPECT_TRUE(groups_.records.contains("a"));

  topic_.on_commit = nullptr;  // no commit succeeds
  clock_.Advance(60'000);
  lease.Ended(0, clock_.Now());
  Send(0, "b");
  Send(0, "c");
  Steps();
  EXPECT_FALSE(groups_.records.contains("b"));
  EXPECT_EQ(Durable(0), 1);
  EXPECT_EQ(Status().partitions.at(0).reason, "the lease has ended: waiting for a commit of offsets");
  EXPECT_EQ(Status().leases_lapsed, 1u);

  topic_.on_commit = [&](int32_t partition, int64_t) { lease.Committed(partition, clock_.Now()); };
  Steps();
  EXPECT_EQ(Durable(0), 3);
  EXPECT_EQ(groups_.records.at("c").group_id, "a");
  EXPECT_EQ(Status().problem, "");
  EXPECT_EQ(Status().leases_lapsed, 1u);
}

TEST_F(ItemsTakerTest, AForeignGroupIsReplacedByWhatWasDecidedAlsoOfWhileNobodyOwnedTheIndex) {
  Start();
  Send(0, "a");
  Steps();
  const auto of_other = [](FakeEntry old) {
    old.decided_by = "0/another/1";
    return old;
  };
  const FakeEntry old = of_other(groups_.log.at(0));
  Send(0, "b");
  Send(1, "elsewhere", "six seven eight nine ten");
  Steps();
  const auto right = groups_.records;
  ASSERT_EQ(right.at("a").near.size(), 1u);
  EXPECT_EQ(Status().foreign_groups, 0u) << "its own don't count";
  groups_.Put(old);
  EXPECT_NE(groups_.records, right);
  Steps();
  EXPECT_EQ(groups_.records, right);
  EXPECT_EQ(Status().foreign_groups, 1u);
  EXPECT_EQ(indexes_.disks[0].ReadPosition()->value().groups_verified.at(0), std::ssize(groups_.log) - 1)
      << "a checkpoint follows, though no item came";

  log_->Crash();
  groups_.Put(old);
  groups_.Put({"b", std::nullopt, "0/another/1"});
  groups_.Put({"elsewhere", "{", "1/another/1"});
  Start();
  EXPECT_EQ(groups_.records, right);
  EXPECT_EQ(Status().foreign_groups, 3u);
}

TEST_F(ItemsTakerTest, NothingIsReplacedWhereTheIndexIsBehindOrTheLeaseHasEnded) {
  CommitLease lease(LeaseTimes::Of(45s));
  lease_ = &lease;
  topic_.on_commit = [&](int32_t partition, int64_t) { lease.Committed(partition, clock_.Now()); };
  Start();
  Send(0, "a");
  Steps();
  const FakeEntry old{"a", groups_.log.at(0).value, "0/another/1"};
  Send(0, "b");
  Steps();
  topic_.on_commit = nullptr;
  lease.Ended(0, clock_.Now());
  groups_.Put(old);
  Steps();
  EXPECT_EQ(groups_.records.at("a").near.size(), 0u) << "the other one may be the owner by now";
  EXPECT_EQ(Status().foreign_groups, 0u);
  topic_.on_commit = [&](int32_t partition, int64_t) { lease.Committed(partition, clock_.Now()); };
  Steps();
  EXPECT_EQ(groups_.records.at("a").near.size(), 1u);
  EXPECT_EQ(Status().foreign_groups, 1u);
}

TEST_F(ItemsTakerTest, ATopicOfGroupsThatCannotBeWatchedHoldsUpNothingOnceTheIndexIsOpen) {
  groups_.watch_fails = {Code::kUnavailable, "no broker"};
  Send(0, "a");
  Start();
  EXPECT_EQ(Status().partitions.at(0).state, "opening");
  EXPECT_EQ(Status().partitions.at(0).reason, "no broker");
  groups_.watch_fails.reset();
  Steps();
  EXPECT_EQ(Durable(0), 1);
  groups_.watch_fails = {Code::kRefused, "the offset to read next is gone"};
  Send(0, "b");
  Steps();
  EXPECT_EQ(Durable(0), 2);
  groups_.watch_fails.reset();
  groups_.Put({"b", std::nullopt, ""});
  Steps();
  EXPECT_TRUE(groups_.records.contains("b"));
  EXPECT_EQ(Status().problem, "");
}

TEST_F(ItemsTakerTest, UnreadableItemsAreSentOnceAndBeforeAnythingBehindThemIsDurable) {
  letters_.queue_max = 2;
  Send(0, "a");
  for (int i = 0; i < 3; ++i) SendUnreadable(0);
  Send(0, "b");
  Start();
  EXPECT_EQ(Status().partitions.at(0).next_offset, 3) << "as far as letters are under way";
  EXPECT_LE(Durable(0), 1);
  letters_.Deliver();
  Steps();
  EXPECT_EQ(letters_.sent, 3u);
  EXPECT_LT(Durable(0), 4);
  letters_.Deliver();
  Steps();
  EXPECT_EQ(Durable(0), 5);
  EXPECT_EQ(letters_.arrived[0], (std::set<int64_t>{1, 2, 3}));
  EXPECT_EQ(Status().partitions.at(0).rejected[static_cast<size_t>(RejectReason::kWrongType)] +
                Status().partitions.at(0).rejected[static_cast<size_t>(RejectReason::kNotJson)],
            3u);
}

TEST_F(ItemsTakerTest, MuchThatIsUnsavedDoesNotWaitForTheNextCheckpoint) {
  indexes_.bytes_a_write = 40 << 20;
  Start();
  Send(0, "a");
  Send(0, "b");
  runner_->StepWorker(0, 0ms);
  EXPECT_EQ(Durable(0), 2);
}

TEST_F(ItemsTakerTest, WhatRetentionHasDeletedIsCounted) {
  for (int i = 0; i < 4; ++i) Send(0, "n" + std::to_string(i));
  Start();
  runner_->Close(0ms);
  for (int i = 4; i < 8; ++i) Send(0, "n" + std::to_string(i));
  topic_.DeleteTo(0, 6);
  Start();
  EXPECT_EQ(Status().partitions.at(0).lost_messages, 2u);
  EXPECT_EQ(Durable(0), 8);
}

TEST_F(ItemsTakerTest, ALogThatWasCutIsReportedByTheRunner) {
  for (int i = 0; i < 4; ++i) Send(0, "n" + std::to_string(i));
  Start();
  topic_.Recreate(0);
  Start();
  EXPECT_NE(Refusal(0).find("the topic was recreated, or its log was cut"), std::string::npos) << Refusal(0);
  EXPECT_EQ(Refusal(1), "");
}

TEST_F(ItemsTakerTest, APartitionThatWasAddedIsRefusedAndTheOthersGoOn) {
  topic_.AddPartition();
  Send(0, "a");
  Start(false, {0, 1, 2});
  EXPECT_NE(Refusal(2).find("was added to topic \"items\""), std::string::npos);
  EXPECT_EQ(Durable(0), 1);
}

TEST_F(ItemsTakerTest, QuestionsAreAnsweredOnceEverythingIsReadAndOrdered) {
  Send(0, "a");
  Start(false, {0});
  awaited_ = "3 items are still to be put in order";
  EXPECT_EQ(Ask(0).error().message, awaited_);
  awaited_.clear();
  const auto answer = Ask(0);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->similar.size(), 1u);
  EXPECT_EQ(answer->similar[0].item_id, "a");
  EXPECT_NE(Ask(1).error().message.find("isn't this daemon's; ask the others"), std::string::npos);
  Send(0, "b");
  handler_->Refused(0, "");
  log_->Revoke({0});
  Steps();
  EXPECT_NE(Ask(0).error().message.find("isn't this daemon's"), std::string::npos);
}

}  // namespace
}  // namespace seen
