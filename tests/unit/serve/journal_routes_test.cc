// .../exposures and .../why: requests in, JSON out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/request_input.h"
#include "unit/serve/pages_fixture.h"

namespace seen {
namespace {

using nlohmann::json;

class JournalRoutesTest : public PagesTest {
 protected:
  Answered Get(const std::string& page) { return PagesTest::Get("/v1/filters/home/users/u1/" + page); }
  std::string ProblemAt(const std::string& page) {
    const Answered response = Get(page);
    EXPECT_EQ(response.status, 400U) << page;
    return json::parse(response.body).at("detail");
  }
};

TEST_F(JournalRoutesTest, ListExposures) {
  query_.next = "abc1";
  const Answered response = Get("exposures?limit=2");
  EXPECT_EQ(response.status, 200U) << response.body;
  EXPECT_EQ(json::parse(response.body), json::parse(R"({"exposures": [
      {"item_id": "a", "kind": "exposed", "scene": "home", "position": 3, "at": 1763700000001, "request_id": "r-1"},
      {"item_id": "用", "kind": "removed", "scene": null, "position": null, "at": 1763700000000, "request_id": null}],
      "next": "abc1"})"));
  EXPECT_EQ(response.headers[0].first, "Seen-As-Of");
  EXPECT_EQ(response.route, "/v1/filters/{filter}/users/{user}/exposures");
  query_.next = "";
  EXPECT_TRUE(json::parse(Get("exposures").body).at("next").is_null());
}

TEST_F(JournalRoutesTest, ReadTheQuestion) {
  const std::pair<std::string, std::string> cases[] = {
      {"exposures", "- 0 100 "},
      {"exposures?item=a%2Fb+c", "a/b+c 0 100 "},
      {"exposures?since=1763700000000&limit=1000&cursor=00ff&item=%E7%94%A8", "用 1763700000000 1000 00ff"},
      {"exposures?limit=1&", "- 0 1 "},
  };
  for (const auto& [page, expected] : cases) {
    EXPECT_EQ(Get(page).status, 200U) << page;
    EXPECT_EQ(query_.exposures_asked, expected) << page;
  }
  EXPECT_EQ(Get("why?item=a%20b").status, 200U);
  EXPECT_EQ(query_.item_asked, "a b");
}

TEST_F(JournalRoutesTest, SayWhatIsWrongWithAQuestion) {
  EXPECT_EQ(ProblemAt("exposures?limit=0"), "limit: \"0\" isn't a whole number in 1..1000");
  EXPECT_EQ(ProblemAt("exposures?limit=1001"), "limit: \"1001\" isn't a whole number in 1..1000");
  EXPECT_EQ(ProblemAt("exposures?limit=5x"), "limit: \"5x\" isn't a whole number in 1..1000");
  EXPECT_EQ(ProblemAt("exposures?since=-1"), "since: \"-1\" isn't a whole number in 0..4294967295000");
  EXPECT_EQ(ProblemAt("exposures?since="), "since: \"\" isn't a whole number in 0..4294967295000");
  EXPECT_EQ(ProblemAt("exposures?items=a"),
            "query: \"items\" isn't known here; there are: item, since, limit, cursor, max_age_ms");
  EXPECT_EQ(ProblemAt("exposures?limit=1&limit=2"), "limit: given twice");
  EXPECT_EQ(ProblemAt("exposures?item=%ff"), ProblemAt("why?item=%ff"));
  EXPECT_EQ(ProblemAt("why"), "item: missing; ask with ?item=ID");
  EXPECT_EQ(ProblemAt("why?item="), "item: 0 bytes; an item id has 1 to 512 bytes");
  EXPECT_EQ(ProblemAt("exposures?item=" + std::string(513, 'x')),
            "item: 513 bytes; an item id has 1 to 512 bytes");
}

TEST_F(JournalRoutesTest, ExplainAnItem) {
  query_.why.seen = true;
  query_.why.in_snapshot = true;
  query_.why.because = WhyReason::kExposed;
  query_.why.segments = {{"exposed", {1'763'683'200'000}, {1'763'700'000'000}, true, {}},
                         {"served", {1'000}, {2'000}, false, TimeMs{9'000}}};
  query_.why.removed = Day{20'000};
  query_.why.exposures = {{"a", "exposed", "", std::nullopt, {1'763'700'000'000}, "r"}};
  query_.why.journal_whole_from = Day{20'001};
  EXPECT_EQ(json::parse(Get("why?item=a").body), json::parse(R"({
      "item": "a", "seen": true, "in_snapshot": true, "because": "exposed",
      "similar": null,
      "segments": [{"kind": "exposed", "first_at_ms": 1763683200000, "last_at_ms": 1763700000000, "counts": true,
                    "until_ms": null},
                   {"kind": "served", "first_at_ms": 1000, "last_at_ms": 2000, "counts": false, "until_ms": 9000}],
      "removed_until": "2024-10-04", "erased_until": null,
      "exposures": [{"item_id": "a", "kind": "exposed", "scene": null, "position": null, "at": 1763700000000,
                     "request_id": "r"}],
      "journal": {"whole_from": "2024-10-05"},
      "explanation": ["a: dropped, because it was seen",
          "in a segment: exposed between 2025-11-21T00:00:00.000Z and 2025-11-21T04:40:00.000Z",
          "in a segment: served between 1970-01-01T00:00:01.000Z and 1970-01-01T00:00:02.000Z, until 1970-01-01T00:00:09.000Z, which no longer counts",
          "taken back on 2024-10-04 (UTC): exposures up to then don't count",
          "in the journal, which is whole from 2024-10-05 on: 1 event"]})"));

  query_.why = {};
  const json nothing = json::parse(Get("why?item=a").body);
  EXPECT_EQ(nothing.at("because"), "not_seen");
  EXPECT_TRUE(nothing.at("in_snapshot").is_null());
  EXPECT_TRUE(nothing.at("exposures").is_null());
  EXPECT_TRUE(nothing.at("journal").is_null());

  query_.why.because = WhyReason::kSimilar;
  query_.why.similar = SimilarTo{"n1", SimilarReason::kNear, 0.93};
  json similar = json::parse(Get("why?item=a").body);
  EXPECT_EQ(similar.at("because"), "similar");
  EXPECT_EQ(similar.at("similar"), json::parse(R"({"like": "n1", "because": "near", "similarity": 0.93})"));
  query_.why.similar = SimilarTo{"", SimilarReason::kGroup};
  similar = json::parse(Get("why?item=a").body);
  EXPECT_EQ(similar.at("similar"), json::parse(R"({"like": null, "because": "group", "similarity": null})"));

  const std::pair<WhyReason, std::string> positives[] = {{WhyReason::kFilter, "filter"},
                                                         {WhyReason::kFingerprint, "fingerprint"}};
  for (const auto& [because, of] : positives) {
    query_.why.because = because;
    const json answer = json::parse(Get("why?item=a").body);
    EXPECT_EQ(answer.at("because"), "false_positive");
    EXPECT_EQ(answer.at("false_positive_of"), of);
  }
}

TEST_F(JournalRoutesTest, ExplainEachReasonInASentence) {
  const struct {
    WhyReason because;
    std::optional<SimilarTo> similar;
    std::string sentence;
  } cases[] = {
      {WhyReason::kExposed, {}, "a: dropped, because it was seen"},
      {WhyReason::kServed, {}, "a: dropped for now, because it was served"},
      {WhyReason::kNotSeen, {}, "a: not dropped, it isn't seen"},
      {WhyReason::kSimilar, SimilarTo{"n1", SimilarReason::kNear, 0.931},
       "a: not seen, but it is near n1 (similarity 0.93), which was seen. The filter demotes or drops a"},
      {WhyReason::kSimilar, SimilarTo{"n1", SimilarReason::kGroup},
       "a: not seen, but it is of one group with n1, which was seen. The filter demotes or drops a"},
      {WhyReason::kSimilar, SimilarTo{"", SimilarReason::kNear},
       "a: not seen, but an item near it was seen, and only its fingerprint is known. The filter demotes or "
       "drops a"},
      {WhyReason::kSimilar, SimilarTo{"", SimilarReason::kGroup},
       "a: not seen, but an item of its group was seen, and only its fingerprint is known. The filter "
       "demotes "
       "or drops a"},
      {WhyReason::kFilter,
       {},
       "a: not seen, but the published filter says that it is: a false positive of the filter. POST "
       ".../unseen lets the item through. Readers of the snapshot drop it"},
      {WhyReason::kFingerprint,
       {},
       "a: dropped, but never shown: a false positive of the fingerprint. The item shares its fingerprint "
       "with an item that was shown"},
  };
  query_.why.erased = Day{20'000};
  for (const auto& [because, similar, sentence] : cases) {
    query_.why.because = because;
    query_.why.similar = similar;
    EXPECT_EQ(json::parse(Get("why?item=a").body).at("explanation"),
              json({sentence, "the user was erased on 2024-10-04 (UTC): exposures up to then don't count",
                    "no journal is kept (store.explain_days is 0), so the events aren't known"}));
  }
}

TEST_F(JournalRoutesTest, PassOnWhatTheDaemonRefuses) {
  query_.error = Error{Code::kNotFound, "exposures: no journal is kept here"};
  EXPECT_EQ(Get("exposures").status, 404U);
  query_.error = Error{Code::kInvalidArgument, "cursor: not one"};
  EXPECT_EQ(Get("exposures?cursor=1").status, 400U);
}

}  // namespace
}  // namespace seen
