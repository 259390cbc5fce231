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

/// A daemon that says about user "u" what a test wants it to.
struct FakeDaemon {
  std::set<std::string> in_snapshot;
  std::set<std::string> held_back;  // by POST .../unseen
  std::set<std::string> similar;    // and told of by it as like the seen
  Day horizon;
  std::optional<std::vector<Fingerprint>> in_similar;  // the snapshot's second filter

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
    if (request.starts_with("GET")) return TinyServer::Response(200, Snapshot());
    const auto question = nlohmann::json::parse(request.substr(request.find("\r\n\r\n")));
    nlohmann::json unseen = nlohmann::json::array();
    for (const std::string item : question["items"]) {
      if (!held_back.contains(item)) unseen.push_back(item);
    }
    nlohmann::json answer = {{"unseen", unseen}};
    for (const std::string& item : similar) answer["similar"].push_back({{"item_id", item}});
    return TinyServer::Response(200, answer.dump());
  }
};

class UserCheck : public testing::Test {
 protected:
  UserCheck() : oracle_({}) {
    const TimeMs now = SystemClock().WallNow();
    for (int i = 0; i < 10; ++i) {
      const std::string item = fmt::format("n{}", i);
      oracle_.AddRecord(now,
                        fmt::format(R"({{"user_id":"u","item_id":"{}","exposed_at":{}}})", item, now.value));
      daemon_.in_snapshot.insert(item);
      daemon_.held_back.insert(item);
    }
    daemon_.horizon = oracle_.Horizon(now);
  }

  CheckOutcome Check(CheckOptions options = {}, const std::string* published = nullptr) {
    TinyServer server([this](int, const std::string& request) { return daemon_.Answer(request); });
    UserChecker checker(oracle_, *DaemonClient::Make(server.base()), options);
    const auto status = checker.Check("u", published);
    EXPECT_TRUE(status) << status.error().message;
    return checker.outcome();
  }

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
  EXPECT_EQ(outcome.failures, std::vector<std::string>{"u: item n4 was sent and is said to be unseen"});
}

TEST_F(UserCheck, ReportsAnUnseenItemThatIsHeldBackWithoutACollision) {
  const SeenItems seen = oracle_.Seen("u", daemon_.horizon);
  daemon_.held_back.insert(NegativesFor(oracle_, "u", seen, 64).front());
  EXPECT_EQ(Check().counts.unexplained, 1u);
  // Where the topic's start is gone it may have been sent before.
  EXPECT_EQ(Check({.history_complete = false}).counts.Failures(), 0u);
}

TEST_F(UserCheck, TakesNoItemForSeenThatIsHeldBackForBeingSimilar) {
  const std::string item = NegativesFor(oracle_, "u", oracle_.Seen("u", daemon_.horizon), 64).front();
  daemon_.held_back.insert(item);
  daemon_.similar.insert(item);
  EXPECT_EQ(Check().counts.Failures(), 0u);
  daemon_.similar.insert("n4");  // which was seen
  EXPECT_EQ(Check().counts.unseen_false_negatives, 1u);
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
