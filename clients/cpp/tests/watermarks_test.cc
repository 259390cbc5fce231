#include "seen/watermarks.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "encoders.h"

namespace seen::client {
namespace {

constexpr const char* kRecord =
    R"({"version":1,"partition":3,"partition_time_ms":1000,"next_offset":17,"lag_messages":0,)"
    R"("unpublished_users":2,"heartbeat_ms":5000})";

TimeMs At(std::int64_t ms) { return TimeMs(TimeMs::duration(ms)); }

std::string ErrorOf(std::string_view json) {
  const auto watermark = Watermark::Parse(json);
  return watermark ? "" : watermark.error().message;
}

TEST(Watermark, IsReadFromItsRecord) {
  const auto watermark = Watermark::Parse(kRecord);
  ASSERT_TRUE(watermark) << watermark.error().message;
  EXPECT_EQ(watermark->partition, 3);
  EXPECT_EQ(watermark->partition_time, At(1000));
  EXPECT_EQ(watermark->next_offset, 17);
  EXPECT_EQ(watermark->lag_messages, 0);
  EXPECT_EQ(watermark->unpublished_users, 2);
  EXPECT_EQ(watermark->heartbeat, At(5000));
}

TEST(Watermark, SkipsMembersItDoesNotKnow) {
  const auto watermark = Watermark::Parse(
      " {\"a\" : {\"partition\":[9,{\"b\":\"}\\\"\"}],\"c\":{}},\n\"version\": 1,\"d\":[],\"partition\":2,"
      "\"partition_time_ms\":-5,\"next_offset\":0,\"lag_messages\":7,\"e\":null,\"f\":1.5e3,\"unpublished_"
      "users\":0,"
      "\"heartbeat_ms\":9223372036854775807, \"g\":true} ");
  ASSERT_TRUE(watermark) << watermark.error().message;
  EXPECT_EQ(watermark->partition, 2);
  EXPECT_EQ(watermark->AsOf(), At(-5));
}

TEST(Watermark, RefusesWhatItCannotMakeSenseOf) {
  for (const char* wrong :
       {"", "7", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":\"b}", "{\"a\":1} x",
        "{\"a\":{\"b\":1]}", "{\"a\":\"\\", "{\"a\":+1}", "{\"a\":nope}"}) {
    EXPECT_EQ(ErrorOf(wrong), "watermark: not a JSON object") << wrong;
  }
  EXPECT_EQ(ErrorOf("{\"a\":" + std::string(60000, '[')), "watermark: not a JSON object") << "too deep";
  EXPECT_EQ(ErrorOf(std::string(65537, ' ')), "watermark: 65537 bytes, at most 65536");
  std::string other = kRecord;
  EXPECT_EQ(ErrorOf(other.replace(other.find(":1,") + 1, 1, "2")),
            "watermark: version is 2, this reader knows 1: update the reader");
  for (const char* value : {"5000.0", "\"5000\"", "null", "9223372036854775808", "5e3"}) {
    other = kRecord;
    EXPECT_EQ(ErrorOf(other.replace(other.find("5000"), 4, value)),
              "watermark: heartbeat_ms is missing or no 64-bit integer")
        << value;
  }
  other = kRecord;
  EXPECT_EQ(ErrorOf(other.replace(other.find("next_offset"), 4, "last")),
            "watermark: next_offset is missing or no 64-bit integer");
  other = kRecord;
  EXPECT_EQ(ErrorOf(other.replace(other.find(":3,"), 2, ":-1")),
            "watermark: partition is -1, must be from 0 to 2^31 - 1");
}

TEST(Watermark, IsOfItsHeartbeatOnceNothingIsLeftToRead) {
  Watermark watermark;
  watermark.partition_time = At(1000);
  watermark.heartbeat = At(5000);
  EXPECT_EQ(watermark.AsOf(), At(5000));
  EXPECT_EQ(watermark.StaleBy(At(5700)), TimeMs::duration(700));
  EXPECT_EQ(watermark.StaleBy(At(4000)), TimeMs::duration(0));
  watermark.lag_messages = 1;
  EXPECT_EQ(watermark.AsOf(), At(1000));
  watermark.partition_time = At(9000);  // a producer's clock that runs ahead
  EXPECT_EQ(watermark.AsOf(), At(5000));
  watermark.partition_time = TimeMs::min();
  EXPECT_EQ(watermark.StaleBy(At(4000)), TimeMs::duration::max());
}

TEST(Watermark, SaysWhereUpdatesBegin) {
  const std::string record(kRecord);
  const auto with = [&](const std::string& members) {
    return Watermark::Parse("3", record.substr(0, record.size() - 1) + "," + members + "}");
  };
  const auto beat =
      with(R"("generation":7,"published_to":90,"updates_from":4,"snapshots_to":{"default":12,"b":0})");
  ASSERT_TRUE(beat) << beat.error().message;
  EXPECT_EQ(beat->generation, 7);
  EXPECT_EQ(beat->published_to, 90);
  EXPECT_EQ(beat->updates_from, 4);
  EXPECT_EQ(beat->snapshots_to, (decltype(beat->snapshots_to){{"default", 12}, {"b", 0}}));
  EXPECT_FALSE(beat->updates_error);
  const auto none = with(R"("generation":null,"published_to":null,"snapshots_to":{"default":null})");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->updates_error);
  EXPECT_EQ(none->generation, std::nullopt);
  EXPECT_TRUE(none->snapshots_to.empty());
  for (const char* odd : {R"("generation":0)",
                          R"("generation":"7")",
                          R"("published_to":-1)",
                          R"("published_to":1.5)",
                          R"("updates_from":[])",
                          R"("snapshots_to":7)",
                          R"("snapshots_to":[1])",
                          R"("snapshots_to":{"a":-1})",
                          R"("snapshots_to":{"a":"1"})",
                          R"("snapshots_log":7)",
                          R"("snapshots_log":{"a":-1})",
                          R"("snapshots_log":{"a":1.5})",
                          R"("complete_since_ms":[7])",
                          R"("complete_since_ms":{"a":-1})",
                          R"("complete_since_ms":{"a":true})",
                          R"("snapshots_topic":"a")",
                          R"("snapshots_topic":7)",
                          R"("snapshots_topic":{"a":7})",
                          R"("snapshots_topic":{"a":["b"]})",
                          R"("snapshots_topic":{"a":"\u12g4"})"}) {
    const auto watermark = with(odd);
    ASSERT_TRUE(watermark) << odd << ": it still says how fresh a snapshot is";
    EXPECT_TRUE(watermark->updates_error) << odd;
  }
  EXPECT_FALSE(Watermark::Parse("4", kRecord)) << "of another partition than its key";
}

TEST(Watermark, SaysWhichLogOfWhichTopicTheSnapshotsAre) {
  const std::string record(kRecord);
  const auto with = [&](const std::string& members) {
    return Watermark::Parse("3", record.substr(0, record.size() - 1) + "," + members + "}");
  };
  const auto beat = with(R"("snapshots_topic":{"default":"seen-filters","b":null},"snapshots_log":{"b":4},)"
                         R"("complete_since_ms":{"default":1000})");
  ASSERT_TRUE(beat) << beat.error().message;
  EXPECT_FALSE(beat->updates_error);
  EXPECT_EQ(beat->snapshots_topic, (decltype(beat->snapshots_topic){{"default", "seen-filters"}}));
  EXPECT_EQ(beat->snapshots_log, (decltype(beat->snapshots_log){{"b", 4}}));
  EXPECT_EQ(beat->complete_since, (decltype(beat->complete_since){{"default", At(1000)}}));
  const auto none = with(R"("snapshots_topic":null,"snapshots_log":null,"complete_since_ms":{"a":null})");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->updates_error);
  EXPECT_TRUE(none->complete_since.empty());
}

TEST(JsonIntegers, DecodesTheEscapesOfAString) {
  using internal::JsonIntegers;
  EXPECT_EQ(JsonIntegers::StringOf(R"("")"), "");
  EXPECT_EQ(JsonIntegers::StringOf(R"("用.-_")"), "用.-_");
  EXPECT_EQ(JsonIntegers::StringOf(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(JsonIntegers::StringOf(R"("\u0061\u00E9\u7528\ud83d\uDE00\u0000")"),
            std::string("a\xc3\xa9\xe7\x94\xa8\xf0\x9f\x98\x80\0", 11));
  for (const char* wrong : {"", "\"", "a", "7", "null", R"("\")", R"("\x")", R"("\u12")", R"("\u-123")",
                            R"("\u12g4")", R"("\ud83d")", R"("\ud83dx")", R"("\ud83d\u0061")", R"("\udE00")"})
    EXPECT_EQ(JsonIntegers::StringOf(wrong), std::nullopt) << wrong;
}

TEST(JsonIntegers, TakesAnyBytesForAString) {
  std::mt19937 random(7);
  const std::string likely = "\"\\ud83dDe00nx";
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<char> exact = {'"'};  // a vector, so that AddressSanitizer sees its end
    for (auto left = random() % 14; left > 0; --left)
      exact.push_back(random() % 4 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()]);
    exact.push_back('"');
    exact.shrink_to_fit();
    if (internal::JsonIntegers::StringOf({exact.data(), exact.size()})) ++taken;
  }
  EXPECT_GT(taken, 1000) << "else nothing but refusals was tried";
  EXPECT_LT(taken, 19'000);
}

TEST(Watermarks, TellStaleFromQuiet) {
  const auto snapshot = Snapshot::ParseCopy(test::SnapshotOf(Format::kBloom, {}));  // of partition 3
  ASSERT_TRUE(snapshot);
  const TimeMs own = snapshot->as_of();
  const auto later = [own](int ms) { return own + TimeMs::duration(ms); };
  Watermarks watermarks;
  EXPECT_EQ(watermarks.AsOf(*snapshot), own);
  EXPECT_EQ(watermarks.StaleBy(*snapshot, later(60000)), TimeMs::duration(60000));
  Watermark watermark;
  watermark.partition = 2;
  watermark.heartbeat = later(59000);
  watermarks.Set(watermark);
  EXPECT_EQ(watermarks.AsOf(*snapshot), own) << "another partition's says nothing of it";
  watermark.partition = 3;
  watermarks.Set(watermark);
  EXPECT_EQ(watermarks.StaleBy(*snapshot, later(60000)), TimeMs::duration(1000));
  watermark.heartbeat = later(-1000);
  watermarks.Set(watermark);
  EXPECT_EQ(watermarks.AsOf(*snapshot), own) << "the later of the two";
  watermarks.Forget(3);
  EXPECT_EQ(watermarks.Of(3), nullptr);
}

TEST(Watermarks, NothingSeenIsAsFreshAsTheStalestPartition) {
  Watermarks watermarks;
  Watermark watermark;
  watermark.heartbeat = At(5000);
  watermarks.Set(watermark);
  EXPECT_FALSE(watermarks.AsOfAll(2).has_value());
  watermark.partition = 1;
  watermark.heartbeat = At(4000);
  watermarks.Set(watermark);
  EXPECT_EQ(watermarks.AsOfAll(2), At(4000));
}

}  // namespace
}  // namespace seen::client
