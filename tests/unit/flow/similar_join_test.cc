// What an exposure records about the items that are similar to the exposed item.
#include <gtest/gtest.h>

#include <algorithm>

#include "flow_fixture.h"
#include "model/hashes.h"
#include "support/fake_item_groups.h"

namespace seen::test {
namespace {

class SimilarJoin : public TimedTest {
 protected:
  SimilarJoin() {
    groups.Put("a", "a", {"a2", "a3"});
    groups.Put("a2", "a", {});
    groups.Put("many", "many", NearMany());
    options.filters[0].similar = Similar::kDrop;
    FilterPolicy off = options.filters[0];
    off.id = 1;
    off.name = "off";
    off.similar = Similar::kOff;
    options.filters.push_back(off);
    options.groups = &groups;
  }
  // The similar fingerprints that a reader gets if it asks for them, whatever the filter's policy says.
  std::vector<uint32_t> SimilarOf(FilterIndex filter = 0, std::string_view user = "u1") {
    SeenReader reader;
    AnswerLimits limits = options.filters[filter].AnswerAt(clock.WallNow());
    limits.similar = true;
    EXPECT_TRUE(flow->reader.ReadSeen(filter, UserKeyOf(user), limits, reader).has_value());
    std::vector<uint32_t> values;
    for (const Fingerprint fp : reader.similar().values()) values.push_back(fp.value);
    std::sort(values.begin(), values.end());
    return values;
  }
  static std::vector<uint32_t> Of(std::vector<std::string> near, std::vector<std::string> groups_of) {
    std::vector<uint32_t> values;
    for (const auto& id : near) values.push_back(NearFingerprintOf(FingerprintOf(id)).value);
    for (const auto& id : groups_of) values.push_back(GroupFingerprintOf(FingerprintOf(id)).value);
    std::sort(values.begin(), values.end());
    return values;
  }
  static std::vector<std::string> NearMany() {
    std::vector<std::string> near;
    for (int i = 0; i < 32; ++i) near.push_back("m" + std::to_string(i));
    return near;
  }
  FakeItemGroups groups;
};

TEST_F(SimilarJoin, AnExposureRecordsItsNearItemsAndItsGroup) {
  Open();
  Send(Event("exposed", "a", kNow));
  Send(Event("exposed", "unknown", kNow));
  Send(Event("served", "many", kNow));
  EXPECT_EQ(SimilarOf(), Of({"a2", "a3"}, {"a"}));
  EXPECT_EQ(SimilarOf(1), Of({}, {})) << "of a filter that doesn't ask";
  EXPECT_TRUE(Seen("a"));
  EXPECT_FALSE(Seen("a2"));
  EXPECT_TRUE(Seen("a", "u1", 1));
  Checkpoint();
  EXPECT_EQ(SimilarOf(), Of({"a2", "a3"}, {"a"})) << "from the store";
  EXPECT_EQ(SimilarOf(1), Of({}, {}));
  EXPECT_EQ(reporter.looked_up, 2u);
  EXPECT_EQ(reporter.joined, 1u);
}

TEST_F(SimilarJoin, ARemovalTakesTheSameBack) {
  Open();
  Send(Event("exposed", "a", kNow));
  Send(Event("exposed", "many", kNow));
  Send(Event("removed", "a", kNow));
  EXPECT_EQ(SimilarOf(), Of(NearMany(), {"many"}));
  EXPECT_FALSE(Seen("a"));
  Checkpoint();
  Send(Event("removed", "many", kNow));
  EXPECT_EQ(SimilarOf(), Of({}, {}));
  Send(Event("exposed", "a2", kNow));
  EXPECT_EQ(SimilarOf(), Of({"a"}, {"a"}));
  Send(Event("erased", "", kNow));
  EXPECT_EQ(SimilarOf(), Of({}, {}));
}

TEST_F(SimilarJoin, LeavesWithTheWindowAndTakesNothingThatIsTooOld) {
  Open();
  Send(Event("exposed", "a", kNow - 31 * kMsPerDay));
  EXPECT_EQ(SimilarOf(), Of({}, {}));
  Send(Event("exposed", "a", kNow));
  clock.SetWall(kNow + 30 * kMsPerDay);
  EXPECT_EQ(SimilarOf(), Of({"a2", "a3"}, {"a"}));
  clock.SetWall(kNow + 31 * kMsPerDay);
  EXPECT_EQ(SimilarOf(), Of({}, {}));
}

TEST_F(SimilarJoin, WhereTheWindowGoesByCreationOldItemsRecordNothing) {
  options.filters[0].window_by = WindowBy::kItemCreatedAt;
  Open();
  const auto created = [](int64_t at) { return R"(,"item_created_at":)" + std::to_string(at); };
  Send(Event("exposed", "many", kNow, "u1", created(kNow - 40 * kMsPerDay)));
  EXPECT_EQ(SimilarOf(), Of({}, {}));
  Send(Event("exposed", "a", kNow, "u1", created(kNow - kMsPerDay)));
  EXPECT_EQ(SimilarOf(), Of({"a2", "a3"}, {"a"}));
}

TEST_F(SimilarJoin, OneEventOfManyItemsFitsInTheTail) {
  options.tail_bytes_max = 512 * 1024;
  options.event_bytes_max = 1 << 20;
  for (int i = 0; i < 200; ++i) groups.Put("i" + std::to_string(i), "many", NearMany());
  Open();
  std::string items;
  for (int i = 0; i < 10'000; ++i) {
    items += (i == 0 ? R"({"item_id":"i)" : R"(,{"item_id":"i)") + std::to_string(i % 200) + "\"}";
  }
  Send(R"({"user_id":"u1","items":[)" + items + R"(],"exposed_at":)" + std::to_string(kNow) + "}");
  EXPECT_EQ(SimilarOf().size(), 33u);
}

}  // namespace
}  // namespace seen::test
