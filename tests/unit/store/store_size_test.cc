// Bytes on disk per (user, item). This figure decides how much state a machine can hold.
#include <cstdio>
#include <random>
#include <set>

#include "store_fixture.h"

namespace seen::test {
namespace {

constexpr uint32_t kUserCount = 2'000;
constexpr uint32_t kDays = 30;
constexpr uint32_t kItemsADay = 100;
constexpr double kBytesAnItemMax = 3.6;

uint64_t BytesBelow(const std::string& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

TEST_F(StoreTest, TakesAtMost3Point6BytesAnItemOnceCompacted) {
  auto store = Open();
  std::mt19937_64 random(1);
  for (uint32_t day = 0; day < kDays; ++day) {
    Checkpoint checkpoint = At(day + 1);
    for (uint32_t user = 0; user < kUserCount; ++user) {
      std::set<uint32_t> items;
      while (items.size() < kItemsADay) items.insert(static_cast<uint32_t>(random()));
      checkpoint.deltas[User(user)] = Exposures(kDay + static_cast<int32_t>(day),
                                                {items.begin(), items.end()}, "user-" + std::to_string(user));
    }
    ASSERT_TRUE(Commit(*store, checkpoint));
  }
  ASSERT_TRUE(store->CompactAll());
  const uint64_t in_files = store->Figures().bytes;
  store.reset();  // closing removes the files that a compaction replaced
  const auto per_item = [](uint64_t bytes) {
    return static_cast<double>(bytes) / (double{kUserCount} * kDays * kItemsADay);
  };
  const uint64_t on_disk = BytesBelow(folder_.path());
  std::printf("bytes per (user, item): %.3f on disk, %.3f in sorted files (%u users x %u days x %u items)\n",
              per_item(on_disk), per_item(in_files), kUserCount, kDays, kItemsADay);
  RecordProperty("bytes_per_item", std::to_string(per_item(on_disk)));
  EXPECT_LE(per_item(on_disk), kBytesAnItemMax);
  EXPECT_GE(per_item(on_disk), 3.0) << "less than the information in it: something is missing";
}

}  // namespace
}  // namespace seen::test
