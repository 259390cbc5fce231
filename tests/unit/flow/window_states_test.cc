// What must not change a state: wrong clocks, the order of days, replays, items_max.
#include <algorithm>
#include <set>

#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

using test::TimedTest;

struct ClockCase {
  const char* name;
  int64_t shift_ms;
  bool seen_meanwhile;
};
void PrintTo(const ClockCase& one, std::ostream* out) { *out << one.name; }

class WrongClock : public TimedTest, public testing::WithParamInterface<ClockCase> {};

TEST_P(WrongClock, ErasesNothing) {
  const ClockCase& wrong = GetParam();
  options.filters[0].kinds = {{"clicked", kDeclaredKindFirst, 7}};
  options.kinds = {kDeclaredKindFirst};
  format.declared_kinds = {{"clicked", EventKind{kDeclaredKindFirst}}};
  Open();
  Send(Event("exposed", "new", kNow));
  Send(Event("exposed", "old", kNow - 29 * kMsPerDay));
  Send(Event("clicked", "clicked", kNow - 6 * kMsPerDay));
  Send(Event("served", "served", kNow));
  Send(Event("removed", "gone", kNow));
  Publish();
  Checkpoint();
  const auto before = durable.deltas;
  const auto published = topic.topic;
  const std::vector<std::string> items = {"new", "old", "clicked", "served"};
  for (const std::string& item : items) ASSERT_TRUE(Seen(item) && Published(item)) << item;

  const int64_t right = clock.WallNow().value;
  clock.SetWall(right + wrong.shift_ms);
  for (const std::string& item : items) EXPECT_EQ(Seen(item), wrong.seen_meanwhile) << item;
  Publish();
  Checkpoint();
  Open();
  Send(Event("exposed", "meanwhile", right), right);  // its record has Kafka's time
  Publish();
  Checkpoint();
  EXPECT_EQ(Seen("meanwhile"), wrong.seen_meanwhile);

  clock.SetWall(right);
  for (const std::string& item : items) EXPECT_TRUE(Seen(item)) << item;
  EXPECT_TRUE(Seen("meanwhile"));
  EXPECT_FALSE(Seen("gone"));
  Publish();
  for (const std::string& item : items) EXPECT_TRUE(Published(item)) << item;
  EXPECT_TRUE(Published("meanwhile"));
  Send(Event("removed", "meanwhile", right));
  Checkpoint();
  auto now = durable.deltas;
  ASSERT_EQ(now.size(), before.size());
  auto state = DecodeDelta(now.begin()->second);
  auto state_before = DecodeDelta(before.begin()->second);
  ASSERT_TRUE(state && state_before);
  EXPECT_EQ(state->others, state_before->others);
  ASSERT_EQ(state->segments.size(), state_before->segments.size());
  for (size_t i = 0; i < state->segments.size(); ++i) {
    EXPECT_EQ(state->segments[i].fingerprints, state_before->segments[i].fingerprints) << "day " << i;
  }
}

constexpr int64_t kYear = 365 * kMsPerDay;
INSTANTIATE_TEST_SUITE_P(ByAYear, WrongClock,
                         testing::Values(ClockCase{"Forward", kYear, false}, ClockCase{"Back", -kYear, true},
                                         ClockCase{"ToTheEpoch", -1'763'700'000'000 + kYear, true}),
                         [](const auto& test) { return std::string(test.param.name); });

// The same exposures of nine days, in different orders, and with different checkpoints and replays.
class DayOrders : public TimedTest {
 protected:
  struct Shown {
    int day;
    std::string item;
  };
  static std::vector<Shown> Shows() {
    std::vector<Shown> shows;
    for (int day = 0; day < 9; ++day) {
      for (int item = 0; item < 5; ++item)
        shows.push_back({day, "item-" + std::to_string((day * 3 + item) % 17)});
    }
    return shows;
  }
  std::string StateOf(const std::vector<Shown>& shows, size_t checkpoint_every) {
    durable = {};
    log.clear();
    Open();
    for (size_t i = 0; i < shows.size(); ++i) {
      Send(Event("exposed", shows[i].item, kNow - shows[i].day * kMsPerDay));
      if (i % checkpoint_every == checkpoint_every - 1) Checkpoint();
    }
    Checkpoint();
    return durable.deltas.begin()->second;
  }
};

TEST_F(DayOrders, EndInTheSameBytes) {
  std::vector<Shown> shows = Shows();
  const std::string expected = StateOf(shows, 1'000);
  std::reverse(shows.begin(), shows.end());
  EXPECT_EQ(StateOf(shows, 1'000), expected) << "in reverse";
  for (int round = 0; round < 30; ++round) {
    std::shuffle(shows.begin(), shows.end(), random);
    EXPECT_EQ(StateOf(shows, 1 + random() % 12), expected) << "shuffled, " << round;
  }
}

TEST_F(DayOrders, ReplayedEndInTheSameBytes) {
  const std::vector<Shown> shows = Shows();
  const std::string expected = StateOf(shows, 1'000);
  for (size_t from = 0; from < shows.size(); from += 4) {
    std::vector<Shown> twice = shows;
    twice.insert(twice.end(), shows.begin() + static_cast<std::ptrdiff_t>(from), shows.end());
    EXPECT_EQ(StateOf(twice, 7), expected) << "from " << from;
  }
}

struct Cut {
  const char* name;
  std::vector<std::vector<int>> days;  // items by number, the newest day first
  size_t whole_days;                   // count whole; of the next day, the smallest fingerprints count
  size_t seen;
};
void PrintTo(const Cut& cut, std::ostream* out) { *out << cut.name; }

std::vector<int> Items(int from, int count) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(from + i);
  return items;
}

class ItemsMax : public TimedTest, public testing::WithParamInterface<Cut> {
 protected:
  static std::string Item(int number) { return "item-" + std::to_string(number); }
  std::string StateOf(const Cut& cut, uint32_t items_max) {
    durable = {};
    log.clear();
    options.filters[0].items_max = items_max;
    Open();
    for (size_t day = cut.days.size(); day-- > 0;) {
      for (const int item : cut.days[day]) {
        Send(Event("exposed", Item(item), kNow - static_cast<int64_t>(day) * kMsPerDay));
      }
    }
    Checkpoint();
    return durable.deltas.begin()->second;
  }
};

TEST_P(ItemsMax, CutsAnswersAndSnapshotsNotTheState) {
  const Cut& cut = GetParam();
  std::set<Fingerprint> expected;
  for (size_t day = 0; day < cut.whole_days; ++day) {
    for (const int item : cut.days[day]) expected.insert(FingerprintOf(Item(item)));
  }
  if (cut.whole_days < cut.days.size()) {
    std::set<Fingerprint> crossing;
    for (const int item : cut.days[cut.whole_days]) crossing.insert(FingerprintOf(Item(item)));
    for (const Fingerprint fingerprint : crossing) {
      if (expected.size() < 10) expected.insert(fingerprint);
    }
  }
  const std::string whole = StateOf(cut, 10'000);
  EXPECT_EQ(StateOf(cut, 10), whole) << "the bytes";
  SeenReader reader;
  const auto read = [&] {
    ASSERT_TRUE(
        flow->reader.ReadSeen(0, UserKeyOf("u1"), options.filters[0].AnswerAt(clock.WallNow()), reader));
    const auto values = reader.seen().values();
    EXPECT_EQ(std::set<Fingerprint>(values.begin(), values.end()), expected);
    EXPECT_EQ(values.size(), cut.seen);
  };
  read();
  Publish();
  const auto view = SnapshotView::Parse(topic.topic.at({FilterIndex(), "u1"}));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->meta().item_count, cut.seen);
  const auto sent = log;
  for (const Logged& again : sent) Send(again.value, again.timestamp_ms);
  read();
}

INSTANTIATE_TEST_SUITE_P(
    OfTen, ItemsMax,
    testing::Values(Cut{"OneBelow", {Items(0, 4), Items(4, 5)}, 2, 9},
                    Cut{"Exactly", {Items(0, 4), Items(4, 6)}, 2, 10},
                    Cut{"OneAbove", {Items(0, 4), Items(4, 7)}, 1, 10},
                    Cut{"TheNewestDayAlone", {Items(0, 10), Items(10, 3)}, 1, 10},
                    Cut{"TheNewestDayIsTooLarge", {Items(0, 13), Items(13, 3)}, 0, 10},
                    Cut{"AnItemOfTwoDaysCountsOnce", {Items(0, 4), Items(3, 7)}, 2, 10},
                    Cut{"TheThirdDayCrosses", {Items(0, 4), Items(4, 4), Items(8, 6), Items(14, 2)}, 2, 10},
                    Cut{"OldDaysWithoutNewItems", {Items(0, 8), Items(0, 8), Items(8, 5)}, 2, 10}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace seen
