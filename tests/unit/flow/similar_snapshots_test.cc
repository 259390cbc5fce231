// Snapshots that hold what is similar to the seen items.
#include "support/fake_item_groups.h"
#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

class SimilarSnapshots : public test::TimedTest {
 protected:
  SimilarSnapshots() {
    groups_.Put("b", "a", {"a"});
    options.groups = &groups_;
    options.filters[0].similar = Similar::kDemote;
  }
  /// What a snapshot says about `item`. s: seen; n: near a seen item; g: the id of a seen item's group.
  static std::string Says(const std::string& bytes, const std::string& item) {
    const auto view = SnapshotView::Parse(bytes);
    if (!view) return view.error().message;
    return std::string(view->has_similar() ? "" : "knows nothing") + (view->MightContain(item) ? "s" : "") +
           (view->MightBeNear(item) ? "n" : "") + (view->MightHoldGroup(item) ? "g" : "");
  }
  std::string Published(const std::string& item) { return Says(topic.topic.at({FilterIndex(), "u1"}), item); }
  std::string Served(const std::string& item) {
    std::string user_id, bytes;
    EXPECT_TRUE(flow->reader.RenderUser(0, UserKeyOf("u1"), SnapshotShape(), user_id, bytes));
    return Says(bytes, item);
  }

  FakeItemGroups groups_;
};

TEST_F(SimilarSnapshots, SayItWhereTheFilterDoes) {
  Open();
  Send(Event("exposed", "a", kNow));
  Publish();
  for (const auto& [item, says] : {std::pair("a", "sg"), {"b", "n"}, {"c", ""}}) {
    EXPECT_EQ(Published(item), says) << item;
    EXPECT_EQ(Served(item), says) << item;
  }
  Send(Event("removed", "a", kNow));
  Publish();
  EXPECT_FALSE(HasSnapshot()) << "nothing is seen, and nothing similar";
}

TEST_F(SimilarSnapshots, ComeOfAnItemThatIsToBeShownAgainBeforeItIsSeen) {
  options.filters[0].exposures_min = 2;
  Open();
  Send(Event("exposed", "a", kNow));
  Publish();
  EXPECT_EQ(Published("a"), "g");
  EXPECT_EQ(Published("b"), "n");
}

TEST_F(SimilarSnapshots, AreMadeAnewWhenTheFilterIsToSayIt) {
  Open();
  Send(Event("exposed", "a", kNow));
  Publish();
  Checkpoint();
  options.filters[0].similar = Similar::kOff;
  Open();
  Publish();
  EXPECT_EQ(Published("a"), "knows nothings");
  EXPECT_EQ(Served("b"), "knows nothing");
  Checkpoint();
  options.filters[0].similar = Similar::kDrop;
  Open();
  Publish();
  EXPECT_EQ(Published("a"), "sg");
  EXPECT_EQ(Published("b"), "n");
}

}  // namespace
}  // namespace seen
