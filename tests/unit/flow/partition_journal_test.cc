// The journal through a partition's flow: it lists what was shown, wherever the rows are by then.
#include "flow/partition_journal.h"

#include <fmt/format.h>

#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

constexpr int64_t kDayMs = kMsPerDay;

std::shared_ptr<const EventPlan> PlanOfAll() {
  EventFormat format;
  format.wanted = {.kind = true, .scene = true, .position = true, .request_id = true};
  format.filters = {{}, {{"video*"}, {}}};
  return *EventPlan::Make(format);
}

class PartitionJournalTest : public test::FlowTest {
 protected:
  void Open(int64_t start = 0) {
    PartitionOptions options;
    options.filters = {{7, "all", 30, 10'000, {}, std::nullopt}, {2, "video", 30, 10'000, {}, std::nullopt}};
    options.plan = PlanOfAll();
    options.tail_bytes_max = tail_bytes_max;
    options.journal = JournalPolicy{days, budget};
    OpenFlow(options, start);
  }
  Result<size_t> Apply(size_t number) {
    const auto& [value, timestamp] = log[number];
    const Record record{static_cast<int64_t>(number), {timestamp}, "u", value, false};
    return flow->intake.Apply({&record, 1});
  }
  void Send(std::string value, int64_t timestamp_ms = kNow) {
    log.emplace_back(std::move(value), timestamp_ms);
    ASSERT_EQ(Apply(log.size() - 1), size_t{1});
  }
  void Show(std::string_view user, std::string_view item, int64_t at = kNow, std::string_view more = "") {
    Send(Exposed(user, item, at, more));
  }
  void Erase(std::string_view user, int64_t at = kNow) { Send(Erased(user, at)); }
  static std::string Exposed(std::string_view user, std::string_view item, int64_t at,
                             std::string_view more = "") {
    return fmt::format(R"({{"user_id":"{}","item_id":"{}","exposed_at":{}{}}})", user, item, at, more);
  }
  static std::string Erased(std::string_view user, int64_t at) {
    return fmt::format(R"({{"user_id":"{}","kind":"erased","exposed_at":{}}})", user, at);
  }
  std::vector<std::string> Items(std::string_view user, FilterId filter = 7,
                                 std::optional<JournalPlace> from = std::nullopt, int64_t since = 0) const {
    std::vector<std::string> items;
    const UserKey key = UserKeyOf(user);
    const auto delta = sim::ReadDecoded(flow->reader, 0, key);
    EXPECT_TRUE(delta);
    const Status read = flow->journal->Read({filter, key, delta->erased, {since}, from},
                                            [&](const JournalPlace&, const JournalRow& row) {
                                              for (const auto& item : row.items)
                                                items.emplace_back(item.item_id);
                                              return true;
                                            });
    EXPECT_TRUE(read) << read.error().message;
    return items;
  }
  using Names = std::vector<std::string>;

  int32_t days = 30;
  uint64_t tail_bytes_max = 1 << 20;
  std::shared_ptr<JournalBudget> budget = std::make_shared<JournalBudget>(1'000'000);
  std::deque<std::pair<std::string, int64_t>> log;
};

TEST_F(PartitionJournalTest, AnExposureIsListedAtOnceInTheTailThenFrozenThenStored) {
  Open();
  Show("u", "a", kNow - 5);
  Show("v", "of another", kNow);
  EXPECT_EQ(Items("u"), Names{"a"});
  flow->intake.Freeze();
  Show("u", "b", kNow - 7);
  Show("u", "c", kNow);
  EXPECT_EQ(Items("u"), (Names{"c", "a", "b"}));
  ASSERT_TRUE(flow->checkpoint.Write());
  EXPECT_EQ(Items("u"), (Names{"c", "a", "b"}));
  Checkpoint();
  EXPECT_EQ(Items("u"), (Names{"c", "a", "b"}));
  EXPECT_EQ(flow->journal->AllBytes(), 0u);
  EXPECT_EQ(Items("u", 7, JournalPlace{{kNow - 5}, 0}), (Names{"a", "b"})) << "from a row on";
  EXPECT_EQ(Items("u", 7, std::nullopt, kNow - 5), (Names{"c", "a"})) << "since";
  EXPECT_EQ(reporter.checkpoints, 2u);
}

TEST_F(PartitionJournalTest, KeepsWhatTheEventSaid) {
  Open();
  Send(R"({"user_id":"u","kind":"exposed","exposed_at":5000,"scene":"video/1","request_id":"r-1",)"
       R"("items":[{"item_id":"a","position":3},{"item_id":"b","position":4},"c"]})",
       6000);
  Send(R"({"user_id":"u","kind":"removed","exposed_at":7000,"item_id":"a"})", 7000);
  for (const bool stored : {false, true}) {
    if (stored) Checkpoint();
    std::vector<std::pair<JournalPlace, JournalRow>> rows;
    std::string texts;
    ASSERT_TRUE(flow->journal->Read(
        {7, UserKeyOf("u"), {}, {0}, {}}, [&](const JournalPlace& place, const JournalRow& row) {
          texts += fmt::format("{}@{}/{} {} {} {}\n", row.kind, place.at.value, place.offset, row.scene,
                               row.request_id, row.items.back().item_id);
          rows.emplace_back(place, row);
          return true;
        }));
    EXPECT_EQ(texts, "2@7000/1   a\n0@5000/0 video/1 r-1 c\n");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].second.filters, (std::vector<FilterId>{2, 7}));
    EXPECT_EQ(rows[1].second.items[0].position, 3);
    EXPECT_EQ(rows[1].second.items[1].position, 4);
    EXPECT_EQ(rows[1].second.items[2].position, std::nullopt);
    EXPECT_EQ(rows[0].second.filters, std::vector<FilterId>{7}) << "no scene: not covered by \"video*\"";
  }
}

TEST_F(PartitionJournalTest, AFilterListsTheEventsItCovers) {
  Open();
  Show("u", "a", kNow, R"(,"scene":"video/1")");
  Show("u", "b", kNow + 1, R"(,"scene":"home")");
  for (const bool stored : {false, true}) {
    if (stored) Checkpoint();
    EXPECT_EQ(Items("u", 7), (Names{"b", "a"}));
    EXPECT_EQ(Items("u", 2), Names{"a"});
  }
}

TEST_F(PartitionJournalTest, AnErasureHidesAtOnceWhatCameBeforeItAndDeletesIt) {
  Open();
  Show("u", "stored", kNow - kDayMs);
  Show("v", "of another");
  Checkpoint();
  Show("u", "frozen");
  flow->intake.Freeze();
  Show("u", "in the tail");
  Erase("u");
  EXPECT_EQ(Items("u"), Names{});
  Show("u", "after it", kNow + 1);
  Show("u", "late, of a day before", kNow - kDayMs);
  EXPECT_EQ(Items("u"), Names{"after it"});
  ASSERT_TRUE(flow->checkpoint.Write());
  EXPECT_EQ(Items("u"), Names{"after it"});
  Checkpoint();
  EXPECT_EQ(Items("u"), Names{"after it"});
  EXPECT_EQ(durable.journal[UserKeyOf("u")].size(), 1u);
  Show("u", "later still, of a day before", kNow - kDayMs);
  Show("u", "of the day itself", kNow - 1);
  Checkpoint();
  EXPECT_EQ(Items("u"), (Names{"after it", "of the day itself"}));
  EXPECT_EQ(durable.journal[UserKeyOf("u")].size(), 2u) << "what the state doesn't take, no file keeps";
  EXPECT_EQ(Items("v"), Names{"of another"});
}

TEST_F(PartitionJournalTest, AnErasureOfThePastLeavesWhatIsNewer) {
  Open();
  Show("u", "new");
  Erase("u", kNow - 2 * kDayMs);
  Show("u", "old", kNow - 3 * kDayMs);
  EXPECT_EQ(Items("u"), Names{"new"});
  Checkpoint();
  EXPECT_EQ(Items("u"), Names{"new"});
}

TEST_F(PartitionJournalTest, WhatIsReadAgainIsListedOnce) {
  Open();
  for (int i = 0; i < 4; ++i) Show("u", std::to_string(i), kNow + i);
  Checkpoint();
  durable.position->next_offset = 1;
  Open();
  for (size_t i = 1; i < 4; ++i) ASSERT_TRUE(Apply(i));
  EXPECT_EQ(Items("u"), (Names{"3", "2", "1", "0"}));
  Checkpoint();
  EXPECT_EQ(Items("u"), (Names{"3", "2", "1", "0"}));
}

TEST_F(PartitionJournalTest, KeepsItsDaysAndSaysFromWhenOnItIsWhole) {
  days = 2;
  Open();
  EXPECT_LT(flow->journal->WholeFrom(), Day{0});
  Show("u", "too old for it", kNow - 3 * kDayMs);
  Show("u", "old", kNow - 2 * kDayMs);
  Show("u", "new");
  EXPECT_EQ(Items("u"), (Names{"new", "old"}));
  Checkpoint();
  EXPECT_EQ(flow->journal->WholeFrom(), DayOf({kNow}) - 2);
  clock.SetWall(kNow + kDayMs);
  Send(R"({"user_id":"v","item_id":"x","exposed_at":1763786400000})", kNow + kDayMs);
  Checkpoint();
  EXPECT_EQ(Items("u"), Names{"new"});
  EXPECT_EQ(flow->journal->WholeFrom(), DayOf({kNow}) - 1);
  EXPECT_EQ(*durable.journal_start, DayOf({kNow}) - 1);
  Open();
  EXPECT_EQ(flow->journal->WholeFrom(), DayOf({kNow}) - 1);
}

TEST_F(PartitionJournalTest, BegunOnAnOldStoreItIsWholeFromTheNextDayOn) {
  durable.position = Position{};
  durable.position->partition_time = {kNow};
  Open();
  EXPECT_EQ(flow->journal->WholeFrom(), DayOf({kNow}) + 1);
  Show("u", "a");
  Checkpoint();
  EXPECT_EQ(Items("u"), Names{"a"}) << "what there is is listed";
  EXPECT_EQ(*durable.journal_start, DayOf({kNow}) + 1);
}

TEST_F(PartitionJournalTest, TheOldestDaysGoWhereAllOfThemAreTooMuch) {
  budget = std::make_shared<JournalBudget>(3);  // rows: this store counts them instead of bytes
  Open();
  Show("u", "a", kNow - 2 * kDayMs);
  Show("u", "b", kNow - kDayMs);
  Show("u", "c");
  Checkpoint();
  EXPECT_FALSE(flow->intake.HasChanges());
  Show("u", "d", kNow + 1);
  Checkpoint();
  EXPECT_TRUE(flow->intake.HasChanges()) << "an idle partition drops its days too";
  Checkpoint();
  EXPECT_FALSE(flow->intake.HasChanges());
  EXPECT_EQ(Items("u"), (Names{"d", "c", "b"}));
  EXPECT_EQ(flow->journal->WholeFrom(), DayOf({kNow}) - 1);
  budget->Report(99, {{DayOf({kNow}), 100}});  // of another partition
  Checkpoint();
  EXPECT_EQ(Items("u"), Names{}) << "a day that is too much alone goes too, and begins anew";
  Show("u", "e", kNow + 2);
  budget->Forget(99);
  Checkpoint();
  EXPECT_EQ(Items("u"), Names{"e"});
  EXPECT_EQ(flow->journal->WholeFrom(), DayOf({kNow}) + 1);
}

TEST_F(PartitionJournalTest, ItsRowsFillTheTail) {
  tail_bytes_max = 64 * 1024;
  Open();
  const std::string scene = R"(,"scene":")" + std::string(500, 's') + '"';
  size_t taken = 0;
  for (int i = 0; i < 1'000; ++i) {
    log.emplace_back(Exposed("u", std::to_string(i), kNow, scene), kNow);
    if (*Apply(log.size() - 1) == 0) break;
    ++taken;
  }
  EXPECT_GT(taken, 80u);
  EXPECT_LT(taken, 130u);
  EXPECT_TRUE(flow->intake.CheckpointDue());
  EXPECT_EQ(flow->intake.HeldBy(), HoldReason::kTailFull);
  Checkpoint();
  EXPECT_EQ(*Apply(log.size() - 1), 1u);
  EXPECT_EQ(Items("u").size(), taken + 1);
}

// Compares the journal with the log itself. The histories are random, with failed checkpoints, crashes and
// partial replays.
TEST_F(PartitionJournalTest, ListsWhatTheLogSaysThroughAnything) {
  struct Logged {
    size_t user;
    bool erases;
    int64_t at;
    std::string item;
  };
  const Names users = {"u", "v", "w"};
  size_t listed = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    random.seed(seed);
    durable = {};
    log.clear();
    std::vector<Logged> logged;
    Open();
    const auto expect_right = [&](size_t applied) {
      for (size_t user = 0; user < users.size(); ++user) {
        // As in the state: an erasure takes rows that stand before it in the log if they are of its day or
        // earlier. It takes rows that stand after it in the log if they are of earlier days.
        std::vector<std::pair<JournalPlace, std::string>> rows;
        int64_t newest_erasure = INT64_MIN;
        for (size_t i = 0; i < applied; ++i) {
          const Logged& entry = logged[i];
          if (entry.user != user) continue;
          const int64_t day = DayOf({entry.at}).since_epoch;
          if (entry.erases) {
            newest_erasure = std::max(newest_erasure, day);
            std::erase_if(rows, [&](const auto& row) { return DayOf(row.first.at).since_epoch <= day; });
          } else {
            rows.push_back({{{entry.at}, static_cast<int64_t>(i)}, entry.item});
          }
        }
        std::erase_if(rows,
                      [&](const auto& row) { return DayOf(row.first.at).since_epoch < newest_erasure; });
        std::sort(rows.begin(), rows.end(),
                  [](const auto& a, const auto& b) { return a.first.IsBefore(b.first); });
        Names expected;
        for (const auto& row : rows) expected.push_back(row.second);
        ASSERT_EQ(Items(users[user]), expected) << "seed " << seed;
        listed += expected.size();
      }
    };
    size_t applied = 0;
    size_t reached = 0;  // the state holds the log up to here
    for (int step = 0; step < 60; ++step) {
      const uint64_t dice = random() % 20;
      if (dice < 12) {
        if (applied == log.size()) {
          const int64_t at =
              kNow - static_cast<int64_t>(random() % 4) * kDayMs + static_cast<int64_t>(random() % 3);
          const size_t user = random() % 3;
          const bool erases = random() % 8 == 0;
          const std::string item = std::to_string(step);
          logged.push_back({user, erases, at, item});
          log.emplace_back(erases ? Erased(users[user], at) : Exposed(users[user], item, at), kNow);
        }
        ASSERT_EQ(Apply(applied++), size_t{1});
      } else if (dice < 15) {
        if (!flow->state.HasFrozen()) flow->intake.Freeze();
      } else if (dice < 19) {
        if (random() % 3 == 0)
          fault = random() % 2 == 0 ? sim::StoreFault::kCommitFails : sim::StoreFault::kNoSpace;
        if (flow->state.HasFrozen() && flow->checkpoint.Write()) {
          reached = std::max(reached, static_cast<size_t>(durable.position->next_offset));
        }
        fault = sim::StoreFault::kNone;
      } else {
        // The flow reads a part of the log again that the state already has. Erasures may hide too much until
        // the flow has read all of that part.
        applied = random() % (reached + 1);
        if (durable.position) durable.position->next_offset = static_cast<int64_t>(applied);
        Open();
        while (applied < reached) ASSERT_EQ(Apply(applied++), size_t{1});
      }
      expect_right(applied);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(listed, 10'000u);
}

}  // namespace
}  // namespace seen
