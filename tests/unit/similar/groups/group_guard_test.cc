#include "similar/groups/group_guard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "group_fixture.h"
#include "similar/port/group_topic.h"
#include "support/fake_items.h"
#include "support/map_index.h"

namespace seen {
namespace {

const std::string kOwn = "0/seend-1/1763690000000";
const std::string kFormer = "0/seend-2/1763690000000";

std::string ValueOf(const std::string& item_id) {
  std::string value;
  WriteItemGroup({item_id, item_id, {1000}, FoundBy::kFirst, 1.0, 0, {}, ""}, value);
  return value;
}

TEST(DecidedBy, NamesThePartitionOfTheIndexFirst) {
  EXPECT_EQ(DecidedBy(12, "seend-1", {1763690000000}), "12/seend-1/1763690000000");
  EXPECT_EQ(IndexPartitionOf("12/seend-1/1763690000000"), 12);
  EXPECT_EQ(IndexPartitionOf("12"), std::nullopt);
  EXPECT_EQ(IndexPartitionOf("a/b/c"), std::nullopt);
  EXPECT_EQ(IndexPartitionOf(""), std::nullopt);
}

class GroupGuardTest : public testing::Test {
 protected:
  void Open(const std::vector<int64_t>& verified, bool is_only_index = false, size_t waiting_max = 100) {
    auto guard = GroupGuard::Open({0, is_only_index, kOwn, waiting_max, settle_, topic_.Watch()}, verified);
    ASSERT_TRUE(guard);
    guard_ = std::move(*guard);
  }
  void Put(const std::string& item_id, const std::string& decided_by) {
    topic_.Put({item_id, ValueOf(item_id), decided_by});
  }
  std::vector<std::string> Foreign(size_t count_max = 100) {
    EXPECT_TRUE(guard_->Read(now_));
    std::vector<std::string> ids;
    for (const ForeignGroup& foreign : guard_->Take(now_, count_max)) ids.push_back(foreign.item_id);
    return ids;
  }
  using Ids = std::vector<std::string>;

  Instant now_{std::chrono::seconds(1'000)};
  std::chrono::milliseconds settle_{0};
  sim::FakeGroupsTopic topic_;
  std::unique_ptr<GroupGuard> guard_;
};

TEST_F(GroupGuardTest, TakesItemsWhoseNewestRecordAnotherOwnerOfTheIndexOrAnotherProgramHasWritten) {
  Put("before", kFormer);
  Open({});
  Put("a", kFormer);
  Put("b", "");
  Put("c", kOwn);
  Put("d", "1/seend-2/1763690000000");  // another index decides it
  Put("e", kFormer);
  Put("e", kOwn);
  Put("a", kFormer);
  EXPECT_EQ(Foreign(), (Ids{"a", "b"}));
  EXPECT_EQ(Foreign(), Ids()) << "once";
  EXPECT_EQ(guard_->Verified(), std::vector<int64_t>{8});
}

TEST_F(GroupGuardTest, WhatWaitsIsNotVerified) {
  Open({});
  for (const char* id : {"own", "a", "b", "c"}) Put(id, id[1] == 'w' ? kOwn : kFormer);
  EXPECT_EQ(Foreign(2), (Ids{"a", "b"}));
  EXPECT_EQ(guard_->Verified(), std::vector<int64_t>{1});
  EXPECT_EQ(Foreign(2), Ids{"c"});
  EXPECT_EQ(guard_->Verified(), std::vector<int64_t>{4});
}

TEST_F(GroupGuardTest, WaitsForTheOwnersRecordsThatAreOnTheirWay) {
  settle_ = std::chrono::milliseconds(1000);
  Open({});
  Put("a", kFormer);
  Put("b", kFormer);
  EXPECT_EQ(Foreign(), Ids());
  now_ += std::chrono::milliseconds(999);
  Put("a", kOwn);
  EXPECT_EQ(Foreign(), Ids());
  now_ += std::chrono::milliseconds(1);
  EXPECT_EQ(Foreign(), Ids{"b"});
}

TEST_F(GroupGuardTest, LooksAgainAtWhatWasNotVerified) {
  Put("a", kFormer);
  Put("b", kFormer);
  Open({1});
  EXPECT_EQ(Foreign(), Ids{"b"});
}

TEST_F(GroupGuardTest, ReadsNoFurtherWhileTooManyWait) {
  Open({}, false, 2);
  for (const char* id : {"a", "b", "c"}) Put(id, kFormer);
  ASSERT_TRUE(guard_->Read(now_));
  Put("d", kFormer);
  EXPECT_EQ(Foreign(1), Ids{"a"});
  EXPECT_EQ(Foreign(5), (Ids{"b", "c"}));
  EXPECT_EQ(Foreign(5), Ids{"d"});
}

TEST_F(GroupGuardTest, SaysWhatTheRecordIs) {
  Open({}, true);
  Put("a", "");
  topic_.Put({"b", std::nullopt, ""});
  topic_.Put({"c", "{", ""});
  ASSERT_TRUE(guard_->Read(now_));
  const auto foreign = guard_->Take(now_, 10);
  ASSERT_EQ(foreign.size(), 3u);
  EXPECT_EQ(foreign[0].value_hash, GroupHash("a", ValueOf("a")));
  EXPECT_EQ(foreign[0].created_at, TimeMs{1000});
  EXPECT_TRUE(foreign[0].is_of_index) << "there is no other one";
  EXPECT_EQ(foreign[1].value_hash, std::nullopt);
  EXPECT_TRUE(foreign[2].value_hash.has_value());
  EXPECT_EQ(foreign[2].created_at, std::nullopt);
}

TEST_F(GroupGuardTest, OpensTheTopicAgainWhereItsOffsetsAreGone) {
  Open({});
  topic_.watch_fails = {Code::kRefused, "the offset to read next is gone"};
  EXPECT_FALSE(guard_->Read(now_));
  topic_.watch_fails.reset();
  Put("a", kFormer);
  EXPECT_EQ(Foreign(), Ids{"a"});
}

/// A flow with the items "a" and "b", which are near each other and were created 100 days after the epoch.
class RepairTest : public testing::Test {
 protected:
  RepairTest() {
    flow_ = std::move(*GroupFlow::Open({}, index_, sink_));
    const std::set<uint32_t> shingles = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    for (const char* id : {"a", "b", "gone"}) {
      items_.push_back({id, kNow, false, test::FeaturesOf(shingles)});
      Apply(items_.back());
    }
    items_.push_back({"gone", kNow, true, {}});
    Apply(items_.back());
    right_ = sink_.topic;
    sent_ = sink_.sent;
  }
  void Apply(const test::GivenItem& item) {
    const PreparedItem prepared = test::Prepared(item, next_++);
    ASSERT_TRUE(flow_->Apply({&prepared, 1}));
  }
  /// A record of another owner, as it would stand in the topic.
  ForeignGroup Foreign(const std::string& item_id, bool is_old = true, TimeMs created_at = kNow) const {
    std::string value = ValueOf(item_id);
    if (const auto right = right_.find(item_id); !is_old && right != right_.end())
      WriteItemGroup(right->second, (value.clear(), value));
    return {item_id, GroupHash(item_id, value), created_at, true, kFormer};
  }
  bool Repaired(const ForeignGroup& foreign) {
    const auto repaired = flow_->Repair(foreign);
    EXPECT_TRUE(repaired);
    EXPECT_EQ(sink_.sent, sent_ += *repaired);
    return *repaired;
  }

  static constexpr TimeMs kNow{100 * kMsPerDay};
  test::MapIndex index_;
  test::MapSink sink_;
  std::unique_ptr<GroupFlow> flow_;
  std::deque<test::GivenItem> items_;
  std::map<std::string, ItemGroup> right_;
  int64_t next_ = 0;
  uint64_t sent_ = 0;
};

TEST_F(RepairTest, SendsTheDecisionAgainWhereAnotherStands) {
  sink_.topic.clear();
  EXPECT_TRUE(Repaired(Foreign("a")));
  EXPECT_EQ(sink_.topic.at("a"), right_.at("a"));
  EXPECT_FALSE(Repaired(Foreign("b", false))) << "whoever has written it: it is right";
  ForeignGroup tombstone = Foreign("b");
  tombstone.value_hash.reset();
  EXPECT_TRUE(Repaired(tombstone));
  EXPECT_EQ(sink_.topic.at("b"), right_.at("b"));
}

TEST_F(RepairTest, TakesOutAgainWhatWasDeleted) {
  sink_.topic["gone"] = right_.at("a");
  EXPECT_TRUE(Repaired(Foreign("gone")));
  EXPECT_FALSE(sink_.topic.contains("gone"));
}

TEST_F(RepairTest, LeavesWhatItMayNotKnow) {
  EXPECT_FALSE(Repaired(Foreign("old", true, {kNow.value - 40 * kMsPerDay}))) << "it has left the window";
  ForeignGroup other = Foreign("another index's");
  other.is_of_index = false;
  EXPECT_FALSE(Repaired(other));
  ForeignGroup unreadable = Foreign("who knows what");
  unreadable.created_at.reset();
  EXPECT_FALSE(Repaired(unreadable));
  ForeignGroup tombstone = Foreign("unknown");
  tombstone.value_hash.reset();
  EXPECT_FALSE(Repaired(tombstone)) << "it is right";
}

}  // namespace
}  // namespace seen
