// Reads links to a store's files while the store goes on. This is rows/state_digest.h over RocksDB.
#include "store/resting_rows.h"

#include <filesystem>
#include <random>

#include "rows/state_digest.h"
#include "store_fixture.h"

namespace seen::test {
namespace {

const TimeMs kAsOf{StartOf(kDay + 1).value - 1};

class RestingRowsTest : public StoreTest {
 protected:
  std::string Linked(RocksPartitionStore& store, const std::string& name) {
    const std::string folder = folder_.path() + "/" + name;
    const Status linked = store.LinkTo(folder);
    EXPECT_TRUE(linked) << linked.error().message;
    return folder;
  }
  std::vector<FilterDigest> DigestOf(const std::string& folder, TimeMs as_of = kAsOf) {
    auto rows = RestingRows::Open(folder, resources_);
    EXPECT_TRUE(rows) << rows.error().message;
    if (!rows) return {};
    StateDigester digester((*rows)->descriptor(), (*rows)->position(), as_of);
    const Status read = (*rows)->ForEach(
        [&](std::string_view key, std::string_view value) { return digester.Add(key, value); });
    EXPECT_TRUE(read) << read.error().message;
    return digester.Finish().filters;
  }
  // Writes three checkpoints of the same users.
  void Fill(RocksPartitionStore& store) {
    for (int32_t checkpoint = 0; checkpoint < 3; ++checkpoint) {
      Checkpoint next = At(100 * (checkpoint + 1));
      for (uint64_t user = 0; user < 50; ++user) {
        next.deltas[User(user)] =
            Exposures(kDay - 15 * checkpoint, {7, 8 + static_cast<uint32_t>(checkpoint)});
        next.deltas[User(user, FilterId{1})] = Exposures(kDay - 15 * checkpoint, {9});
        next.marks[User(user)] = checkpoint % 2 == 0;
      }
      ASSERT_TRUE(Commit(store, next));
    }
  }
};

TEST_F(RestingRowsTest, NeitherCompactionsNorExpiryChangeTheDigest) {
  auto store = Open();
  Fill(*store);
  const auto operands = DigestOf(Linked(*store, "operands"));
  ASSERT_EQ(operands.size(), 2U);
  EXPECT_EQ(operands[0].filter, "home");
  EXPECT_EQ(operands[0].set.users, 50U);
  EXPECT_EQ(operands[0].set.items, 50U * 6);
  EXPECT_EQ(operands[1].set.items, 50U) << "of the others the window of 7 days is over";
  ASSERT_TRUE(store->CompactAll());
  EXPECT_EQ(DigestOf(Linked(*store, "folded")), operands);
  for (const size_t filter : {size_t{0}, size_t{1}})
    store->SetHorizon(FilterId(filter), Horizon::Of(kDay - (filter == 0 ? 30 : 7) - 1));
  ASSERT_TRUE(store->CompactAll());
  std::string value;
  ASSERT_TRUE(*store->ReadDelta(User(1, FilterId{1}), value));
  EXPECT_EQ(DecodeDelta(value)->segments.size(), 1U) << "it was expired";
  EXPECT_EQ(DigestOf(Linked(*store, "expired")), operands);
}

TEST_F(RestingRowsTest, TheLinksStayAsTheyAre) {
  auto store = Open();
  Fill(*store);
  const std::string folder = Linked(*store, "links");
  const auto before = DigestOf(folder);
  Checkpoint more = At(400);
  more.deltas[User(1)] = Exposures(kDay, {1'000});
  ASSERT_TRUE(Commit(*store, more));
  ASSERT_TRUE(store->CompactAll());
  EXPECT_EQ(DigestOf(folder), before);
  EXPECT_NE(DigestOf(Linked(*store, "later")), before);
  auto rows = RestingRows::Open(folder, resources_);
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)->position()->next_offset, 300);
  EXPECT_EQ((*rows)->descriptor().identity.partition, 3);
  EXPECT_TRUE((*rows)->VerifyChecksums());
}

TEST_F(RestingRowsTest, AWindowThatMovesOnHasAnotherDigest) {
  auto store = Open();
  Fill(*store);
  const std::string folder = Linked(*store, "links");
  const auto now = DigestOf(folder);
  const auto later = DigestOf(folder, {kAsOf.value + 8 * kMsPerDay});
  EXPECT_LT(later[0].set.items, now[0].set.items);
  EXPECT_EQ(later[1].set, SetDigest());
}

TEST_F(RestingRowsTest, NothingIsFoundWhereNothingIs) {
  EXPECT_EQ(RestingRows::Open(folder_.path() + "/none", resources_).error().code, Code::kNotFound);
  std::filesystem::create_directory(folder_.path() + "/empty");
  EXPECT_EQ(RestingRows::Open(folder_.path() + "/empty", resources_).error().code, Code::kNotFound);
}

TEST_F(RestingRowsTest, AFileThatIsMissingIsAnError) {
  auto store = Open();
  Fill(*store);
  const std::string folder = Linked(*store, "links");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".sst") std::filesystem::remove(entry.path());
  }
  const auto rows = RestingRows::Open(folder, resources_);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, Code::kCorrupt);
  EXPECT_NE(rows.error().message.find("Remedy"), std::string::npos);
}

TEST_F(RestingRowsTest, TakesTheLockOfADirectoryThatADaemonLeft) {
  {
    const auto running = StoreDirectory::Open(folder_.path());
    ASSERT_TRUE(running);
    const auto refused = StoreDirectory::OpenStopped(folder_.path());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kRefused);
    EXPECT_NE(refused.error().message.find(std::to_string(::getpid())), std::string::npos);
  }
  EXPECT_TRUE(StoreDirectory::OpenStopped(folder_.path()));
  EXPECT_EQ(StoreDirectory::OpenStopped(folder_.path() + "/none").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace seen::test
