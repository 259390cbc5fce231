#include "seen/partitioner.h"

#include <gtest/gtest.h>

namespace seen::client {
namespace {

struct Placed {
  std::string_view key;
  std::int32_t murmur2;  // of org.apache.kafka.common.utils.Utils.murmur2, from Kafka's own UtilsTest
};

TEST(ClientPartitioner, Murmur2IsKafkas) {
  for (const auto& [key, expected] :
       {Placed{"21", -973932308}, Placed{"foobar", -790332482},
        Placed{"a-little-bit-long-string", -985981536}, Placed{"a-little-bit-longer-string", -1486304829},
        Placed{"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971}, Placed{"abc", 479470107}}) {
    EXPECT_EQ(static_cast<std::int32_t>(internal::Murmur2(key)), expected) << key;
    for (const std::int32_t partitions : {1, 4, 7, 1'000'003}) {
      EXPECT_EQ(PartitionOf(Partitioner::kMurmur2, key, partitions), (expected & 0x7fffffff) % partitions)
          << key;
    }
  }
}

TEST(ClientPartitioner, Crc32IsUnsigned) {
  constexpr std::uint32_t kCheckValue = 0xcbf43926;
  EXPECT_EQ(PartitionOf(Partitioner::kCrc32, "123456789", 7), static_cast<std::int32_t>(kCheckValue % 7));
}

TEST(ClientPartitioner, HasNamesAsInTheConfiguration) {
  EXPECT_EQ(PartitionerOf("murmur2"), Partitioner::kMurmur2);
  EXPECT_EQ(PartitionerOf("crc32"), Partitioner::kCrc32);
  EXPECT_EQ(PartitionerOf("fnv1a"), std::nullopt);
}

}  // namespace
}  // namespace seen::client
