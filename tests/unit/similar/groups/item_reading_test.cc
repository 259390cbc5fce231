// The reading of item records: what is rejected and why. The features don't depend on the number of threads.
#include "similar/groups/item_reading.h"

#include <gtest/gtest.h>

#include <thread>

#include "similar/text/idf_table.h"
#include "support/fakes.h"

namespace seen::test {
namespace {

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kYear2100 = 4'102'444'800'000;

class ItemReadingTest : public ::testing::Test {
 protected:
  std::unique_ptr<ItemReading> Make(int threads) const {
    ItemReadingOptions options;
    options.record_bytes_max = 1 << 20;
    options.future_skew_max = std::chrono::seconds(300);
    options.clock = &clock_;
    options.features = {IdfTable::Bundled(), 0.8, 1 << 20};
    options.threads = threads;
    return std::make_unique<ItemReading>(options);
  }
  ReadItem ReadOne(std::string_view value, TimeMs timestamp, bool is_null = false) const {
    Record record;
    record.timestamp = timestamp;
    record.value = value;
    record.value_is_null = is_null;
    std::vector<ReadItem> out;
    Make(1)->Read({&record, 1}, out);
    return std::move(out.at(0));
  }

  sim::VirtualClock clock_;
  const TimeMs now_ = clock_.WallNow();
};

struct TimeCase {
  const char* what;
  int64_t record_ahead_ms;                  // of the wall clock
  std::optional<int64_t> created_ahead_ms;  // likewise; nullopt: the item doesn't say when
  bool taken;
};

TEST_F(ItemReadingTest, AnItemFurtherAheadOfTheClockThanTheSkewIsRejected) {
  constexpr int64_t kSkew = 300 * kSecondMs;
  const int64_t far = kYear2100 - now_.value;
  const TimeCase cases[] = {
      {"a record of now, an item without a time", 0, std::nullopt, true},
      {"a record just within the skew", kSkew, std::nullopt, true},
      {"a record just beyond the skew", kSkew + 1, std::nullopt, false},
      {"a record of 2100", far, std::nullopt, false},
      {"a record of 2100, an item of now", far, 0, true},
      {"a record and an item of 2100", far, far, false},
      {"a record of now, an item of 2100", 0, far, false},
      {"an old record, an item beyond the skew of its record", -2 * kSkew, 0, false},
      {"an old record, an old item", -kSkew, -kSkew, true},
  };
  for (const TimeCase& c : cases) {
    std::string value = R"({"item_id":"n1","text":"one two three")";
    if (c.created_ahead_ms) {
      value += ",\"created_at\":" + std::to_string(now_.value + *c.created_ahead_ms);
    }
    value += "}";
    const ReadItem item = ReadOne(value, {now_.value + c.record_ahead_ms});
    ASSERT_EQ(!item.rejection.has_value(), c.taken) << c.what;
    if (item.rejection) {
      EXPECT_EQ(item.rejection->reason, RejectReason::kTooFarAhead) << c.what;
      EXPECT_EQ(item.rejection->field, "created_at") << c.what;
      continue;
    }
    EXPECT_EQ(item.created_at.value, now_.value + c.created_ahead_ms.value_or(c.record_ahead_ms)) << c.what;
  }
}

TEST_F(ItemReadingTest, ARejectionForTheClockNamesBothTimesAndTheRemedy) {
  const ReadItem item = ReadOne(R"({"item_id":"n1"})", {now_.value + 400 * kSecondMs});
  ASSERT_TRUE(item.rejection);
  EXPECT_EQ(
      item.rejection->message,
      "created_at: missing, and the record's timestamp is 400 s ahead of this machine's clock, more than "
      "300. Remedy: correct the clock that is wrong, then send the item again");
}

TEST_F(ItemReadingTest, ADeletionIsTakenWhateverItsRecordsTime) {
  const ReadItem item = ReadOne(R"({"item_id":"n1","deleted":true})", {kYear2100});
  ASSERT_FALSE(item.rejection) << item.rejection->message;
  EXPECT_TRUE(item.deleted);
  EXPECT_EQ(item.item_id, "n1");
}

TEST_F(ItemReadingTest, SaysWhyARecordCannotBeRead) {
  EXPECT_EQ(ReadOne("", now_, true).rejection->reason, RejectReason::kNullValue);
  EXPECT_EQ(ReadOne("{", now_).rejection->reason, RejectReason::kNotJson);
  EXPECT_EQ(ReadOne(R"({"text":"a"})", now_).rejection->reason, RejectReason::kMissingField);
  EXPECT_EQ(ReadOne(std::string((1 << 20) + 1, ' '), now_).rejection->reason, RejectReason::kTooLarge);
}

TEST_F(ItemReadingTest, ReadsTheSameOnAnyNumberOfThreadsEachRecordInItsPlace) {
  std::vector<std::string> values;
  for (int i = 0; i < 300; ++i) {
    const std::string id = std::to_string(i);
    values.push_back(i % 7 == 0 ? "{" : R"({"item_id":"n)" + id + R"(","text":"words of item )" + id + "\"}");
  }
  std::vector<Record> records(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    records[i].value = values[i];
    records[i].timestamp = now_;
  }
  std::vector<ReadItem> alone, together;
  Make(1)->Read(records, alone);
  const auto reading = Make(4);
  for (const size_t count : {records.size(), size_t{3}, records.size()}) {  // 3 wake no other thread
    reading->Read(std::span(records).first(count), together);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(together[i].rejection.has_value(), i % 7 == 0) << i;
      if (together[i].rejection) continue;
      ASSERT_EQ(together[i].item_id, "n" + std::to_string(i));
      ASSERT_EQ(together[i].features.content_hash, alone[i].features.content_hash) << i;
    }
  }
}

TEST_F(ItemReadingTest, TextsThatAreAskedForHaveTheFeaturesOfTheLog) {
  const auto reading = Make(2);
  const ReadItem item = ReadOne(R"({"item_id":"n1","text":"one two three four"})", now_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {  // more calls than run at a time
    threads.emplace_back([&] {
      ItemFeatures features;
      reading->Features({"", "one two three four", ""}, features);
      EXPECT_EQ(features.content_hash, item.features.content_hash);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace seen::test
