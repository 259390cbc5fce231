#include <gtest/gtest.h>

#include "model/delta.h"
#include "query/user_history.h"

namespace seen {
namespace {

constexpr int32_t kToday = 20'000;
constexpr TimeMs kNow{kToday * kMsPerDay + 1'000'000};

OtherSegment Other(SegmentKind kind, uint32_t bucket, std::vector<Fingerprint> fingerprints,
                   std::vector<uint32_t> times = {}, uint32_t width_s = kDayWidth) {
  OtherSegment segment;
  segment.kind = kind;
  segment.width_s = width_s;
  segment.bucket = bucket;
  segment.first_second = 10;
  segment.last_second = 20;
  segment.fingerprints = std::move(fingerprints);
  segment.times = std::move(times);
  if (kind == SegmentKind::kByCreation) {
    segment.first_second = segment.last_second = 0;
    segment.last_day = *std::max_element(segment.times.begin(), segment.times.end());
  }
  return segment;
}

FilterPolicy Policy() {
  FilterPolicy filter;
  filter.window_days = 30;
  filter.kinds = {{"clicked", kDeclaredKindFirst + 3, 7}};
  return filter;
}

Result<UserAnswer> Ask(const Delta& delta, const FilterPolicy& filter, TimeMs now,
                       const SegmentsQuestion& question) {
  std::string encoded;
  EncodeDelta(delta, encoded);
  return DescribeUser(encoded, filter, now, "default/u", question);
}

UserAnswer Describe(const Delta& delta, const FilterPolicy& filter, TimeMs now) {
  return Ask(delta, filter, now, {}).value();
}

SegmentSummary One(OtherSegment segment, const FilterPolicy& filter, TimeMs now = kNow) {
  Delta delta;
  delta.others.push_back(std::move(segment));
  const UserAnswer answer = Describe(delta, filter, now);
  EXPECT_EQ(answer.segments.size(), 1u);
  return answer.segments.at(0);
}

std::optional<TimeMs> Day0(int32_t day) { return StartOf(Day{day}); }

TEST(DescribeUser, NamesEachKindItsStretchAndWhenItEnds) {
  FilterPolicy by_creation = Policy();
  by_creation.window_by = WindowBy::kItemCreatedAt;
  FilterPolicy cooling = Policy();
  cooling.cooldown_days = 5;
  FilterPolicy cooling_by_creation = by_creation;
  cooling_by_creation.cooldown_days = 5;
  FilterPolicy repeated = cooling;
  repeated.exposures_min = 2;
  FilterPolicy similar = Policy();
  similar.similar = Similar::kDrop;
  FilterPolicy similar_cooling = cooling;
  similar_cooling.similar = Similar::kDemote;
  const auto clicked = static_cast<SegmentKind>(kDeclaredKindFirst + 3);
  const auto unknown = static_cast<SegmentKind>(kDeclaredKindFirst);
  struct Case {
    const char* name;
    FilterPolicy filter;
    OtherSegment segment;
    const char* kind;
    uint32_t items, exposures;
    std::optional<TimeMs> until;
  };
  const auto day = static_cast<uint32_t>(kToday - 6);
  const Case cases[] = {
      {"clicked", Policy(), Other(clicked, day, {{1}, {2}}), "clicked", 2, 2, Day0(kToday + 2)},
      {"unknown", Policy(), Other(unknown, day, {{1}}), "declared 16", 1, 1, std::nullopt},
      {"like what was shown", similar, Other(SegmentKind::kSimilar, day, {{1}, {2}}), "similar", 2, 2,
       Day0(kToday + 25)},
      {"like it, cooling", similar_cooling, Other(SegmentKind::kSimilar, day, {{1}}), "similar", 1, 1,
       Day0(kToday)},
      {"like it, which is off now", Policy(), Other(SegmentKind::kSimilar, day, {{1}}), "similar", 1, 1,
       std::nullopt},
      {"repeated", repeated, Other(SegmentKind::kRepeated, day, {{1}, {1}, {1}, {2}}, {15, 16, 17, 15}),
       "repeated", 2, 4, Day0(kToday + 25)},
      {"repeated, now once is enough", cooling, Other(SegmentKind::kRepeated, day, {{1}}, {15}), "repeated",
       1, 1, Day0(kToday)},
      {"created", by_creation, Other(SegmentKind::kByCreation, day, {{1}, {2}}, {day + 1, day + 4}),
       "by_creation", 2, 2, Day0(kToday + 25)},
      {"created, cooling", cooling_by_creation,
       Other(SegmentKind::kByCreation, day, {{1}, {2}}, {day + 1, day + 4}), "by_creation", 2, 2,
       Day0(kToday + 4)},
      {"created, by exposure now", Policy(),
       Other(SegmentKind::kByCreation, day, {{1}, {2}}, {day + 1, day + 4}), "by_creation", 2, 2,
       Day0(kToday + 29)},
  };
  for (const Case& one : cases) {
    const SegmentSummary summary = One(one.segment, one.filter);
    EXPECT_EQ(summary.kind, one.kind) << one.name;
    EXPECT_EQ(summary.from, StartOf(Day{kToday - 6})) << one.name;
    EXPECT_EQ(summary.to, StartOf(Day{kToday - 5})) << one.name;
    EXPECT_EQ(summary.items, one.items) << one.name;
    EXPECT_EQ(summary.exposures, one.exposures) << one.name;
    EXPECT_EQ(summary.counts_until, one.until) << one.name;
    EXPECT_EQ(summary.in_window, one.until && *one.until > kNow) << one.name;
    EXPECT_GT(summary.bytes, 5u) << one.name;
  }
}

TEST(DescribeUser, TellsWhenServedItemsEnd) {
  const uint32_t bucket = kToday * 288 + 2;  // buckets of 300 s
  const int64_t start_ms = int64_t{bucket} * 300'000, end_ms = start_ms + 7 * 300'000;
  const OtherSegment served = Other(SegmentKind::kServed, bucket, {{1}}, {}, 300);
  const SegmentSummary last = One(served, Policy(), {end_ms - 1});
  EXPECT_EQ(last.kind, "served");
  EXPECT_EQ(last.from, TimeMs{start_ms});
  EXPECT_EQ(last.to, TimeMs{start_ms + 300'000});
  EXPECT_EQ(last.first_at, TimeMs{start_ms + 10'000});
  EXPECT_EQ(last.last_at, TimeMs{start_ms + 20'000});
  EXPECT_EQ(last.counts_until, TimeMs{end_ms});
  EXPECT_TRUE(last.in_window);
  EXPECT_FALSE(One(served, Policy(), {end_ms}).in_window);
}

TEST(DescribeUser, PutsTheNewestFirstAndCountsWhatCounts) {
  Delta delta;
  delta.user_id = "u";
  delta.removals = {{{9}, {kToday}}};
  delta.segments = {
      {{kToday - 31}, 1, 2, {{7}}}, {{kToday - 30}, 1, 2, {{1}, {2}}}, {{kToday}, 3, 4, {{2}, {3}}}};
  delta.others = {Other(SegmentKind::kServed, kToday * 288 + 2, {{3}, {4}}, {}, 300),
                  Other(static_cast<SegmentKind>(kDeclaredKindFirst + 3), kToday - 8, {{5}}),
                  Other(static_cast<SegmentKind>(kDeclaredKindFirst + 3), kToday - 7, {{6}})};
  const UserAnswer answer = Describe(delta, Policy(), kNow);
  EXPECT_EQ(answer.items, 5u);  // items 1, 2, 3, 4 and 6
  EXPECT_EQ(answer.removals, 1u);
  std::string bytes;
  EncodeDelta(delta, bytes);
  EXPECT_EQ(answer.bytes, bytes.size());
  std::string order;
  for (const SegmentSummary& segment : answer.segments) {
    order += segment.kind + (segment.in_window ? "+ " : "- ");
  }
  EXPECT_EQ(order, "served+ exposed+ clicked+ clicked- exposed+ exposed- ");
}

TEST(DescribeUser, GoesOnWhereTheAnswerBeforeEnded) {
  Delta delta;
  std::vector<std::string> all;
  for (int32_t day = kToday - 6; day <= kToday; ++day) {
    delta.segments.push_back({{day}, 1, 2, {{1}}});
    delta.others.push_back(
        Other(static_cast<SegmentKind>(kDeclaredKindFirst + 3), static_cast<uint32_t>(day), {{2}}));
  }
  const auto text = [](const SegmentSummary& segment) {
    return segment.kind + std::to_string(DayOf(segment.from).since_epoch);
  };
  for (const SegmentSummary& segment : Describe(delta, Policy(), kNow).segments) all.push_back(text(segment));
  ASSERT_EQ(all.size(), 14u);
  for (const uint32_t limit : {1u, 3u, 7u, 14u, 15u}) {
    Delta growing = delta;
    std::vector<std::string> pages;
    std::string cursor;
    do {
      const auto page = Ask(growing, Policy(), kNow, {limit, cursor});
      ASSERT_TRUE(page.has_value() && page->next);
      EXPECT_LE(page->segments.size(), limit);
      EXPECT_EQ(page->items, 2u);
      for (const SegmentSummary& segment : page->segments) pages.push_back(text(segment));
      cursor = *page->next;
      growing.segments.push_back({growing.segments.back().day + 1, 1, 2, {{1}}});  // doesn't move the list
    } while (!cursor.empty());
    EXPECT_EQ(pages, all) << limit;
  }
  EXPECT_EQ(Describe(delta, Policy(), kNow).next, std::nullopt);
}

TEST(DescribeUser, RefusesMoreSegmentsThanAnAnswerHasUnlessAskedForPages) {
  Delta delta;
  for (int32_t day = 0; day <= static_cast<int32_t>(kSegmentsMax); ++day)
    delta.segments.push_back({{day}, 1, 2, {{1}}});
  const auto refused = Ask(delta, Policy(), kNow, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_EQ(refused.error().message,
            "limit: missing, and there are 2001 segments; an answer has at most 2000. Remedy: ask with "
            "?limit=2000, and again with the \"next\" of each answer as cursor");
  const auto page = Ask(delta, Policy(), kNow, {kSegmentsMax, {}});
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->segments.size(), kSegmentsMax);
  EXPECT_EQ(Ask(delta, Policy(), kNow, {{}, *page->next}).value().segments.size(), 1u);
  EXPECT_EQ(Ask(delta, Policy(), kNow, {1u, "anything"}).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace seen
