#include "filter/day_chain.h"

#include <map>
#include <set>

#include "filter/snapshot_format.h"
#include "filters/mutable/mutable_day_chain.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using namespace kinds;

std::string Rendered(const Days& days, double rate) {
  std::string payload;
  DayChainFilter::Render(days.days, rate, payload);
  EXPECT_EQ(payload.size(), DayChainFilter::PayloadBytes(days.days, rate));
  return payload;
}

// As schemas/snapshot.md has it.
bool ReferenceAnswer(const std::string& payload, Fingerprint fingerprint, uint32_t created, int64_t from) {
  const uint32_t days = U32(payload, 0);
  size_t at = 4 + 20 * size_t{days};
  bool found = false;
  for (uint32_t i = 0; i < days; ++i) {
    const size_t row = 4 + 20 * size_t{i};
    const size_t bytes = size_t{32} * U32(payload, row + 16);
    const bool counts = U32(payload, row + 12) >= created && static_cast<int32_t>(U32(payload, row)) >= from;
    found |= counts && reference::MightContain(payload.substr(at, bytes), fingerprint);
    at += bytes;
  }
  EXPECT_EQ(at, payload.size());
  return found;
}

TEST(DayChain, HoldsAllOfItsDaysAndAnswersAsTheFormatHasIt) {
  const std::vector<std::vector<size_t>> cases = {
      {}, {0}, {1}, {3}, {0, 5, 0, 1}, {1, 2, 3, 4, 5, 6, 7}, {100, 1, 2000}, std::vector<size_t>(30, 100)};
  for (const auto& counts : cases) {
    for (const double rate : {0.5, 0.01, 1e-4}) {
      const Days days(counts);
      const std::string payload = Rendered(days, rate);
      const auto view = DayChainView::Parse(payload);
      ASSERT_TRUE(view.has_value()) << view.error().message;
      HoldsAll(*view, days.all);
      auto questions = RandomFingerprints(100, 3);
      questions.insert(questions.end(), days.all.begin(), days.all.end());
      std::vector<uint8_t> answers(questions.size());
      for (const uint32_t created : {0u, (kNewest - 3) * kSecondsADay, 0xffffffffu}) {
        for (const Day from : {kFirstOfDays, Day{kNewest - 2}, Day{kNewest + 1}}) {
          view->MightContainEach(questions, answers, created, from);
          for (size_t i = 0; i < questions.size(); ++i) {
            const bool expected = ReferenceAnswer(payload, questions[i], created, from.since_epoch);
            ASSERT_EQ(answers[i] == 1, expected);
            ASSERT_EQ(view->MightContain(questions[i], created, from), expected);
          }
        }
      }
    }
  }
}

TEST(DayChain, PassesOverDaysBeforeAnItemsCreationAndBeforeTheWindow) {
  const Days days({10, 10, 10});
  const std::string payload = Rendered(days, 1e-6);
  const auto view = DayChainView::Parse(payload);
  for (size_t i = 0; i < 3; ++i) {
    const DayOfItems& day = days.days[i];
    for (const Fingerprint fingerprint : day.fingerprints) {
      EXPECT_TRUE(view->MightContain(fingerprint, day.last_second));
      EXPECT_FALSE(view->MightContain(fingerprint, day.last_second + 1));
      EXPECT_TRUE(view->MightContain(fingerprint, 0, day.day));
      EXPECT_FALSE(view->MightContain(fingerprint, 0, day.day + 1));
    }
  }
}

TEST(DayChain, HoldsTheRateForAllDaysTogether) {
  const std::vector<std::vector<size_t>> cases = {
      std::vector<size_t>(30, 100), {2000, 10, 10, 500}, std::vector<size_t>(30, 1000), {3000}};
  for (const auto& counts : cases) {
    for (const double rate : {0.03, 0.01, 0.001}) {
      Positives positives;
      for (uint64_t seed = 0; seed < 4; ++seed) {
        const Days days(counts, seed);
        const std::string payload = Rendered(days, rate);
        positives.Ask(*DayChainView::Parse(payload), days.all, 100'000, seed);
      }
      EXPECT_LE(positives.Rate(), rate + positives.Deviations(rate, 4)) << counts.size() << " at " << rate;
      EXPECT_GE(positives.Rate(), 0.5 * rate)
          << counts.size() << " at " << rate;  // 2^(-1/2), and whole blocks
    }
  }
}

TEST(DayChain, SharesTheRateByTheDaysItems) {
  constexpr double kRate = 0.01;
  for (const auto& counts : {std::vector<size_t>(30, 1000), {3000}, {1, 4000, 17, 250}, {64, 64, 0, 128}}) {
    const Days days(counts);
    const std::string payload = Rendered(days, kRate);
    size_t row = 0;
    for (const size_t count : counts) {
      if (count == 0) continue;
      const uint32_t blocks = U32(payload, 4 + 20 * row++ + 16);
      const double share = kRate * static_cast<double>(count) / static_cast<double>(days.all.size());
      EXPECT_LE(split_block_bloom::FalsePositiveRate(count, blocks), share);
      if (blocks > 1) {
        EXPECT_GE(split_block_bloom::FalsePositiveRate(count, blocks - 1), share * std::sqrt(0.5));
      }
    }
    EXPECT_EQ(row, U32(payload, 0));
  }
  EXPECT_EQ(Rendered(Days({}), kRate), std::string(4, '\0'));
  EXPECT_EQ(Rendered(Days({30'000}), kRate).size(), 24 + SplitBlockBloomFilter::PayloadBytes(30'000, kRate));
}

TEST(DayChain, FollowsASetThroughInsertionsMergesAndDrops) {
  std::mt19937_64 random(3);
  MutableDayChain filter(50, 10, 0.01);
  std::map<int32_t, std::map<Fingerprint, uint32_t>> days;  // the last second of each
  int32_t from = 0;
  const auto insert = [&](MutableDayChain& to) {
    const int32_t day = from + static_cast<int32_t>(random() % 10);
    const auto second =
        static_cast<uint32_t>(day) * kSecondsADay + static_cast<uint32_t>(random() % kSecondsADay);
    const Fingerprint fingerprint = {static_cast<uint32_t>(random())};
    to.Insert(fingerprint, {day}, second);
    days[day][fingerprint] = second;
  };
  for (int i = 0; i < 3000; ++i) {
    const uint64_t what = random() % 100;
    if (what == 0) {
      ++from;
      filter.DropBefore({from});
      days.erase(days.begin(), days.lower_bound(from));
    } else if (what < 5) {
      MutableDayChain other(what < 3 ? 50 : 300, 10, 0.01);  // of the same size, and of another
      for (int j = 0; j < 20; ++j) insert(other);
      if (what % 2 == 0) {
        ASSERT_TRUE(filter.Merge(other).has_value());
      } else {
        const std::string payload = Serialised(other);
        ASSERT_TRUE(filter.Merge(*DayChainView::Parse(payload)).has_value());
      }
    } else {
      insert(filter);
    }
    if (i % 100 != 99) continue;
    const std::string payload = Serialised(filter);
    const auto view = DayChainView::Parse(payload);
    ASSERT_TRUE(view.has_value()) << view.error().message;
    size_t count = 0;
    for (const auto& [day, items] : days) {
      count += items.size();
      for (const auto& [fingerprint, second] : items) {
        ASSERT_TRUE(filter.MightContain(fingerprint, second, {day}));
        ASSERT_TRUE(view->MightContain(fingerprint, second, {day}));
      }
    }
    size_t counted = 0;
    std::set<std::pair<int32_t, size_t>> sizes;  // blocks of one size are one
    view->ForEachDay([&](const DayOfChain& day) {
      counted += day.item_count;
      EXPECT_TRUE(sizes.insert({day.day.since_epoch, day.blocks.size()}).second);
      EXPECT_GE(day.day.since_epoch, from);
      return true;
    });
    EXPECT_EQ(counted, count);
    for (const Fingerprint question : RandomFingerprints(100, static_cast<uint64_t>(i))) {
      ASSERT_EQ(view->MightContain(question), filter.MightContain(question));
    }
  }
  const std::string before = Serialised(filter);
  ASSERT_TRUE(filter.Merge(filter).has_value());
  EXPECT_EQ(Serialised(filter).size(), before.size());
}

TEST(DayChain, ReadsNothingOutsideWhateverTheBytes) {
  const std::vector<std::string> payloads = {Rendered(Days({}), 0.01), Rendered(Days({1}), 0.01),
                                             Rendered(Days({5, 60, 3}), 0.01)};
  Mutate<DayChainView>(payloads, 20'000, [](const auto& view) {
    AskSome(view);
    EXPECT_FALSE(view.MightContain({7}, 0xffffffff, {std::numeric_limits<int32_t>::max()}) &&
                 view.days() == 0);
  });
}

TEST(DayChain, RefusesALaterDayWithoutBlocks) {
  std::string payload = Rendered(Days({3, 2}), 0.01);
  payload.replace(24 + 16, 4, 4, '\0');
  const auto view = DayChainView::Parse(payload);
  ASSERT_FALSE(view.has_value());
  EXPECT_NE(view.error().message.find("no blocks"), std::string::npos) << view.error().message;
}

TEST(DayChainDeathTest, RefusesDaysThatDontDescend) {
  const Days days({1, 1});
  const std::vector<DayOfItems> turned = {days.days[1], days.days[0]};
  std::string payload;
  EXPECT_DEATH(DayChainFilter::Render(turned, 0.01, payload), "descend");
  EXPECT_DEATH(MutableDayChain(10, 0, 0.01), "one day at least");
}

}  // namespace
}  // namespace seen
