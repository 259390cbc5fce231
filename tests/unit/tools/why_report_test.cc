#include "tools/ask/why_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

nlohmann::json Answer(const char* changes) {
  auto answer = nlohmann::json::parse(R"({
    "item": "a", "seen": true, "in_snapshot": true, "because": "exposed", "segments": [],
    "removed_until": null, "erased_until": null, "exposures": [], "journal": {"whole_from": "2025-11-01"}})");
  answer.update(nlohmann::json::parse(changes));
  return answer;
}

TEST(WhyReport, SaysWhatDidIt) {
  EXPECT_EQ(WhyText(Answer(R"({
    "segments": [{"kind": "exposed", "first_at_ms": 1763683200000, "last_at_ms": 1763700000000, "counts": true,
                  "until_ms": null},
                 {"kind": "served", "first_at_ms": 0, "last_at_ms": 0, "counts": false, "until_ms": 1800000}],
    "exposures": [{"item_id": "a", "kind": "exposed", "scene": "home", "position": 3, "at": 1763700000123,
                   "request_id": "r-1"},
                  {"item_id": "a", "kind": "removed", "scene": null, "position": null, "at": 1763690000000,
                   "request_id": null}]})")),
            "a: dropped, because it was seen\n"
            "in the user's segments\n"
            "  exposed between 2025-11-21T00:00:00.000Z and 2025-11-21T04:40:00.000Z\n"
            "  served between 1970-01-01T00:00:00.000Z and 1970-01-01T00:00:00.000Z, until "
            "1970-01-01T00:30:00.000Z, which no longer counts\n"
            "in the journal, which is whole from 2025-11-01 on\n"
            "  2025-11-21T04:40:00.123Z  exposed  in home  at position 3  of request r-1\n"
            "  2025-11-21T01:53:20.000Z  removed\n");
}

TEST(WhyReport, SaysWhatAnItemIsLike) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"like": "n1", "because": "near", "similarity": 0.931})",
       "a: not seen, but it is near n1 (similarity 0.93), which was seen. The filter demotes or drops a\n"},
      {R"({"like": "n1", "because": "group", "similarity": null})",
       "a: not seen, but it is of one group with n1, which was seen. The filter demotes or drops a\n"},
      {R"({"like": null, "because": "near", "similarity": null})",
       "a: not seen, but an item near it was seen, and only its fingerprint is known. The filter demotes or "
       "drops a\n"},
      {R"({"like": null, "because": "group", "similarity": null})",
       "a: not seen, but an item of its group was seen, and only its fingerprint is known. The filter "
       "demotes or drops a\n"},
  };
  for (const auto& [similar, line] : cases) {
    nlohmann::json answer = Answer(R"({"seen": false, "because": "similar", "exposures": null})");
    answer["similar"] = nlohmann::json::parse(similar);
    EXPECT_EQ(WhyText(answer).substr(0, std::string(line).size()), line);
  }
}

TEST(WhyReport, TellsFalsePositivesApartAndWhatIsNotKnown) {
  EXPECT_EQ(WhyText(Answer(R"({"seen": false, "because": "false_positive", "false_positive_of": "filter"})")),
            "a: not seen, but the published filter says that it is: a false positive of the filter. POST "
            ".../unseen lets the item through. Readers of the snapshot drop it\n"
            "in the journal, which is whole from 2025-11-01 on: nothing\n");
  EXPECT_EQ(
      WhyText(Answer(R"({"because": "false_positive", "false_positive_of": "fingerprint"})")).substr(0, 94),
      "a: dropped, but never shown: a false positive of the fingerprint. The item shares its fingerpr");
  EXPECT_EQ(WhyText(Answer(R"({"seen": false, "in_snapshot": null, "because": "not_seen", "exposures": null,
                               "removed_until": "2025-11-20", "erased_until": "2025-11-19"})")),
            "a: not dropped, it isn't seen\n"
            "taken back on 2025-11-20 (UTC): exposures up to then don't count\n"
            "the user was erased on 2025-11-19 (UTC): exposures up to then don't count\n"
            "no journal is kept (store.explain_days is 0), so the events aren't known\n");
}

}  // namespace
}  // namespace seen
