#include "tools/check/user_buckets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "scratch_folder.h"

namespace seen {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class UserBucketsTest : public testing::Test {
 protected:
  /// Adds `count` items for each user, one item a user in turn.
  void Fill(UserBuckets& buckets, int users, int count, const std::string& padding = {}) {
    for (int i = 0; i < count; ++i) {
      for (int user = 0; user < users; ++user) {
        const std::string id = fmt::format("u{}", user);
        const std::string item = fmt::format("{}{}", padding, i);
        const JudgedItem told{.id = item, .created = {i}, .filters = 3};
        const JudgedEvent event{.user_id = id,
                                .kind = EventKind::kServed,
                                .second = static_cast<uint32_t>(i),
                                .source = static_cast<int16_t>(i % 5 - 1),
                                .items = std::span(&told, 1)};
        ASSERT_TRUE(buckets.Add(event));
      }
    }
  }
  /// Each user's seconds in the order in which they come out. Each user must be in one visit only.
  std::map<std::string, std::vector<uint32_t>> Drain(UserBuckets& buckets) {
    std::map<std::string, std::vector<uint32_t>> all;
    const Status visited = buckets.ForEach([&](std::string_view records) {
      largest_ = std::max(largest_, records.size());
      std::map<std::string, std::vector<uint32_t>> here;
      const Status read = ReadBucketRecords(
          records,
          [&](const JudgedEvent& event) {
            EXPECT_EQ(event.kind, EventKind::kServed);
            EXPECT_EQ(event.source, static_cast<int16_t>(event.second % 5) - 1);
            EXPECT_EQ(event.items.size(), 1u);
            EXPECT_EQ(event.items[0].created, Day{static_cast<int32_t>(event.second)});
            EXPECT_EQ(event.items[0].filters, 3);
            EXPECT_TRUE(event.items[0].id.ends_with(fmt::format("{}", event.second)));
            here[std::string(event.user_id)].push_back(event.second);
          },
          [&](const SnapshotRecord&) { ADD_FAILURE(); });
      EXPECT_TRUE(read);
      for (auto& [user, seconds] : here) EXPECT_TRUE(all.emplace(user, std::move(seconds)).second) << user;
      return Status();
    });
    EXPECT_TRUE(visited) << visited.error().message;
    return all;
  }
  void ExpectInOrder(const std::map<std::string, std::vector<uint32_t>>& all, size_t users, uint32_t count) {
    EXPECT_EQ(all.size(), users);
    for (const auto& [user, seconds] : all) {
      ASSERT_EQ(seconds.size(), count) << user;
      for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(seconds[i], i) << user;
    }
  }
  std::string scratch() { return folder_.Path("."); }
  bool IsEmpty() { return std::filesystem::is_empty(folder_.Path(".")); }

  ScratchFolder folder_;
  size_t largest_ = 0;
};

TEST_F(UserBucketsTest, KeepEachUsersOrderInMemory) {
  UserBuckets buckets({.scratch = scratch(), .memory_bytes = 64 * kMiB});
  Fill(buckets, 500, 20);
  EXPECT_EQ(buckets.spilled_bytes(), 0u);
  ExpectInOrder(Drain(buckets), 500, 20);
  EXPECT_EQ(buckets.visits(), 1u) << "small buckets come together";
}

TEST_F(UserBucketsTest, KeepEachUsersOrderOverAFileThatHasNoName) {
  UserBuckets buckets({.scratch = scratch(), .memory_bytes = 2 * kMiB});
  Fill(buckets, 500, 100);
  EXPECT_GT(buckets.spilled_bytes(), kMiB);
  EXPECT_TRUE(IsEmpty()) << "nothing is left, however the process ends";
  ExpectInOrder(Drain(buckets), 500, 100);
}

TEST_F(UserBucketsTest, ShowSoMuchAtOnceThatMemoryHolds) {
  UserBuckets buckets({.scratch = scratch(), .memory_bytes = 4 * kMiB});
  Fill(buckets, 3000, 40, std::string(300, 'x'));
  const uint64_t written = 3000 * 40 * 300;
  EXPECT_GT(buckets.spilled_bytes(), written * 8 / 10);
  ExpectInOrder(Drain(buckets), 3000, 40);
  EXPECT_LE(largest_, 4 * kMiB / 16);
  EXPECT_GT(buckets.visits(), 100u);
}

TEST_F(UserBucketsTest, RefuseAUserWhoIsTooLargeForMemory) {
  UserBuckets buckets({.scratch = scratch(), .memory_bytes = kMiB});
  Fill(buckets, 1, 1000, std::string(400, 'x'));
  const Status visited = buckets.ForEach([](std::string_view) { return Status(); });
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().code, Code::kRefused);
  EXPECT_NE(visited.error().message.find("--memory-mib"), std::string::npos);
}

TEST_F(UserBucketsTest, NameTheFolderThatTakesNoFiles) {
  UserBuckets buckets({.scratch = folder_.Path("none"), .memory_bytes = 1024});
  const JudgedEvent event{.user_id = std::string_view("0123456789012345678901234567890123456789")};
  Status added;
  for (int i = 0; i < 10 && added; ++i) added = buckets.Add(event);
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("--scratch"), std::string::npos);
}

TEST_F(UserBucketsTest, KeepSnapshotsAndTombstones) {
  UserBuckets buckets({.scratch = scratch(), .memory_bytes = 64 * kMiB});
  ASSERT_TRUE(buckets.Add(SnapshotRecord{.user_id = "u", .filter = 7, .bytes = "bytes"}));
  ASSERT_TRUE(buckets.Add(SnapshotRecord{.user_id = "u", .filter = 8, .bytes = std::nullopt}));
  std::vector<std::string> found;
  const Status visited = buckets.ForEach([&](std::string_view records) {
    return ReadBucketRecords(
        records, [](const JudgedEvent&) { ADD_FAILURE(); },
        [&](const SnapshotRecord& snapshot) {
          found.push_back(
              fmt::format("{} {} {}", snapshot.user_id, snapshot.filter, snapshot.bytes.value_or("-")));
        });
  });
  ASSERT_TRUE(visited);
  EXPECT_EQ(found, (std::vector<std::string>{"u 7 bytes", "u 8 -"}));
}

TEST(ReadBucketRecords, RefusesWhatIsNotWhole) {
  std::string record;
  AppendBucketRecord(SnapshotRecord{.user_id = "u", .filter = 7, .bytes = "bytes"}, record);
  const auto read = [](std::string_view bytes) {
    return ReadBucketRecords(
        bytes, [](const JudgedEvent&) {}, [](const SnapshotRecord&) {});
  };
  EXPECT_TRUE(read(record));
  for (size_t size = 1; size < record.size(); ++size) EXPECT_FALSE(read(record.substr(0, size))) << size;
}

TEST(UserSample, TakesSoManyWhoeverComesFirst) {
  std::set<std::string> chosen[2];
  for (const bool backwards : {false, true}) {
    UserSample sample(50, 7);
    std::set<std::string> offered;
    for (int i = 0; i < 3000; ++i) {
      const std::string user = fmt::format("u{}", (backwards ? 2999 - i : i) % 1000);
      if (sample.Offer(user)) offered.insert(user);
    }
    EXPECT_LT(offered.size(), 400u) << "of the others nothing is kept";
    for (int i = 0; i < 1000; ++i) {
      const std::string user = fmt::format("u{}", i);
      if (!sample.Holds(user)) continue;
      chosen[backwards ? 1 : 0].insert(user);
      EXPECT_TRUE(offered.contains(user));
    }
  }
  EXPECT_EQ(chosen[0].size(), 50u);
  EXPECT_EQ(chosen[0], chosen[1]);
}

TEST(UserSample, TakesAllIfThereAreFewerAndOthersByAnotherSeed) {
  UserSample all(0, 1), few(50, 1), other(2, 2), same(2, 1);
  size_t differing = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string user = fmt::format("u{}", i);
    EXPECT_TRUE(all.Offer(user) && few.Offer(user));
    static_cast<void>(other.Offer(user) && same.Offer(user));
    same.Offer(user);
  }
  for (int i = 0; i < 20; ++i) {
    const std::string user = fmt::format("u{}", i);
    EXPECT_TRUE(all.Holds(user) && few.Holds(user));
    differing += other.Holds(user) != same.Holds(user) ? 1u : 0u;
  }
  EXPECT_GT(differing, 0u);
}

}  // namespace
}  // namespace seen
