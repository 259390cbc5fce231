// All kinds, by writers of the tests' own.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "encoders.h"
#include "seen/snapshot.h"

namespace seen::client {
namespace {

using test::Items;
using test::Numbered;

class Kinds : public testing::TestWithParam<int> {};

TEST_P(Kinds, HoldWhatWasPutInAndLittleElse) {
  const Format format = test::FormatOf(GetParam());
  const Items others = Numbered("other-", 20000);
  for (const int count : {0, 1, 2, 10, 63, 64, 65, 100, 1000, 3000}) {
    const Items items = Numbered("item-", count);
    const std::string bytes = test::SnapshotOf(format, items);
    const auto snapshot = Snapshot::Parse(bytes);
    ASSERT_TRUE(snapshot) << count << ": " << snapshot.error().message;
    EXPECT_EQ(snapshot->format(), format);
    for (const Fingerprint item : items) ASSERT_TRUE(snapshot->MightContain(item)) << count;
    const auto wrong = std::count_if(others.begin(), others.end(),
                                     [&](Fingerprint other) { return snapshot->MightContain(other); });
    EXPECT_LE(wrong, count == 0 ? 0 : 20000 / 33) << count << ": about 1% is asked for";
  }
}

TEST_P(Kinds, AnswerManyAsTheyAnswerOne) {
  const std::string bytes = test::SnapshotOf(test::FormatOf(GetParam()), Numbered("item-", 1000));
  const auto snapshot = Snapshot::ParseCopy(bytes);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  std::vector<std::string> ids;
  for (int i = 0; i < 3000; ++i) ids.push_back("item-" + std::to_string(i));
  const std::vector<std::string_view> views(ids.begin(), ids.end());
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{256}, std::size_t{257}, ids.size()}) {
    std::vector<std::uint8_t> answers(count, 7);
    snapshot->MightContainEach(views.data(), count, answers.data());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(answers[i], snapshot->MightContain(ids[i]) ? 1 : 0) << i;
  }
}

std::string NameOfKind(const testing::TestParamInfo<int>& info) {
  return std::string(NameOf(test::FormatOf(info.param)));
}
INSTANTIATE_TEST_SUITE_P(All, Kinds, testing::Range(1, test::kFormats + 1), NameOfKind);

TEST(SplitBlockBloom, AnswersTheSameWithAndWithoutVectors) {
  const std::string payload = test::SplitBlockBloomPayload(Numbered("item-", 3000), 124);
  const auto filter = SplitBlockBloom::Parse(payload);
  ASSERT_TRUE(filter);
  const Items asked = Numbered("item-", 20000);
  std::vector<std::uint8_t> best(asked.size()), portable(asked.size());
  filter->MightContainEach(asked.data(), asked.size(), best.data());
  filter->TestEachPortable(asked.data(), asked.size(), portable.data());
  EXPECT_EQ(best, portable);
}

TEST(Quotient, FindsRunsThatAreFarFromTheirQuotient) {
  // 3,000 items of 40 quotients: whole blocks are taken by runs of the one before.
  const std::string payload = test::QuotientPayload(Numbered("item-", 3000), 20, 40);
  const auto filter = Quotient::Parse(payload);
  ASSERT_TRUE(filter) << filter.error().message;
  for (const Fingerprint item : Numbered("item-", 3000)) {
    ASSERT_TRUE(filter->MightContain(item, internal::HashOf(item)));
  }
  int wrong = 0;
  for (const Fingerprint item : Numbered("other-", 3000))
    wrong += filter->MightContain(item, internal::HashOf(item));
  EXPECT_LT(wrong, 20);
}

TEST(IndexedCuckoo, LeadsToDayAndRank) {
  test::DayOfItems older = {20400, 0, 0, Numbered("old-", 100)};
  test::DayOfItems newer = {20401, 0, 0, Numbered("new-", 50)};
  for (const std::uint32_t first_number : {0U, 0xffffffe0U}) {  // also where numbers begin anew
    const auto snapshot = Snapshot::ParseCopy(test::Envelope(
        Format::kIndexedCuckoo, test::IndexedCuckooPayload({older, newer}, 16, 12, first_number, 150)));
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    for (const auto& day : {older, newer}) {
      for (std::uint32_t rank = 0; rank < day.items.size(); ++rank) {  // Numbered sorts
        const auto all = snapshot->Details(day.items[rank]);
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const EntryDetails& details) {
          return details.day == Day(Days(day.day)) && details.rank == rank &&
                 details.number == first_number + rank + (day.day == 20401 ? 100 : 0);
        }));
      }
    }
  }
}

TEST(IndexedCuckoo, ForgetsWhatIsOlderThanItsCapacity) {
  test::DayOfItems day = {20400, 0, 0, Numbered("item-", 100)};
  const auto snapshot = Snapshot::ParseCopy(
      test::Envelope(Format::kIndexedCuckoo, test::IndexedCuckooPayload({day}, 30, 12, 0, 40)));
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(snapshot->MightContain(day.items[i]), i >= 60) << i;
}

TEST(DayChain, LeavesOutDaysBeforeTheItemAndBeforeTheWindow) {
  const Fingerprint old_item = FingerprintOf("old"), new_item = FingerprintOf("new");
  const std::string payload = test::DayChainPayload(
      {{20401, 1762646400, 1762700000, {new_item}}, {20400, 1762560000, 1762600000, {old_item}}}, 4);
  const auto snapshot = Snapshot::ParseCopy(test::Envelope(Format::kDayChain, payload));
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const auto asked = [&](std::string_view id, std::int64_t created_ms, std::int32_t window_start) {
    const DayLimits limits = {TimeMs(TimeMs::duration(created_ms)), Day(Days(window_start))};
    std::uint8_t answer = 7;
    snapshot->MightContainEach(&id, 1, &answer, limits);
    EXPECT_EQ(answer != 0, snapshot->MightContain(id, limits));
    return answer != 0;
  };
  EXPECT_TRUE(asked("old", 0, 0) && asked("new", 0, 0));
  EXPECT_TRUE(asked("old", -5, 20400));
  EXPECT_TRUE(asked("old", 1762600000999, 20400)) << "within the day's last second";
  EXPECT_FALSE(asked("old", 1762600001000, 20400));
  EXPECT_TRUE(asked("new", 1762600001000, 20400));
  EXPECT_FALSE(asked("old", 0, 20401));
  EXPECT_TRUE(asked("new", 0, 20401));
  EXPECT_FALSE(asked("new", 0, 20402));

  const TimeMs late(TimeMs::duration(1762600001000));
  const std::vector<Candidate> candidates = {{"old"}, {"new", late}, {"other"}, {"old", late}, {"other"}};
  const auto unseen = snapshot->Unseen(candidates);
  ASSERT_EQ(unseen.size(), 2U) << "the latest time of an id counts, wherever it stands";
  EXPECT_EQ(unseen[0].id, "old");
  EXPECT_EQ(unseen[1].id, "other");
}

TEST(Fingerprints, AreExact) {
  const Items items = Numbered("item-", 5000);
  for (const unsigned k : {19U, 22U, 31U}) {
    const auto snapshot =
        Snapshot::ParseCopy(test::Envelope(Format::kFingerprints, test::FingerprintsPayload(items, k)));
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    for (const Fingerprint item : items) {
      ASSERT_TRUE(snapshot->MightContain(item));
      const auto next = static_cast<Fingerprint>(static_cast<std::uint32_t>(item) + 1);
      ASSERT_EQ(snapshot->MightContain(next), std::binary_search(items.begin(), items.end(), next));
    }
  }
  const Items ends = {Fingerprint{0}, Fingerprint{1}, Fingerprint{0xfffffffe}, Fingerprint{0xffffffff}};
  const auto snapshot =
      Snapshot::ParseCopy(test::Envelope(Format::kFingerprints, test::FingerprintsPayload(ends, 20)));
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  for (const Fingerprint item : ends) EXPECT_TRUE(snapshot->MightContain(item));
  EXPECT_FALSE(snapshot->MightContain(Fingerprint{2}) || snapshot->MightContain(Fingerprint{0xfffffffd}));
}

}  // namespace
}  // namespace seen::client
