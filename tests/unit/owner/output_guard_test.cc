#include "owner/output_guard.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace seen {
namespace {
using ForeignRange = OutputGuard::Range;

constexpr OutputPlace kPlace{FilterIndex{1}, 4};

class OutputGuardTest : public testing::Test {
 protected:
  OutputGuardTest() { guard_.Own(kPlace.partition); }
  void Deliver(int64_t offset, OutputPlace place = kPlace) {
    const OutputGuard::Delivered one{place, offset};
    guard_.OnDelivered({&one, 1});
  }
  // Asks as the watch does.
  void Ask(int64_t end) { guard_.AtEnd(kPlace, Expected(), end); }
  std::optional<int64_t> Expected() const {
    const auto expected = guard_.Expected();
    const auto found = expected.find(kPlace);
    return found == expected.end() ? std::nullopt : std::optional(found->second);
  }
  OutputGuard guard_;
};

TEST_F(OutputGuardTest, ItsOwnRecordsAreNobodyElses) {
  for (int64_t offset = 70; offset < 90; ++offset) Deliver(offset);
  Ask(90);
  Ask(90);
  EXPECT_TRUE(guard_.TakeForeign().empty());
  EXPECT_EQ(Expected(), 90);
}

TEST_F(OutputGuardTest, WhatStoodBeforeIsOfNoConcern) {
  Ask(50);
  Deliver(50);
  EXPECT_TRUE(guard_.TakeForeign().empty());
}

TEST_F(OutputGuardTest, WhatStoodJustBeforeIsLookedBackAtOnce) {
  EXPECT_EQ(guard_.TakeUnverified(), std::vector<int32_t>{kPlace.partition});
  EXPECT_TRUE(guard_.TakeUnverified().empty()) << "once";
  guard_.PutBackUnverified(kPlace.partition);
  guard_.PutBackUnverified(9);  // this process doesn't own it
  EXPECT_EQ(guard_.TakeUnverified(), std::vector<int32_t>{kPlace.partition}) << "brokers didn't answer";
  guard_.LookBack(kPlace, 40, 50);
  guard_.LookBack(kPlace, 50, 50);
  guard_.LookBack({kPlace.filter, 9}, 1, 2);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 40, 50, false}}));
  guard_.PutBackUnverified(kPlace.partition);
  guard_.Disown(kPlace.partition);
  EXPECT_TRUE(guard_.TakeUnverified().empty());
}

TEST_F(OutputGuardTest, ItsOwnRecordsAreNotLookedBackAt) {
  Deliver(50);
  Deliver(51);
  guard_.LookBack(kPlace, 50, 52);
  EXPECT_TRUE(guard_.TakeForeign().empty()) << "it wrote before it looked";
  guard_.LookBack(kPlace, 40, 52);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 40, 50, false}}));
}

TEST_F(OutputGuardTest, ItLooksBackFromWhereItBeganToWatch) {
  Ask(50);
  Deliver(50);
  guard_.LookBack(kPlace, 40, 51);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 40, 50, false}}));
}

TEST_F(OutputGuardTest, ItWatchesFromWhereItLookedBackFrom) {
  guard_.LookBack(kPlace, 40, 50);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 40, 50, false}}));
  Ask(51);
  Ask(51);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 50, 51}}))
      << "somebody wrote between the two questions";
}

TEST_F(OutputGuardTest, AnEndCountsOnceItIsKnownThatNothingWasCut) {
  EXPECT_FALSE(guard_.KnowsFloors(kPlace.partition));
  Ask(50);
  Deliver(50);
  EXPECT_EQ(guard_.EndOf(kPlace), std::nullopt) << "the state may know of more records";
  guard_.RaiseFloor(kPlace, 40);
  guard_.KnowFloors(kPlace.partition, std::vector<int64_t>{-1});
  EXPECT_TRUE(guard_.KnowsFloors(kPlace.partition));
  EXPECT_EQ(guard_.EndOf(kPlace), 51);
  guard_.Own(kPlace.partition);
  EXPECT_FALSE(guard_.KnowsFloors(kPlace.partition)) << "others may have owned it meanwhile";
}

TEST_F(OutputGuardTest, TheFormerOwnersEndCountsAtLeastWhileTheStatesIsNotKnown) {
  guard_.RaiseFloor(kPlace, 40);
  EXPECT_EQ(guard_.EndOf(kPlace), 40) << "the next owner must be able to find a cut";
  Deliver(50);
  EXPECT_EQ(guard_.EndOf(kPlace), 51) << "what was published since stands there";
  guard_.RaiseFloor(kPlace, 60);
  EXPECT_EQ(guard_.EndOf(kPlace), 60);
}

TEST_F(OutputGuardTest, ACutPlaceHasNoEndUntilItsUsersAreRequested) {
  guard_.RaiseFloor(kPlace, 40);
  guard_.KnowFloors(kPlace.partition, std::vector<int64_t>{-1});
  Deliver(10);
  EXPECT_EQ(guard_.EndOf(kPlace), std::nullopt);
  EXPECT_TRUE(guard_.MayBeCut(kPlace.partition));
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  EXPECT_EQ(guard_.EndOf(kPlace), std::nullopt) << "they aren't requested yet";
  guard_.PutBackCut(kPlace);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  Deliver(3);  // it is cut once more
  guard_.Requested(kPlace);
  EXPECT_EQ(guard_.EndOf(kPlace), std::nullopt);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  EXPECT_TRUE(guard_.MayBeCut(kPlace.partition));
  guard_.Requested(kPlace);
  EXPECT_FALSE(guard_.MayBeCut(kPlace.partition));
  EXPECT_EQ(guard_.EndOf(kPlace), 4);
}

TEST_F(OutputGuardTest, EachCutBeginsAnotherLogAndWaitsForItsBeat) {
  guard_.KnowFloors(kPlace.partition, std::vector<int64_t>{-1});
  EXPECT_EQ(guard_.LogOf(kPlace), 0);
  guard_.ContinueFormer(kPlace, 7, 40);
  guard_.ContinueFormer(kPlace, 6, 90);
  EXPECT_EQ(guard_.LogOf(kPlace), 7) << "by the former owner, who knew of seven cuts";
  const uint64_t before = guard_.Ownership(kPlace.partition);
  guard_.BeatArrived(kPlace.partition, before);
  EXPECT_TRUE(guard_.MayWrite(kPlace.partition));
  Deliver(10);
  EXPECT_EQ(guard_.LogOf(kPlace), 8);
  EXPECT_FALSE(guard_.MayWrite(kPlace.partition)) << "readers must hear of it before the topic grows again";
  guard_.BeatArrived(kPlace.partition, before);
  EXPECT_FALSE(guard_.MayWrite(kPlace.partition)) << "that beat was made before";
  guard_.BeatArrived(kPlace.partition, guard_.Ownership(kPlace.partition));
  EXPECT_TRUE(guard_.MayWrite(kPlace.partition));
  guard_.Disown(kPlace.partition);
  guard_.Own(kPlace.partition);
  EXPECT_EQ(guard_.LogOf(kPlace), 8);
  guard_.BeginLog(kPlace, 12);
  EXPECT_EQ(guard_.LogOf(kPlace), 13) << "another topic's log";
}

TEST_F(OutputGuardTest, ACutBeforeTheFormerOwnersBeatIsKnownIsAnotherLogAllTheSame) {
  guard_.RaiseFloor(kPlace, 40);
  Ask(10);
  Ask(10);
  guard_.ContinueFormer(kPlace, 1, 40);
  EXPECT_EQ(guard_.LogOf(kPlace), 2);
  guard_.KnowFloors(kPlace.partition, std::vector<int64_t>{-1});
  Ask(10);
  EXPECT_EQ(guard_.TakeCut().size(), 1u) << "and it is no further cut";
}

TEST_F(OutputGuardTest, EndsOfAnEarlierLogCountNoMore) {
  Deliver(999);
  guard_.Disown(kPlace.partition);
  guard_.Own(kPlace.partition);
  guard_.ContinueFormer(kPlace, 1, 300);  // the former owner has found the cut
  Ask(310);
  Ask(310);
  EXPECT_TRUE(guard_.TakeCut().empty());
}

TEST_F(OutputGuardTest, AFormerOwnersEndIsKeptUntilThePartitionIsOwned) {
  guard_.Disown(kPlace.partition);
  guard_.ContinueFormer(kPlace, 2, 300);
  guard_.Own(kPlace.partition);
  EXPECT_EQ(guard_.LogOf(kPlace), 2);
  Ask(250);
  Ask(250);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
}

TEST_F(OutputGuardTest, APartitionThatComesBackHasNotBecomeShorter) {
  Deliver(70);
  guard_.Disown(kPlace.partition);
  guard_.Own(kPlace.partition);
  Ask(90);
  EXPECT_TRUE(guard_.TakeCut().empty()) << "somebody else wrote meanwhile";
  Deliver(90);
  guard_.Disown(kPlace.partition);
  guard_.Own(kPlace.partition);
  Ask(60);
  EXPECT_TRUE(guard_.TakeCut().empty()) << "a leader that is new may not know its end yet";
  Ask(60);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  Deliver(60);
  Ask(61);
  EXPECT_TRUE(guard_.TakeCut().empty()) << "once";
  guard_.Disown(kPlace.partition);
  guard_.Own(kPlace.partition);
  Deliver(30);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace}) << "it published before it asked";
}

TEST_F(OutputGuardTest, WhatWasDeliveredAfterTheLossIsStillThereWhenThePartitionComesBack) {
  Deliver(70);
  guard_.Disown(kPlace.partition);
  Deliver(71);  // was sent before
  Deliver(72);
  guard_.Own(kPlace.partition);
  Ask(71);
  Ask(71);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
}

TEST_F(OutputGuardTest, WhoIsToldTwiceThatAPartitionIsItsOwnStillKnowsItsEnd) {
  Deliver(70);
  guard_.Own(kPlace.partition);
  Ask(60);
  Ask(60);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
}

TEST_F(OutputGuardTest, WhatTheStateKnowsOfAnEndCounts) {
  guard_.RaiseFloor(kPlace, 70);
  Ask(60);
  EXPECT_TRUE(guard_.TakeCut().empty());
  Ask(60);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  Ask(60);
  EXPECT_EQ(Expected(), 60);
  EXPECT_TRUE(guard_.TakeCut().empty()) << "once";
}

TEST_F(OutputGuardTest, WhatTheStateKnowsOfAnEndCountsAfterTheFirstQuestionToo) {
  Ask(60);
  guard_.RaiseFloor(kPlace, 50);
  EXPECT_EQ(Expected(), 60) << "the end is beyond it";
  guard_.RaiseFloor(kPlace, 70);
  Deliver(60);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
}

TEST_F(OutputGuardTest, ACutThatNobodyRepairedWaitsForThePartition) {
  Deliver(70);
  Deliver(30);
  guard_.Disown(kPlace.partition);
  EXPECT_TRUE(guard_.TakeCut().empty());
  guard_.Own(kPlace.partition);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  guard_.PutBackCut(kPlace);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace}) << "the partition wasn't open yet";
  EXPECT_TRUE(guard_.TakeCut().empty());
}

TEST_F(OutputGuardTest, AGapBetweenItsOwnRecordsIsSomebodyElses) {
  Deliver(7);
  Deliver(10);
  Deliver(11);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 8, 10}}));
  EXPECT_TRUE(guard_.TakeForeign().empty()) << "once";
}

TEST_F(OutputGuardTest, SoIsWhatStaysBehindItsLast) {
  Deliver(7);
  Ask(10);
  EXPECT_TRUE(guard_.TakeForeign().empty()) << "reports may be on their way";
  Ask(12);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 8, 10}}));
  Ask(12);
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 10, 12}}));
}

TEST_F(OutputGuardTest, ReportsThatWereOnTheirWayClearTheSuspicion) {
  Deliver(7);
  Ask(10);
  Deliver(8);
  Deliver(9);
  Ask(10);
  EXPECT_TRUE(guard_.TakeForeign().empty());
}

TEST_F(OutputGuardTest, AnEndAskedForBeforeAReportIsNoCut) {
  Deliver(7);
  const auto expected = Expected();
  Deliver(8);
  guard_.AtEnd(kPlace, expected, 8);
  guard_.AtEnd(kPlace, expected, 8);
  EXPECT_TRUE(guard_.TakeCut().empty());
}

TEST_F(OutputGuardTest, AnEndThatStaysBeforeItsOwnIsACut) {
  Deliver(7);
  Ask(5);
  EXPECT_TRUE(guard_.TakeCut().empty()) << "a new leader";
  Ask(5);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  Deliver(5);
  Ask(6);
  Ask(6);
  EXPECT_TRUE(guard_.TakeForeign().empty());
  EXPECT_TRUE(guard_.TakeCut().empty());
}

TEST_F(OutputGuardTest, ReportsThatGoBackAreACut) {
  Deliver(700);
  Deliver(0);
  Deliver(1);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace});
  EXPECT_TRUE(guard_.TakeForeign().empty());
}

TEST_F(OutputGuardTest, AnOffsetThatIsReportedAgainIsACut) {
  Deliver(50);
  Deliver(50);
  EXPECT_EQ(guard_.TakeCut(), std::vector<OutputPlace>{kPlace}) << "the topic lost its last record";
}

TEST_F(OutputGuardTest, ItSaysHowFarItHasWritten) {
  EXPECT_LE(guard_.WrittenTo(kPlace), 0);
  Deliver(50);
  EXPECT_EQ(guard_.WrittenTo(kPlace), 51);
  Ask(60);
  Ask(60);
  EXPECT_EQ(guard_.WrittenTo(kPlace), 51) << "others wrote what stands behind";
}

TEST_F(OutputGuardTest, OfPartitionsThatItDoesNotOwnNothingIsSaid) {
  Deliver(7, {FilterIndex{1}, 5});
  Deliver(9, {FilterIndex{1}, 5});
  EXPECT_TRUE(guard_.TakeForeign().empty());
  Deliver(7);
  Deliver(9);
  guard_.Disown(kPlace.partition);
  EXPECT_TRUE(guard_.TakeForeign().empty());
  guard_.Own(kPlace.partition);
  Deliver(20);
  EXPECT_TRUE(guard_.TakeForeign().empty()) << "it starts over";
}

TEST_F(OutputGuardTest, RangesOfOnePlaceThatTouchAreOne) {
  Deliver(0);
  Deliver(5);
  Deliver(6);
  guard_.PutBack({kPlace, 3, 4});
  EXPECT_EQ(guard_.TakeForeign(), (std::vector<ForeignRange>{{kPlace, 1, 5}}));
}

}  // namespace
}  // namespace seen
