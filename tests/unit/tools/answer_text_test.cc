#include "tools/ask/answer_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

constexpr TimeMs kNow{1'700'000'000'000};

SortedJson StatusOfTwo() {
  return SortedJson::parse(R"({
    "version": "1.2.3", "ready": true, "troubles": [], "started_at_ms": 1699996400000, "brokers": "k:9092",
    "brokers_reachable": true, "instance_id": "a", "role": "owner", "owner_group": "seend", "topic": "exposures",
    "partitions_total": 12, "partitions_refused": [], "partitions_unowned": [], "state_topic": null,
    "partitions": [
      {"partition": 0, "state": "ready", "reason": "", "lag_messages": 0, "age_ms": 120, "marks_outstanding": 3,
       "last_checkpoint_at_ms": 1699999995000, "store": {"bytes": 12582912}, "lost_ranges": [],
       "filters": [{"filter": "home", "complete_since": null}]},
      {"partition": 11, "state": "held", "reason": "the disk is full", "lag_messages": 1234567, "age_ms": null,
       "marks_outstanding": 0, "last_checkpoint_at_ms": null, "store": {"bytes": 0},
       "lost_ranges": [{"messages": 7}], "filters": [{"filter": "home", "complete_since": 1698796800000}]}]})");
}

TEST(StatusScreen, ShowsWhatIsWrongFirstAndAlignsWhatIsMany) {
  SortedJson status = StatusOfTwo();
  status["troubles"] = {"partition 11: the disk is full"};
  const StatusScreen screen = MakeStatusScreen(status, kNow);
  EXPECT_FALSE(screen.is_well);
  EXPECT_EQ(screen.verdict, "READY, with troubles");
  EXPECT_EQ(
      screen.text,
      "  ! partition 11: the disk is full\n"
      "daemon      1.2.3 as a, owner, up 60 min\n"
      "brokers     k:9092, reachable\n"
      "topic       exposures: 2 of 12 partitions here\n"
      "\n"
      "partition  state        lag    age  unpublished  checkpoint     store  lost  filters\n"
      "        0  ready          0  0.1 s            3   5.0 s ago  12.0 MiB        whole\n"
      "       11  held   1,234,567      ?            0    none yet       0 B     7  home since 2023-11-01\n"
      "partition 11: the disk is full\n");
}

TEST(StatusScreen, ShowsTheRateAndWhatIsLostWithin80Columns) {
  SortedJson status = StatusOfTwo();
  status["losses"] = SortedJson::parse(R"([
      {"topic": "exposures", "events_per_s": 1234567.8, "newest_event_at_ms": 1699999999600, "causes": [
        {"cause": "too_old", "share": 0.9}, {"cause": "skipped", "share": 0.0009}, {"cause": "no_filter", "share": 0},
        {"cause": "rejected", "share": 0.1234}, {"cause": "misrouted", "share": 1}]},
      {"topic": "items", "events_per_s": 0.25, "newest_event_at_ms": null, "causes": [
        {"cause": "rejected", "share": 0}]},
      {"topic": "raw", "events_per_s": null, "newest_event_at_ms": null, "causes": [
        {"cause": "skipped", "share": 0}, {"cause": "rejected", "share": 0}]}])");
  const std::string text = MakeStatusScreen(status, kNow).text;
  EXPECT_NE(text.find("events      exposures: 1,234,567/s, newest 0.4 s ago\n"
                      "lost        old 90%, skipped <1%, no filter 0%, rejected 12%, misrouted 100%\n"
                      "events      items: 0.2/s, newest -\n"
                      "lost        rejected 0%\n"
                      "events      raw: -/s, newest -\n"
                      "lost        skipped -, rejected -\n"),
            std::string::npos)
      << text;
}

TEST(StatusScreen, PrintsTheRemedyForMisroutedEvents) {
  SortedJson status = StatusOfTwo();
  status["partitions"][0]["misrouted"] = 1'000;
  status["partitions"][0]["misrouted_last"] = {{"remedy", "set input.partitioner"}};
  status["partitions"][1]["misrouted"] = 499;
  EXPECT_NE(MakeStatusScreen(status, kNow)
                .text.find("misrouted   1,499 events since the start: set input.partitioner\n"),
            std::string::npos);
}

TEST(StatusScreen, LeavesOutWhatSaysNothing) {
  SortedJson status = StatusOfTwo();
  status["partitions"].erase(1);
  const StatusScreen screen = MakeStatusScreen(status, kNow);
  EXPECT_TRUE(screen.is_well);
  EXPECT_EQ(screen.verdict, "READY");
  EXPECT_EQ(screen.text.find("lost"), std::string::npos);
  EXPECT_EQ(screen.text.find("refused"), std::string::npos);
}

TEST(StatusScreen, NamesReplicasRestoresAndPartitionsOfNobody) {
  SortedJson status = StatusOfTwo();
  status["ready"] = false;
  status["role"] = "replica";
  status["brokers_reachable"] = false;
  status["partitions_unowned"] = {1, 2, 3};
  status["partitions_refused"] = {{{"partition", 4}}};
  status["state_topic"] = {{"restores", {{{"partition", 5}, {"share", 0.25}, {"seconds_left", 90.0}}}}};
  const StatusScreen screen = MakeStatusScreen(status, kNow);
  EXPECT_EQ(screen.verdict, "NOT READY");
  for (const char* part : {"replica, of group seend", "OUT OF REACH", "1 refused", "3 unowned",
                           "restores    partition 5: 25%, 90 s left"})
    EXPECT_NE(screen.text.find(part), std::string::npos) << part << "\n" << screen.text;
}

TEST(StatusScreen, CountsNoRefusedPartitionAsHere) {
  SortedJson status = StatusOfTwo();
  status["partitions_total"] = 1;
  status["partitions"][1]["state"] = "refused";
  status["partitions_refused"] = {{{"partition", 11}}};
  EXPECT_NE(MakeStatusScreen(status, kNow).text.find("1 of 1 partitions here, 1 refused\n"),
            std::string::npos);
}

TEST(StatusScreen, TakesTheStatusOfAnotherVersion) {
  for (const char* text : {"{}", R"({"partitions": [{}], "troubles": null, "state_topic": {}})",
                           R"({"partitions": 5, "ready": true})"}) {
    EXPECT_FALSE(MakeStatusScreen(SortedJson::parse(text), kNow).text.empty()) << text;
  }
}

TEST(StatusScreen, WritesSpansInTheLargestUnitThatSaysEnough) {
  EXPECT_EQ(SpanText(-5), "0.0 s");
  EXPECT_EQ(SpanText(300), "0.3 s");
  EXPECT_EQ(SpanText(12'000), "12 s");
  EXPECT_EQ(SpanText(240'000), "4 min");
  EXPECT_EQ(SpanText(3 * 3'600'000), "3 h");
  EXPECT_EQ(SpanText(9 * 86'400'000LL), "9 d");
}

TEST(AnswerText, ListsItemsAndSaysWhatOthersAreLike) {
  const auto answer = SortedJson::parse(R"({"unseen": ["z", "a", "d"], "similar": [
      {"item_id": "a", "like": "n1", "because": "near"}, {"item_id": "b", "like": "n1", "because": "group"},
      {"item_id": "c", "like": "z", "because": "page"}, {"item_id": "d", "like": null, "because": "near"},
      {"item_id": "e", "like": null, "because": "group"}]})");
  EXPECT_EQ(UnseenText(answer), "z\na\nd\n");
  EXPECT_EQ(SimilarText(answer),
            "a comes last: near n1, which was seen\n"
            "b is left out: of one group with n1, which was seen\n"
            "c is left out: like z, which stays\n"
            "d comes last: near something seen\n"
            "e is left out: of a group that was seen\n");
  EXPECT_EQ(SimilarText(SortedJson::parse(R"({"unseen": []})")), "");
  EXPECT_THROW(UnseenText(SortedJson::parse("{}")), nlohmann::json::exception);
}

TEST(AnswerText, ListsSegmentsWithTheirWindows) {
  SortedJson answer =
      SortedJson::parse(R"({"filter": "home", "user_id": "u1", "partition": 3, "lag_messages": null,
      "items": 12, "bytes": 2048, "removals": 1, "segments": [
      {"kind": "exposed", "from_ms": 1763683200000, "items": 12, "bytes": 61, "counts_until_ms": 1766361600000,
       "in_window": true},
      {"kind": "repeated", "from_ms": 1763700000000, "items": 4, "bytes": 27, "counts_until_ms": null,
       "in_window": false, "exposures": 9}]})");
  EXPECT_EQ(SegmentsText(answer),
            "u1 in filter home: 12 items that count, 2.0 KiB stored (170.67 bytes an item), 1 removals, "
            "partition 3, lag unknown\n"
            "of (UTC)              kind            items     bytes  counts until\n"
            "2025-11-21            exposed            12        61  2025-12-22\n"
            "2025-11-21T04:40:00Z  repeated            4        27  never, 9 exposures  past the window\n");
  answer["segments"] = SortedJson::array();
  answer["items"] = 0;
  answer["lag_messages"] = 7;
  EXPECT_EQ(SegmentsText(answer),
            "u1 in filter home: 0 items that count, 2.0 KiB stored, 1 removals, partition 3, lag 7\n");
}

TEST(AnswerText, PrintsTheDaemonsExplanationAndTheEvents) {
  SortedJson answer =
      SortedJson::parse(R"({"explanation": ["a: dropped, because it was seen", "in the journal: 2 events"],
      "exposures": [{"item_id": "a", "kind": "exposed", "scene": "home", "position": 3, "at": 1763700000123,
                     "request_id": "r-1"},
                    {"item_id": "a", "kind": "removed", "scene": null, "position": null, "at": 1763690000000,
                     "request_id": null}]})");
  EXPECT_EQ(WhyText(answer),
            "a: dropped, because it was seen\n"
            "in the journal: 2 events\n"
            "  2025-11-21T04:40:00.123Z  exposed  in home  at position 3  of request r-1\n"
            "  2025-11-21T01:53:20.000Z  removed\n");
  answer["exposures"] = nullptr;
  EXPECT_EQ(WhyText(answer), "a: dropped, because it was seen\nin the journal: 2 events\n");
  EXPECT_THROW(WhyText(SortedJson::parse("{}")), nlohmann::json::exception);
}

TEST(AnswerText, ListsAGroupAndWhatIsNear) {
  SortedJson answer = SortedJson::parse(R"({
    "explanation": ["n7, of 2025-11-21T04:40:00.123Z: of the group of n1"],
    "item": {"item_id": "n7", "near": [
        {"item_id": "n1", "similarity": 0.93, "distance": 2, "found_by": "both"},
        {"item_id": "n44", "similarity": null, "distance": 1, "found_by": "simhash"}]},
    "group_id": "n1",
    "members": [{"item_id": "n1", "similarity": 1}, {"item_id": "n12", "similarity": null},
                {"item_id": "n7", "similarity": 0.93}],
    "next": "n7"})");
  EXPECT_EQ(GroupText(answer),
            "n7, of 2025-11-21T04:40:00.123Z: of the group of n1\n"
            "  n1   the first\n"
            "  n12  similar to it\n"
            "  n7   similarity 0.93 to it\n"
            "  and more: --after n7\n"
            "near it, of any group: 2\n"
            "  n1   similarity 0.93, 2 bits apart, found by both\n"
            "  n44  1 bit apart, found by simhash\n");
  answer["item"]["near"] = SortedJson::array();
  answer["next"] = nullptr;
  EXPECT_TRUE(GroupText(answer).ends_with("  n7   similarity 0.93 to it\nnear it: nothing\n"));
  answer.erase("members");
  EXPECT_THROW(GroupText(answer), nlohmann::json::exception);
}

TEST(AnswerText, ListsWhatIsLikeAText) {
  EXPECT_EQ(SimilarItemsText(SortedJson::parse(R"({"similar": []})")), "no stored item is like it\n");
  EXPECT_EQ(SimilarItemsText(SortedJson::parse(R"({"similar": [
              {"item_id": "n1", "similarity": 0.931, "distance": 9, "found_by": "minhash"}]})")),
            "1 item is like it, the nearest first\n"
            "  n1  similarity 0.93, 9 bits apart, found by minhash\n");
}

}  // namespace
}  // namespace seen
