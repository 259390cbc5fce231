#include "seen/filter_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "encoders.h"
#include "naive_reader.h"
#include "updates.h"

namespace seen::client {
namespace {

constexpr int kUsers = 4, kItems = 6, kPartitions = 2;
constexpr TimeMs kNow{TimeMs::duration(1'000'000)};

std::string UserOf(std::uint32_t number) { return "u" + std::to_string(number); }
Fingerprint ItemOf(std::uint32_t number) { return FingerprintOf("n" + std::to_string(number)); }
std::optional<std::int64_t> MsOf(const std::optional<TimeMs>& time) {
  return time ? std::optional(time->time_since_epoch().count()) : std::nullopt;
}

/// One reader, and one that goes by the page word by word. Both get the same; the first as bytes.
class World {
 public:
  explicit World(std::uint32_t seed)
      : random_(seed),
        limit_(seed % 3 == 0 ? 12 : 1000),
        reader_("default", {0, 1}, limit_, seed % 2 == 0 ? "filters" : ""),
        naive_(limit_, seed % 2 == 0 ? std::optional<std::string>("filters") : std::nullopt) {}

  void Step() {
    const auto partition = static_cast<std::int32_t>(Below(kPartitions));
    switch (Below(14)) {
      case 0:
        if (Below(naive_.MustRestart(partition) ? 2 : 8) != 0) return;
        return reader_.SnapshotsRestart(partition), naive_.SnapshotsRestart(partition);
      case 1:
      case 2: {
        const std::int64_t position = 4 + Below(12);
        return reader_.SnapshotsEnd(partition, position), naive_.SnapshotsEnd(partition, position);
      }
      case 3:
      case 4:
        return Snapshot(partition);
      case 5:
      case 6:
      case 7: {
        const test::BeatParts beat = RandomBeat(partition);
        for (std::uint32_t again = Below(40) == 0 ? 59 + Below(2) : 1; again > 0; --again) Beat(beat);
        return;
      }
      default:
        return Update(partition);
    }
  }

  void Compare() const {
    for (std::int32_t partition = 0; partition < kPartitions; ++partition) {
      EXPECT_EQ(MsOf(reader_.AsOf(partition)), naive_.AsOf(partition));
      EXPECT_EQ(reader_.CompleteTo(partition), naive_.CompleteTo(partition));
      EXPECT_EQ(reader_.MustRestart(partition), naive_.MustRestart(partition));
      EXPECT_EQ(reader_.MovedTo(partition), naive_.MovedTo(partition));
      EXPECT_EQ(MsOf(reader_.CompleteSince(partition)), naive_.CompleteSince(partition));
    }
    EXPECT_EQ(MsOf(reader_.CompleteSince()), std::max(naive_.CompleteSince(0), naive_.CompleteSince(1)));
    EXPECT_EQ(reader_.additions(), naive_.additions());
    for (std::uint32_t number = 0; number < kUsers; ++number) {
      const std::string user = UserOf(number);
      std::vector<std::string> candidates, unseen;
      for (std::uint32_t i = 0; i < kItems; ++i) {
        const std::string id = "n" + std::to_string(i);
        const Fingerprint near = internal::InDomain(ItemOf(i), internal::kNearDomain);
        const bool seen = naive_.Answers(user, AdditionKind::kSeen, ItemOf(i), 1000);
        EXPECT_EQ(reader_.MightContain(user, id, kNow), seen) << user << " " << id;
        EXPECT_EQ(reader_.MightBeNear(user, id, kNow),
                  naive_.Answers(user, AdditionKind::kSimilar, near, 1000));
        candidates.push_back(id);
        if (!seen) unseen.push_back(id);
      }
      EXPECT_EQ(reader_.Unseen(user, candidates, {}, kNow), unseen) << user;
    }
  }

  bool fresh() const { return reader_.AsOf().has_value(); }

 private:
  std::uint32_t Below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  std::vector<Fingerprint> RandomItems() {
    std::vector<Fingerprint> items;
    for (std::uint32_t left = 1 + Below(3); left > 0; --left) items.push_back(ItemOf(Below(kItems)));
    return items;
  }

  test::BeatParts RandomBeat(std::int32_t partition) {
    std::int64_t& published_to = published_to_[partition];
    test::BeatParts beat = {partition, 1 + Below(12) / 11, published_to, Below(10)};
    if (Below(3) == 0) published_to += (next_[partition] - published_to) / 2;
    if (Below(20) == 0) published_to = std::max<std::int64_t>(published_to - Below(30), 0);
    if (Below(8) == 0) beat.published_to.reset();
    if (Below(8) == 0) beat.snapshots_to.reset();
    if (Below(20) == 0) beat.generation.reset();
    if (Below(20) == 0) log_[partition] = Below(3);
    if (log_[partition] != 0) beat.snapshots_log = log_[partition];
    if (Below(4) != 0) beat.snapshots_topic = Below(15) == 0 ? "others" : "filters";
    if (Below(3) == 0) beat.complete_since_ms = Below(1000);
    return beat;
  }
  void Beat(const test::BeatParts& beat) {
    EXPECT_FALSE(reader_.TakeBeat(std::to_string(beat.partition), test::Encoded(beat)));
    naive_.TakeBeat(beat);
  }

  void Update(std::int32_t partition) {
    test::UpdateParts update;
    update.partition = partition;
    update.generation = 1 + Below(12) / 11;
    std::int64_t& next = next_[partition];
    update.from =
        Below(4) == 0 ? std::max<std::int64_t>(next - Below(10), 0) : next + (Below(9) == 0 ? 5 : 0);
    update.to = Below(3) == 0 ? update.from : update.from + Below(6);
    const int part = update.from == next ? part_[partition] : 0;
    update.part = static_cast<std::uint8_t>(Below(5) == 0 ? Below(4) : static_cast<std::uint32_t>(part));
    next = update.to;
    if (Below(4) != 0) update.as_of_ms = 1000 + Below(1000);
    update.filters = Below(5) == 0 ? std::vector<std::string>{"clicks", "default"} : update.filters;
    if (Below(10) == 0) update.filters = {"clicks"};
    for (std::uint32_t left = Below(3); left > 0; --left) {
      test::Section section;
      section.mask = static_cast<std::uint16_t>(1 + Below(update.filters.size() == 1 ? 1 : 3));
      section.until_s = Below(4) == 0 ? 1000 + Below(2) : 0;
      section.kind = Below(4) == 0 ? AdditionKind::kSimilar : AdditionKind::kSeen;
      for (std::uint32_t users = 1 + Below(3); users > 0; --users) {
        auto items = RandomItems();
        if (section.kind == AdditionKind::kSimilar) {
          for (Fingerprint& item : items) item = internal::InDomain(item, internal::kNearDomain);
        }
        section.entries.push_back({UpdateUserOf(UserOf(Below(kUsers))), items});
      }
      update.sections.push_back(section);
    }
    part_[partition] = update.to > update.from ? 0 : update.part + (update.sections.empty() ? 0 : 1);
    if (Below(12) == 0) return;  // lost
    EXPECT_FALSE(reader_.TakeUpdate(test::Encoded(update)));
    naive_.TakeUpdate(update);
  }

  void Snapshot(std::int32_t partition) {
    const std::string user = UserOf(Below(kUsers));
    if (Below(4) == 0) {
      EXPECT_FALSE(reader_.TakeSnapshot(partition, user, std::nullopt));
      return naive_.TakeTombstone(partition, user);
    }
    auto items = RandomItems();
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    const std::int64_t generation = 1 + Below(2);
    const std::int64_t offset = std::max<std::int64_t>(next_[partition] - Below(8), 0);
    const std::string bytes = test::ExactSnapshot(items, partition, generation, offset);
    const auto error = reader_.TakeSnapshot(partition, user, bytes);
    EXPECT_FALSE(error) << error->message;
    naive_.TakeSnapshot(partition, user, generation, offset, items);
  }

  std::mt19937 random_;
  std::size_t limit_;
  FilterReader reader_;
  test::NaiveReader naive_;
  std::int64_t next_[kPartitions] = {}, published_to_[kPartitions] = {}, log_[kPartitions] = {};
  int part_[kPartitions] = {};  // of the event that goes on
};

TEST(FilterReader, AnswersAsThePageSaysInRandomWorlds) {
  int fresh = 0;
  for (std::uint32_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    for (int step = 0; step < 120 && !HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      world.Step();
      world.Compare();
      fresh += world.fresh() ? 1 : 0;
    }
  }
  EXPECT_GT(fresh, 500) << "else the worlds are too wild";
}

/// Records of `items` additions over `users` users, all of one partition: the n-th has [n, n + 1).
std::string RecordOf(std::int64_t number, std::uint32_t items, std::uint32_t users) {
  test::UpdateParts update = {0, 1, number, number + 1, number, {"default"}, {{}}};
  for (std::uint32_t i = 0; i < items; ++i) {
    const auto user = static_cast<std::uint32_t>((number * 7919 + i * 31) % users);
    update.sections[0].entries.push_back({UpdateUserOf(UserOf(user)), {Fingerprint{i}}});
  }
  return test::Encoded(update);
}

TEST(FilterReader, TakesSixteenBytesAnAdditionAndGivesThemBack) {
  constexpr std::int64_t kRecords = 150;
  constexpr std::uint32_t kEach = 500, kOfUsers = 5000;
  FilterReader reader("default", {0});
  ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, 0, 0})));
  reader.SnapshotsEnd(0, 0);
  for (std::int64_t i = 0; i < kRecords; ++i) ASSERT_FALSE(reader.TakeUpdate(RecordOf(i, kEach, kOfUsers)));
  EXPECT_EQ(reader.additions(), 75'000U);
  EXPECT_LE(reader.additions_bytes(), 16 * 75'000 + 64 * kOfUsers);
  EXPECT_TRUE(reader.MightContain(UserOf(0), Fingerprint{0}));
  EXPECT_EQ(reader.AsOf(), TimeMs(TimeMs::duration(kRecords - 1)));
  ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, kRecords - 1, 0})));
  EXPECT_EQ(reader.additions(), kEach);
  EXPECT_LE(reader.additions_bytes(), 16 * 3000 + 64 * kOfUsers);
  for (std::int64_t i = kRecords; i < 3 * kRecords; ++i) {  // users come and go, the numbers go on
    ASSERT_FALSE(reader.TakeUpdate(RecordOf(i, kEach, 1'000'000)));
    ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, i, 0})));
  }
  EXPECT_EQ(reader.additions(), kEach);
  EXPECT_LE(reader.additions_bytes(), 16 * 3000 + 64 * kOfUsers) << "users who are gone leave the index";
}

TEST(FilterReader, KeepsWithinItsLimit) {
  FilterReader reader("default", {0}, 10'000);
  ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, 0, 0})));
  reader.SnapshotsEnd(0, 0);
  for (std::int64_t i = 0; i < 100; ++i) ASSERT_FALSE(reader.TakeUpdate(RecordOf(i, 300, 100)));
  EXPECT_EQ(reader.additions(), 9'900U);
  EXPECT_EQ(reader.AsOf(), std::nullopt) << "nothing was known before the first one";
  EXPECT_LE(reader.additions_bytes(), 16 * 12'000 + 64 * 100);
}

TEST(FilterReader, HoldsDroppedAdditionsInTheMiddleWithinTwiceItsLimit) {
  FilterReader reader("default", {0}, 1000);
  ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, 0, 0})));
  reader.SnapshotsEnd(0, 0);
  ASSERT_FALSE(reader.TakeUpdate(RecordOf(1'000'000'000, 1, 100)));  // stays at the front
  for (std::int64_t i = 0; i < 400; ++i) {
    ASSERT_FALSE(reader.TakeUpdate(RecordOf(i, 900, 100)));
    ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, i + 1, 0})));
  }
  EXPECT_LE(reader.additions(), 1U);
  EXPECT_LE(reader.additions_bytes(), std::size_t{13} * 140'000);
}

TEST(FilterReader, IsAsFreshAsTheOldestOfItsPartitions) {
  FilterReader reader("default", {0, 3});
  EXPECT_EQ(FilterReader("default").AsOf(), std::nullopt);
  for (const std::int32_t partition : {0, 3, 7}) {
    ASSERT_FALSE(
        reader.TakeBeat(std::to_string(partition), test::Encoded(test::BeatParts{partition, 1, 0, 0})));
    reader.SnapshotsEnd(partition, 0);
  }
  const auto take = [&reader](std::int32_t partition, std::int64_t as_of) {
    return reader.TakeUpdate(test::Encoded(test::UpdateParts{partition, 1, 0, 0, as_of, {"default"}, {}}));
  };
  ASSERT_FALSE(take(0, 500));
  EXPECT_EQ(reader.AsOf(), std::nullopt) << "nothing is known about partition 3";
  ASSERT_FALSE(take(3, 497));
  EXPECT_EQ(reader.AsOf(), TimeMs(TimeMs::duration(497))) << "nobody follows partition 7";
}

TEST(FilterReader, ForgetsABaseWithItsWatermark) {
  FilterReader reader("default", {0});
  ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, 10, 0})));
  reader.SnapshotsEnd(0, 0);
  ASSERT_FALSE(reader.TakeUpdate(test::Encoded(test::UpdateParts{0, 1, 10, 10, 500, {"default"}, {}})));
  EXPECT_EQ(reader.AsOf(), TimeMs(TimeMs::duration(500)));
  ASSERT_FALSE(reader.TakeBeat("0", std::nullopt));
  EXPECT_EQ(reader.AsOf(), std::nullopt);
  EXPECT_TRUE(reader.TakeBeat("x", std::nullopt)) << "refused";
}

TEST(FilterReader, ABeatThatBreaksARuleOfUpdatesIsRefusedAndChangesNothing) {
  FilterReader reader("default", {0});
  ASSERT_FALSE(reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, 10, 0})));
  reader.SnapshotsEnd(0, 0);
  const auto error = reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, -1, 0}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "watermark: published_to must be 0 or more");
  EXPECT_EQ(reader.CompleteTo(0), 10);
}

TEST(FilterReader, NeverSettlesUntilItStartsOverInAnotherLog) {
  FilterReader reader("default", {0});
  const auto beat = [&](std::int64_t published_to, std::optional<std::int64_t> log) {
    return reader.TakeBeat("0", test::Encoded(test::BeatParts{0, 1, published_to, 5, log}));
  };
  EXPECT_FALSE(reader.MustRestart(0)) << "no beat has come";
  ASSERT_FALSE(beat(10, 3));
  reader.SnapshotsEnd(0, 5);
  ASSERT_FALSE(reader.TakeUpdate(RecordOf(10, 1, 10)));
  ASSERT_FALSE(beat(11, std::nullopt));
  EXPECT_TRUE(reader.MustRestart(0)) << "a log that a beat lacks is 0";
  EXPECT_EQ(reader.additions(), 1U);
  ASSERT_FALSE(reader.TakeBeat("0", std::nullopt));
  EXPECT_TRUE(reader.MustRestart(0)) << "a tombstone says nothing of the log";
  reader.SnapshotsRestart(0);
  EXPECT_FALSE(reader.MustRestart(0));
  ASSERT_FALSE(beat(11, 0));
  EXPECT_EQ(reader.additions(), 1U) << "it stands nowhere";
  reader.SnapshotsEnd(0, 5);
  EXPECT_EQ(reader.additions(), 0U);
}

TEST(FilterReader, NeverSettlesWhileItsFilterHasMoved) {
  FilterReader reader("default", {0}, 100, "filters"), untold("default", {0});
  const auto beat = [&](std::int64_t published_to, std::optional<std::string> topic) {
    const std::string bytes = test::Encoded(test::BeatParts{0, 1, published_to, 5, {}, std::move(topic)});
    EXPECT_FALSE(reader.TakeBeat("0", bytes));
    EXPECT_FALSE(untold.TakeBeat("0", bytes));
  };
  reader.SnapshotsEnd(0, 5);
  untold.SnapshotsEnd(0, 5);
  beat(10, "filters");
  EXPECT_EQ(reader.MovedTo(0), std::nullopt);
  beat(12, "others");
  EXPECT_EQ(reader.MovedTo(0), "others");
  EXPECT_EQ(reader.CompleteTo(0), 10);
  EXPECT_EQ(untold.MovedTo(0), std::nullopt);
  EXPECT_EQ(untold.CompleteTo(0), 12);
  beat(12, std::nullopt);
  EXPECT_EQ(reader.MovedTo(0), std::nullopt) << "only the newest beat counts";
  EXPECT_EQ(reader.CompleteTo(0), 12);
}

TEST(FilterReader, IsCompleteSinceTheLatestOfItsPartitions) {
  FilterReader reader("default", {0, 3});
  EXPECT_EQ(reader.CompleteSince(), std::nullopt);
  const auto beat = [&](std::int32_t partition, std::optional<std::int64_t> since) {
    return reader.TakeBeat(std::to_string(partition),
                           test::Encoded(test::BeatParts{partition, 1, 0, 0, {}, {}, since}));
  };
  ASSERT_FALSE(beat(0, 500));
  ASSERT_FALSE(beat(3, 497));
  ASSERT_FALSE(beat(7, 600));
  EXPECT_EQ(MsOf(reader.CompleteSince(3)), 497);
  EXPECT_EQ(MsOf(reader.CompleteSince()), 500) << "nobody follows partition 7";
  ASSERT_FALSE(reader.TakeBeat("0", std::nullopt));
  EXPECT_EQ(MsOf(reader.CompleteSince()), 497);
  ASSERT_FALSE(beat(3, std::nullopt));
  EXPECT_EQ(reader.CompleteSince(), std::nullopt);
}

TEST(FilterReader, AGenerationOnceNamedStaysPastUntilABeatNamesItAgain) {
  FilterReader reader("default", {0});
  const auto beat = [&](std::optional<std::int64_t> generation, std::optional<std::int64_t> published_to) {
    return reader.TakeBeat("0", test::Encoded(test::BeatParts{0, generation, published_to, 0}));
  };
  const std::string of_first = RecordOf(5, 1, 10);  // generation 1
  ASSERT_FALSE(beat(1, 0));
  ASSERT_FALSE(reader.TakeUpdate(of_first));
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(beat(2, std::nullopt));
  EXPECT_EQ(reader.additions(), 1U) << "it was named, and nothing has settled";
  reader.SnapshotsEnd(0, 0);
  ASSERT_FALSE(beat(2, 0));
  EXPECT_EQ(reader.additions(), 0U);
  ASSERT_FALSE(reader.TakeUpdate(of_first));
  EXPECT_EQ(reader.additions(), 0U) << "it is still a past one";
  ASSERT_FALSE(beat(1, 0));
  ASSERT_FALSE(reader.TakeUpdate(of_first));
  EXPECT_EQ(reader.additions(), 1U) << "until a beat names it";
}

TEST(FilterReader, ATombstoneOfAWatermarkCountsAsABeat) {
  FilterReader reader("default", {0});
  ASSERT_FALSE(reader.TakeUpdate(RecordOf(5, 1, 10)));
  for (int i = 0; i < 59; ++i) ASSERT_FALSE(reader.TakeBeat("0", std::nullopt));
  EXPECT_EQ(reader.additions(), 1U);
  ASSERT_FALSE(reader.TakeBeat("0", std::nullopt));
  EXPECT_EQ(reader.additions(), 0U) << "no beat ever named its generation";
}

TEST(FilterReader, KnowsIdsThatAreSeenBesidesAndWhenItemsWereMade) {
  FilterReader reader("default");
  ASSERT_FALSE(reader.TakeUpdate(test::Encoded(test::UpdateParts{
      0, 1, 0, 1, -1, {"default"}, {{1, {}, 0, {{UpdateUserOf("u1"), {FingerprintOf(7)}}}}}})));
  const std::vector<int> numbers = {5, 7, 9, 5};
  EXPECT_EQ(reader.Unseen("u1", numbers, AlsoSeen({"9"})), std::vector<int>{5});
  EXPECT_EQ(reader.Unseen("u2", numbers), (std::vector<int>{5, 7, 9}));
  const std::vector<Candidate> candidates = {{"7"}, {"8"}};
  ASSERT_EQ(reader.Unseen("u1", candidates).size(), 1U);
  EXPECT_EQ(reader.Unseen("u1", candidates)[0].id, "8");
}

TEST(FilterReader, CountsTheMemoryOfSnapshots) {
  FilterReader reader("default");
  const std::string bytes = test::ExactSnapshot(test::Numbered("n", 100), 0, 1, 10);
  ASSERT_FALSE(reader.TakeSnapshot(0, "u1", bytes));
  EXPECT_GE(reader.snapshots_bytes(), bytes.size());
  EXPECT_EQ(reader.snapshots(), 1U);
  const std::size_t one = reader.snapshots_bytes();
  ASSERT_FALSE(reader.TakeSnapshot(0, "u1", bytes));
  EXPECT_EQ(reader.snapshots_bytes(), one);
  const auto error = reader.TakeSnapshot(0, "u1", bytes.substr(0, 70));
  ASSERT_TRUE(error);
  EXPECT_TRUE(reader.IsRefused("u1"));
  EXPECT_TRUE(reader.MightContain("u1", FingerprintOf("n1"))) << "the one before it still answers";
  ASSERT_FALSE(reader.TakeSnapshot(0, "u1", std::nullopt));
  EXPECT_EQ(reader.snapshots_bytes(), 0U);
}

}  // namespace
}  // namespace seen::client
