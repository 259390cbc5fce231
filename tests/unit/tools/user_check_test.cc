#include "tools/check/user_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "filter/snapshot.h"
#include "tiny_server.h"

namespace seen {
namespace {

/// A daemon whose answers about user "u" come from the test.
struct FakeDaemon {
  std::set<std::string> in_snapshot;
  std::set<std::string> held_back;     // as seen, by POST .../unseen
  std::set<std::string> similar;       // listed by it as similar to seen items
  std::set<std::string> only_similar;  // the same, but not seen: left out as similar
  Day horizon;
  std::optional<std::vector<Fingerprint>> in_similar;  // the snapshot's second filter
  std::set<std::string> strange;                       // in the filter's fingerprints alone

  std::string Exact() const {
    std::vector<Fingerprint> fingerprints;
    for (const std::string& item : held_back) fingerprints.push_back(FingerprintOf(item));
    for (const std::string& item : strange) fingerprints.push_back(FingerprintOf(item));
    std::sort(fingerprints.begin(), fingerprints.end());
    return RenderSnapshot({.format = SnapshotFormat::kFingerprints, .as_of = {}, .horizon = horizon},
                          fingerprints);
  }
  std::string Snapshot() const {
    std::vector<Fingerprint> fingerprints;
    for (const std::string& item : in_snapshot) fingerprints.push_back(FingerprintOf(item));
    std::sort(fingerprints.begin(), fingerprints.end());
    if (!in_similar) return RenderSnapshot({.as_of = {}, .horizon = horizon}, fingerprints);
    std::string bytes;
    RenderSnapshot({}, {.as_of = {}, .horizon = horizon}, {fingerprints, {}}, *in_similar, bytes);
    return bytes;
  }
  std::string Answer(const std::string& request) const {
    if (request.find("?format=fingerprints ") != std::string::npos) return TinyServer::Response(200, Exact());
    if (request.starts_with("GET")) return TinyServer::Response(200, Snapshot());
    const auto question = nlohmann::json::parse(request.substr(request.find("\r\n\r\n")));
    nlohmann::json unseen = nlohmann::json::array();
    for (const std::string item : question["items"]) {
      if (!held_back.contains(item) && !only_similar.contains(item)) unseen.push_back(item);
    }
    nlohmann::json answer = {{"unseen", unseen}};
    for (const std::string& item : only_similar) answer["similar"].push_back({{"item_id", item}});
    for (const std::string& item : similar) answer["similar"].push_back({{"item_id", item}});
    return TinyServer::Response(200, answer.dump());
  }
};

class UserCheck : public testing::Test {
 protected:
  UserCheck() : oracle_(rules_) {
    const TimeMs now = SystemClock().WallNow();
    for (int i = 0; i < 10; ++i) {
      const std::string item = fmt::format("n{}", i);
      Add(item, now);
      daemon_.in_snapshot.insert(item);
      daemon_.held_back.insert(item);
    }
    daemon_.horizon = oracle_.Horizon(now);
  }

  void Add(const std::string& item, TimeMs at) {
    const JudgedItem told{.id = item, .created = DayOf(at), .filters = 1};
    oracle_.Add(
        {.user_id = "u", .second = static_cast<uint32_t>(at.value / 1000), .items = std::span(&told, 1)});
  }

  CheckOutcome Check(CheckOptions options = {}, const std::string* published = nullptr) {
    TinyServer server([this](int, const std::string& request) { return daemon_.Answer(request); });
    auto daemon = DaemonClient::Make(DaemonAddress{server.base(), "", ""});
    UserChecker checker(oracle_, *daemon, options);
    const auto status = checker.Check("u", published);
    EXPECT_TRUE(status) << status.error().message;
    return checker.TakeOutcome();
  }

  std::string FirstNegative() const { return NegativesFor(oracle_, "u", oracle_.ItemsOf("u"), 64).front(); }

  const OracleRules rules_;
  Oracle oracle_;
  FakeDaemon daemon_;
};

TEST_F(UserCheck, PassesAnHonestDaemon) {
  const std::string published = daemon_.Snapshot();
  const CheckOutcome outcome = Check({.published = true}, &published);
  EXPECT_EQ(outcome.counts.Failures(), 0u) << outcome.failures.front();
  EXPECT_EQ(outcome.counts.users, 1u);
  EXPECT_EQ(outcome.counts.items, 10u);
  EXPECT_EQ(outcome.counts.negatives, 64u);
  EXPECT_DOUBLE_EQ(outcome.counts.RateAsked(), 0.01);
}

TEST_F(UserCheck, ReportsAnItemThatIsMissingFromTheSnapshot) {
  daemon_.in_snapshot.erase("n3");
  const CheckOutcome outcome = Check();
  EXPECT_EQ(outcome.counts.snapshot_false_negatives, 1u);
  EXPECT_EQ(outcome.counts.count_mismatches, 1u);
  EXPECT_EQ(outcome.counts.unseen_false_negatives, 0u);
  ASSERT_EQ(outcome.failures.size(), 2u);
  EXPECT_EQ(outcome.failures[0], "u: item n3 was sent and is not in the snapshot");
}

TEST_F(UserCheck, ReportsASeenItemThatIsOffered) {
  daemon_.held_back.erase("n4");
  const CheckOutcome outcome = Check();
  EXPECT_EQ(outcome.counts.unseen_false_negatives, 1u);
  EXPECT_EQ(outcome.counts.FalseNegatives(), 1u);
  EXPECT_EQ(outcome.failures, std::vector<std::string>{"u: item n4 was sent, but unseen offers it"});
}

TEST_F(UserCheck, ReportsAnUnseenItemThatIsHeldBackWithoutACollision) {
  daemon_.held_back.insert(FirstNegative());
  const CheckOutcome outcome = Check();
  EXPECT_EQ(outcome.counts.unexplained, 1u);
  EXPECT_EQ(outcome.counts.strangers, 1u) << "the filter's fingerprints say so, too";
  // If the topic's start is gone, the item may have been sent there.
  EXPECT_EQ(Check({.history_complete = false}).counts.Failures(), 0u);
}

TEST_F(UserCheck, TakesNoItemForSeenThatIsHeldBackForBeingSimilar) {
  // "similar" lists the item. So `unseen` leaves the item out, although it isn't held back as seen.
  const std::string item = FirstNegative();
  daemon_.only_similar.insert(item);
  EXPECT_EQ(Check().counts.Failures(), 0u);
  daemon_.similar.insert("n4");  // n4 was seen
  EXPECT_EQ(Check().counts.unseen_false_negatives, 1u);
}

TEST_F(UserCheck, ReportsAFingerprintThatNothingOfTheUserHas) {
  daemon_.strange.insert("never sent");
  const CheckOutcome outcome = Check();
  EXPECT_EQ(outcome.counts.strangers, 1u);
  EXPECT_EQ(outcome.counts.Failures(), 1u);
  ASSERT_EQ(outcome.failures.size(), 1u);
  EXPECT_NE(outcome.failures[0].find("of no item that was sent"), std::string::npos) << outcome.failures[0];
  EXPECT_EQ(Check({.history_complete = false}).counts.Failures(), 0u);
}

TEST_F(UserCheck, ReportsAnItemThatLeftTheWindowAndIsStillHeld) {
  Add("long ago", {SystemClock().WallNow().value - 40 * kMsPerDay});
  EXPECT_EQ(Check().counts.Failures(), 0u);
  EXPECT_EQ(Check().counts.left_window, 1u);
  daemon_.held_back.insert("long ago");
  const CheckOutcome outcome = Check({.filter = "f", .names_filter = true});
  EXPECT_EQ(outcome.counts.unexplained, 1u);
  EXPECT_EQ(outcome.failures[0], "filter f, u: item long ago doesn't count, but unseen doesn't offer it");
}

TEST_F(UserCheck, ReportsASnapshotThatHoldsMoreThanWasSent) {
  daemon_.in_snapshot.insert("never sent");
  EXPECT_EQ(Check().counts.count_mismatches, 1u);
  EXPECT_EQ(Check({.history_complete = false}).counts.Failures(), 0u);
}

TEST_F(UserCheck, ReportsAWindowThatIsTooShort) {
  daemon_.horizon = daemon_.horizon + 1;
  EXPECT_EQ(Check().counts.horizon_mismatches, 1u);
}

TEST_F(UserCheck, ReportsWhatIsWrongWithAPublishedSnapshot) {
  EXPECT_EQ(Check({.published = true}).counts.published_missing, 1u);
  FakeDaemon earlier = daemon_;
  earlier.in_snapshot.erase("n5");
  const std::string stale = earlier.Snapshot();
  const CheckOutcome outcome = Check({.published = true}, &stale);
  EXPECT_EQ(outcome.counts.published_false_negatives, 1u);
  EXPECT_EQ(outcome.counts.published_differing, 1u);
  const std::string broken = stale.substr(0, stale.size() - 1);
  EXPECT_EQ(Check({.published = true}, &broken).counts.published_differing, 1u);
}

TEST_F(UserCheck, ReportsAPublishedSnapshotThatIsAboutOtherSimilarItems) {
  daemon_.in_similar = {NearFingerprintOf(FingerprintOf("n70"))};
  const std::string same = daemon_.Snapshot();
  EXPECT_EQ(Check({.published = true}, &same).counts.Failures(), 0u);
  daemon_.in_similar->push_back(NearFingerprintOf(FingerprintOf("n71")));
  EXPECT_EQ(Check({.published = true}, &same).counts.published_differing, 1u);
  daemon_.in_similar.reset();
  EXPECT_EQ(Check({.published = true}, &same).counts.published_differing, 1u);
}

}  // namespace
}  // namespace seen
