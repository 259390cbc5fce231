#include "similar/port/similar_candidates.h"

#include <gtest/gtest.h>

#include "flow/filter_policy.h"
#include "support/fake_item_groups.h"

namespace seen {
namespace {

using Ids = std::vector<std::string>;

struct Told {
  std::string item, like;
  SimilarReason because;
  friend bool operator==(const Told&, const Told&) = default;
};
void PrintTo(const Told& told, std::ostream* out) {
  *out << told.item << " like " << told.like << " because " << SimilarReasonName(told.because);
}
constexpr auto kNear = SimilarReason::kNear;
constexpr auto kGroup = SimilarReason::kGroup;
constexpr auto kPage = SimilarReason::kPage;

class SimilarCandidatesTest : public testing::Test {
 protected:
  /// An exposure. The flow joins each exposure with the groups that are known now.
  void Show(const std::string& item) {
    shown_.push_back(FingerprintOf(item));
    groups_.AppendSimilar(FingerprintOf(item), similar_shown_);
  }
  /// A removal. The flow joins each removal in the same way. The removal takes the joined items out of the
  /// similar set, whichever item put them there.
  void TakeBack(const std::string& item) {
    std::erase(shown_, FingerprintOf(item));
    std::vector<Fingerprint> gone;
    groups_.AppendSimilar(FingerprintOf(item), gone);
    for (const Fingerprint one : gone) std::erase(similar_shown_, one);
  }

  /// Returns the unseen items, in order. `told_` gets the similar candidates: the dropped ones, or all.
  Ids Ask(const Ids& items, SimilarCandidates::Rules rules = {Similar::kDrop, false}) {
    seen_.Reset(shown_.size());
    for (const Fingerprint one : shown_) seen_.Insert(one);
    similar_.Reset(similar_shown_.size());
    for (const Fingerprint one : similar_shown_) similar_.Insert(one);
    const std::vector<std::string_view> ids(items.begin(), items.end());
    const std::vector<std::string_view> also(also_seen_.begin(), also_seen_.end());
    std::vector<Fingerprint> fingerprints;
    std::vector<uint32_t> unseen;
    for (uint32_t i = 0; i < ids.size(); ++i) {
      fingerprints.push_back(FingerprintOf(ids[i]));
      const bool is_also_seen = std::find(also.begin(), also.end(), ids[i]) != also.end();
      if (!is_also_seen && !seen_.Contains(fingerprints.back())) unseen.push_back(i);
    }
    std::vector<SimilarCandidate> similar;
    status_ = candidates_.Decide(rules, groups_, {seen_, similar_, also, asks_groups_shown_}, ids,
                                 fingerprints, unseen, similar);
    told_.clear();
    for (const SimilarCandidate& one : similar) {
      told_.push_back({items[one.candidate], one.to.like, one.to.because});
    }
    Ids answer;
    for (const uint32_t place : unseen) answer.push_back(items[place]);
    return answer;
  }

  FakeItemGroups groups_;
  std::vector<Fingerprint> shown_, similar_shown_;
  Ids also_seen_;
  bool asks_groups_shown_ = true;
  FingerprintSet seen_, similar_;
  SimilarCandidates candidates_;
  std::vector<Told> told_;
  Status status_;
};

TEST_F(SimilarCandidatesTest, LetThroughWhatNothingIsKnownOf) {
  groups_.Put("b", "a", {"a"});
  Show("x");
  EXPECT_EQ(Ask({"a", "new", "b"}), (Ids{"a", "new", "b"}));
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(groups_.finds, 0U) << "records are read of what is found alone";
}

TEST_F(SimilarCandidatesTest, AreNearAnItemThatWasSeen) {
  groups_.Put("b", "a", {"a"});
  Show("a");
  EXPECT_EQ(Ask({"z", "b", "c"}), (Ids{"z", "c"}));
  EXPECT_EQ(told_, (std::vector<Told>{{"b", "a", kNear}}));
}

TEST_F(SimilarCandidatesTest, AreBlockedByANearOneOfAnotherGroup) {
  groups_.Put("a", "first", {"first"});
  groups_.Put("b", "other", {"other", "a"});  // similar to a, but not to a's first item
  Show("b");
  EXPECT_EQ(Ask({"a", "first", "other"}), Ids{"first"});
  EXPECT_EQ(told_, (std::vector<Told>{{"a", "b", kNear}, {"other", "b", kNear}}));
}

TEST_F(SimilarCandidatesTest, AreSoTooWhereTheGroupWasntKnownWhenItsItemWasShown) {
  Show("a");
  ASSERT_TRUE(similar_shown_.empty());
  EXPECT_EQ(Ask({"b"}), Ids{"b"});
  groups_.Put("b", "a", {"a"});
  EXPECT_EQ(Ask({"b"}), Ids{});
  EXPECT_EQ(told_, (std::vector<Told>{{"b", "a", kNear}}));
}

TEST_F(SimilarCandidatesTest, AreOfAGroupOfWhichOneWasSeenThoughNotNearIt) {
  groups_.Put("b", "a", {"a"});
  groups_.Put("c", "a", {"a"});
  Show("b");
  EXPECT_EQ(Ask({"c"}), Ids{});
  EXPECT_EQ(told_, (std::vector<Told>{{"c", "b", kGroup}}));
  similar_shown_.clear();  // the group wasn't known when b was shown either
  EXPECT_EQ(Ask({"c"}), Ids{});
  EXPECT_EQ(told_, (std::vector<Told>{{"c", "b", kGroup}}));
  EXPECT_EQ(groups_.scans, 0U) << "the first item's near ones are the group";
}

TEST_F(SimilarCandidatesTest, AreLikeTheFirstItemOfTheirGroupThoughItsRecordHasGone) {
  groups_.PutAlone({"c", "a", {0}, FoundBy::kBoth, 0.83, 3, {}, {}});
  Show("a");
  EXPECT_EQ(Ask({"c"}), Ids{});
  EXPECT_EQ(told_, (std::vector<Told>{{"c", "a", kGroup}}));
  shown_.clear();
  groups_.PutAlone({"d", "a", {0}, FoundBy::kBoth, 0.83, 3, {}, {}});
  Show("d");
  similar_shown_.clear();
  EXPECT_EQ(Ask({"c"}), Ids{});
  EXPECT_EQ(told_, (std::vector<Told>{{"c", "d", kGroup}}));
}

TEST_F(SimilarCandidatesTest, AreFoundAmongTheFirst256OfALargeGroup) {
  groups_.Put("a", "a", {});
  for (int i = 100; i < 400; ++i)
    groups_.Put("m" + std::to_string(i), "a", {"a"});  // a's list has room for 32 of them
  shown_ = {FingerprintOf("m354")};
  EXPECT_EQ(Ask({"m200", "m201", "a"}), Ids{});
  EXPECT_EQ(told_,
            (std::vector<Told>{{"m200", "m354", kGroup}, {"m201", "m354", kGroup}, {"a", "m354", kGroup}}));
  EXPECT_EQ(groups_.scans, 1U);
  shown_ = {FingerprintOf("m355")};
  EXPECT_EQ(Ask({"m200"}), Ids{"m200"}) << "beyond, only fingerprints know";
  Show("m355");
  EXPECT_EQ(Ask({"m200"}), Ids{});
  EXPECT_EQ(told_, (std::vector<Told>{{"m200", "", kGroup}}));
}

TEST_F(SimilarCandidatesTest, AreTheNearOnesOfItsFirstItemOnlyIfTheyAreOfTheGroup) {
  groups_.Put("c", "a", {"a"});
  groups_.Put("x", "older", {"a"});  // near the first item, but of another group
  shown_ = {FingerprintOf("x")};
  EXPECT_EQ(Ask({"c"}), Ids{"c"});
}

TEST_F(SimilarCandidatesTest, AreKnownByFingerprintWhereNoRecordSaysIt) {
  groups_.Put("b", "a", {"a"});
  Show("b");
  groups_.Remove("b");
  groups_.Remove("a");
  EXPECT_EQ(Ask({"a", "c"}), Ids{"c"});
  EXPECT_EQ(told_, (std::vector<Told>{{"a", "", kNear}}));
  similar_shown_ = {GroupFingerprintOf(FingerprintOf("a"))};
  EXPECT_EQ(Ask({"a"}), Ids{}) << "an item is of its own group until another is known";
  EXPECT_EQ(told_, (std::vector<Told>{{"a", "", kGroup}}));
}

TEST_F(SimilarCandidatesTest, ArentLikeThemselvesWhereTheyMayBeShownAgain) {
  FilterPolicy policy;
  EXPECT_TRUE(AsksGroupsShown(policy));
  policy.exposures_min = 2;
  EXPECT_FALSE(AsksGroupsShown(policy));
  policy = {};
  policy.window_by = WindowBy::kItemCreatedAt;
  EXPECT_FALSE(AsksGroupsShown(policy));

  groups_.Put("b", "a", {"a"});
  Show("b");
  shown_.clear();  // shown once, which is not enough
  asks_groups_shown_ = false;
  EXPECT_EQ(Ask({"b", "a"}), Ids{"b"})
      << "what is like one that was shown is recorded from the first time on";
  EXPECT_EQ(told_, (std::vector<Told>{{"a", "", kNear}}));
}

TEST_F(SimilarCandidatesTest, AreLikeWhatIsAlsoSeen) {
  groups_.Put("b", "a", {"a"});
  groups_.Put("c", "a", {"a"});
  also_seen_ = {"b"};
  asks_groups_shown_ = false;
  EXPECT_EQ(Ask({"a", "b", "c", "d"}), Ids{"d"});
  EXPECT_EQ(told_, (std::vector<Told>{{"a", "b", kNear}, {"c", "b", kGroup}}));
  groups_.Remove("a");
  groups_.Remove("c");
  EXPECT_EQ(Ask({"a", "c", "d"}), (Ids{"c", "d"})) << "b knows that it is near a";
  EXPECT_EQ(told_, (std::vector<Told>{{"a", "", kNear}}));
}

TEST_F(SimilarCandidatesTest, ComeBackWithWhatIsTakenBackUnlessAnotherSeenIsLikeThem) {
  groups_.Put("b", "a", {"a"});
  groups_.Put("c", "a", {"a", "b"});
  Show("a");
  Show("b");
  EXPECT_EQ(Ask({"c"}), Ids{});
  TakeBack("a");
  EXPECT_EQ(Ask({"a", "c"}), Ids{});
  EXPECT_EQ(told_, (std::vector<Told>{{"a", "b", kNear}, {"c", "b", kNear}}));
  TakeBack("b");
  EXPECT_EQ(Ask({"a", "b", "c"}), (Ids{"a", "b", "c"}));
}

TEST_F(SimilarCandidatesTest, StandLastWhereTheyAreDemotedAndOrderIsKept) {
  groups_.Put("b", "a", {"a"});
  groups_.Put("c", "a", {"a"});
  Show("a");
  const Ids items = {"c", "z", "b", "y"};
  EXPECT_EQ(Ask(items, {Similar::kDemote, false}), (Ids{"z", "y", "c", "b"}));
  const std::vector<Told> told = {{"c", "a", kNear}, {"b", "a", kNear}};
  EXPECT_EQ(told_, told);
  EXPECT_EQ(Ask(items, {Similar::kDrop, false}), (Ids{"z", "y"}));
  EXPECT_EQ(told_, told);
}

TEST_F(SimilarCandidatesTest, LeaveOneOfEachGroupAndOfThoseNearOneAnother) {
  groups_.Put("b", "a", {"a"});
  groups_.Put("c", "a", {"a"});
  groups_.Put("y", "x", {"x", "c"});
  EXPECT_EQ(Ask({"u", "c", "b", "y", "v", "a", "x"}, {Similar::kOff, true}), (Ids{"u", "c", "v", "x"}));
  EXPECT_EQ(told_, (std::vector<Told>{{"b", "c", kPage}, {"y", "c", kPage}, {"a", "c", kPage}}));
  EXPECT_EQ(groups_.finds, 0U);
  Show("a");
  EXPECT_EQ(Ask({"u", "c"}, {Similar::kOff, true}), (Ids{"u", "c"}))
      << "a filter that is off asks of the page alone";
}

TEST_F(SimilarCandidatesTest, LeaveTheNewOneOutThoughOnlyOneSideKnowsOfTheOther) {
  groups_.PutAlone({"b", "b", {0}, FoundBy::kFirst, 1, 0, {{"a", 0.9, 2, FoundBy::kBoth}}, {}});
  EXPECT_EQ(Ask({"a", "b"}, {Similar::kOff, true}), Ids{"a"});
  EXPECT_EQ(Ask({"b", "a"}, {Similar::kOff, true}), Ids{"b"});
}

TEST_F(SimilarCandidatesTest, TellOfOneThatIsDemotedAndLeftOutOnce) {
  groups_.Put("b", "a", {"a"});
  groups_.Put("c", "a", {"a"});
  Show("a");
  EXPECT_EQ(Ask({"b", "z", "c"}, {Similar::kDemote, true}), (Ids{"z", "b"}));
  EXPECT_EQ(told_, (std::vector<Told>{{"b", "a", kNear}, {"c", "b", kPage}}));
  EXPECT_EQ(Ask({"b", "z", "c"}, {Similar::kDrop, true}), Ids{"z"});
  EXPECT_EQ(told_, (std::vector<Told>{{"b", "a", kNear}, {"c", "a", kNear}}));
}

TEST_F(SimilarCandidatesTest, FailWithTheStore) {
  groups_.Put("b", "a", {"a"});
  Show("a");
  groups_.broken = true;
  Ask({"b"});
  ASSERT_FALSE(status_);
  EXPECT_EQ(status_.error().message, "the disk is broken");
  Ask({"z"});
  EXPECT_TRUE(status_);
}

TEST_F(SimilarCandidatesTest, AreExplainedOneByOneAsTogether) {
  groups_.Put("b", "a", {"a"});
  groups_.Put("c", "a", {"a"});
  Show("b");
  Ask({});
  const SeenSets sets{seen_, similar_, {}};
  EXPECT_EQ(candidates_.FindSeenOf(groups_, sets, "a").value(), (SimilarTo{"b", kNear, 0.9}));
  EXPECT_EQ(candidates_.FindSeenOf(groups_, sets, "c").value(), (SimilarTo{"b", kGroup, std::nullopt}));
  EXPECT_EQ(candidates_.FindSeenOf(groups_, sets, "d").value(), std::nullopt);
}

}  // namespace
}  // namespace seen
