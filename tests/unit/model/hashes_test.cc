#include "model/hashes.h"

#include <gtest/gtest.h>

#include "model/day.h"
#include "model/partitioner.h"

namespace seen {
namespace {

TEST(Fingerprint, IsTheUpperHalfOfXxh64) {
  EXPECT_EQ(FingerprintOf("").value, 0xef46db37u);   // XXH64("") = ef46db3751d8e999
  EXPECT_EQ(FingerprintOf("a").value, 0xd24ec4f1u);  // XXH64("a") = d24ec4f1a98c6e5b
}

TEST(UserKey, SortsAsItsBytesDo) {
  const UserKey a{1, UINT64_MAX}, b{2, 0};
  EXPECT_LT(a, b);
  EXPECT_LT(ToBytes(a), ToBytes(b));
  EXPECT_EQ(UserKeyFromBytes(ToBytes(a).data()), a);
  // XXH3-128("") = 99aa06d3014798d86001c324468d497f
  EXPECT_EQ(UserKeyOf(""), (UserKey{0x99aa06d3014798d8u, 0x6001c324468d497fu}));
}

struct Placed {
  std::string_view key;
  uint32_t murmur2;  // org.apache.kafka.common.utils.Utils.murmur2, from Kafka's own UtilsTest
};

TEST(Partitioner, Murmur2IsKafkas) {
  constexpr Placed kCases[] = {
      {"21", static_cast<uint32_t>(-973932308)},
      {"foobar", static_cast<uint32_t>(-790332482)},
      {"a-little-bit-long-string", static_cast<uint32_t>(-985981536)},
      {"a-little-bit-longer-string", static_cast<uint32_t>(-1486304829)},
      {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", static_cast<uint32_t>(-58897971)},
      {"abc", 479470107}};
  for (const auto& [key, hash] : kCases) {
    for (const int32_t partitions : {1, 4, 7, 1'000'003}) {
      EXPECT_EQ(PartitionOf(Partitioner::kMurmur2, key, partitions),
                static_cast<int32_t>((hash & 0x7fffffffu) % static_cast<uint32_t>(partitions)))
          << key;
    }
  }
}

TEST(Partitioner, Crc32IsTheOneOfZlib) {
  EXPECT_EQ(PartitionOf(Partitioner::kCrc32, "123456789", 1'000'003),
            static_cast<int32_t>(0xcbf43926u % 1'000'003));
}

TEST(Partitioner, Fnv1aIsThePublishedOneWithoutItsSign) {
  // Vectors of draft-eastlake-fnv: "" 0x811c9dc5, "a" 0xe40c292c, "foobar" 0xbf9cf968.
  EXPECT_EQ(PartitionHash(Partitioner::kFnv1a, ""), 0u - 0x811c9dc5u);
  EXPECT_EQ(PartitionHash(Partitioner::kFnv1a, "a"), 0u - 0xe40c292cu);
  EXPECT_EQ(PartitionHash(Partitioner::kFnv1a, "foobar"), 0u - 0xbf9cf968u);
  EXPECT_EQ(PartitionOf(Partitioner::kFnv1a, "foobar", 1'000'003),
            static_cast<int32_t>((0u - 0xbf9cf968u) % 1'000'003));
}

TEST(Partitioner, IsFoundByItsName) {
  for (const Partitioner partitioner : kPartitioners)
    EXPECT_EQ(ParsePartitioner(PartitionerName(partitioner)), std::optional(partitioner));
  EXPECT_EQ(ParsePartitioner("consistent"), std::nullopt);
}

TEST(Day, IsTheUtcDayAlsoBefore1970AndInLeapYears) {
  EXPECT_EQ(DayOf({0}).since_epoch, 0);
  EXPECT_EQ(DayOf({86'399'999}).since_epoch, 0);
  EXPECT_EQ(DayOf({86'400'000}).since_epoch, 1);
  EXPECT_EQ(DayOf({-1}).since_epoch, -1);
  EXPECT_EQ(DayOf({1'709'164'800'000}).since_epoch, 19'782);  // 2024-02-29T00:00:00Z
  EXPECT_EQ(StartOf({19'782}).value, 1'709'164'800'000);
}

}  // namespace
}  // namespace seen
