// common_options.h, rate_limiter.h, progress.h

#include <gtest/gtest.h>

#include "tools/common_options.h"
#include "tools/load/rate_limiter.h"
#include "tools/progress.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

TEST(ParseTime, TakesMillisecondsDatesAndAges) {
  constexpr TimeMs kNow{1'763'700'000'000};
  const struct {
    const char* text;
    int64_t ms;
  } cases[] = {
      {"0", 0},
      {"1763700000123", 1'763'700'000'123},
      {"2025-11-21", 1'763'683'200'000},
      {"2025-11-21T04:40:00Z", 1'763'700'000'000},
      {"2025-11-21T04:40:00", 1'763'700'000'000},
      {"90s", kNow.value - 90'000},
      {"15m", kNow.value - 900'000},
      {"2h", kNow.value - 7'200'000},
      {"7d", kNow.value - 7 * kMsPerDay},
  };
  for (const auto& c : cases) {
    const auto time = ParseTime("--since", c.text, kNow);
    ASSERT_TRUE(time) << c.text;
    EXPECT_EQ(time->value, c.ms) << c.text;
  }
  for (const char* bad :
       {"", "x", "-5", "5w", "d", "2025-13-01", "2025-02-30", "2025-11-21T25:00:00Z", "2025-11-21 04:40"}) {
    const auto time = ParseTime("--since", bad, kNow);
    ASSERT_FALSE(time) << bad;
    EXPECT_EQ(time.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(time.error().message.starts_with("--since: ")) << time.error().message;
  }
}

TEST(TimeText, IsWhatParseTimeTakes) {
  EXPECT_EQ(TimeText({1'763'700'000'123}), "2025-11-21T04:40:00.123Z");
  EXPECT_EQ(TimeText({0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(DayText(DayOf({1'763'700'000'123})), "2025-11-21");
}

TEST(RateLimiter, SpacesEventsByTheRate) {
  const Instant start{};
  RateLimiter limiter(1000, start);
  EXPECT_EQ(limiter.Take(1, start), milliseconds(0));
  EXPECT_EQ(limiter.Take(1, start), milliseconds(1));
  EXPECT_EQ(limiter.Take(10, start), milliseconds(2));
  EXPECT_EQ(limiter.Take(1, start + milliseconds(12)), milliseconds(0));
  EXPECT_EQ(limiter.Take(1, start + milliseconds(12)), milliseconds(1));
}

TEST(RateLimiter, CatchesUpAtMostATenthOfASecond) {
  const Instant start{};
  RateLimiter limiter(1000, start);
  const Instant later = start + std::chrono::hours(1);
  int free = 0;
  while (limiter.Take(1, later) == milliseconds(0)) ++free;
  EXPECT_EQ(free, 101);
}

TEST(RateLimiter, KeepsTheRateOverManyEvents) {
  for (const double rate : {3.0, 777.0, 20'000.0, 3'000'000.0}) {
    const Instant start{};
    RateLimiter limiter(rate, start);
    const auto events = static_cast<uint64_t>(rate * 10);
    Instant now = start;
    for (uint64_t i = 0; i < events; ++i) now += limiter.Take(1, now);
    EXPECT_NEAR(std::chrono::duration<double>(now - start).count(), 10, 10 / rate + 0.01) << rate;
  }
}

TEST(RateLimiter, OfZeroNeverWaits) {
  RateLimiter limiter(0, Instant{});
  EXPECT_EQ(limiter.Take(1'000'000, Instant{}), milliseconds(0));
}

TEST(Progress, ShowsHowFarAndHowLong) {
  EXPECT_EQ(Progress::Line("read", 500'000, 1'000'000, "records", 10, "", true),
            "read [############............]  50% 500,000 of 1,000,000 records, 10s left, 50,000/s");
  EXPECT_EQ(Progress::Line("send", 12'345, 0, "events", 2, "3 rejected", true),
            "send 12,345 events, 6,172/s, 3 rejected");
  EXPECT_EQ(Progress::Line("send", 0, 100, "bytes", 1, "", false), "send   0% 0 of 100 bytes, 0/s");
  EXPECT_EQ(Progress::Line("send", 200, 100, "bytes", 1, "", true),
            "send [########################] 100% 200 of 100 bytes, 200/s");
}

TEST(Progress, FitsTheTerminal) {
  const auto line = [](size_t columns) {
    return Progress::Line("send", 50, 100, "bytes", 10, "3 rejected", true, columns);
  };
  EXPECT_EQ(line(79), "send [############............]  50% 50 of 100 bytes, 10s left, 5/s, 3 rejected");
  EXPECT_EQ(line(78), "send  50% 50 of 100 bytes, 10s left, 5/s, 3 rejected");
  EXPECT_EQ(line(51), "send  50%, 10s left, 3 rejected");
  EXPECT_EQ(line(24), "send  50%, 10s left, ...");
  EXPECT_EQ(line(2), "");
}

TEST(Progress, WritesNumbersForPeople) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(12'345'678), "12,345,678");
  EXPECT_EQ(WithByteUnit(1023), "1023 B");
  EXPECT_EQ(WithByteUnit(1536), "1.5 KiB");
  EXPECT_EQ(WithByteUnit(uint64_t{27} << 20), "27.0 MiB");
}

TEST(KafkaOptions, NamesAClientPropertyThatIsWrong) {
  for (const char* bad : {"linger.ms", "=5", "no.such.property=1"}) {
    KafkaOptions options;
    options.client = {bad};
    const auto settings = options.Settings();
    ASSERT_FALSE(settings) << bad;
    EXPECT_EQ(settings.error().code, Code::kInvalidArgument);
  }
  KafkaOptions options;
  options.client = {"client.id=a=b"};
  EXPECT_EQ(options.Settings()->at("client.id"), "a=b");
}

}  // namespace
}  // namespace seen
