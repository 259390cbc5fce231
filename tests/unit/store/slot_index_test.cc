#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/probed_cells.h"

namespace seen {
namespace {

TEST(SlotIndex, AgreesWithAMapUnderRandomInsertionsAndRemovals) {
  std::mt19937_64 random(1);
  SlotIndex index;
  std::map<uint32_t, uint32_t> hashes;  // number -> hash, of the numbers in the index
  const auto hash_of = [&](uint32_t number) { return hashes.at(number); };
  for (int i = 0; i < 200'000; ++i) {
    const auto number = static_cast<uint32_t>(random() % 3000);
    const auto known = hashes.find(number);
    // The index fills up and empties in turn.
    if (random() % 100 < (i / 20'000 % 2 == 0 ? 70u : 30u)) {
      if (known != hashes.end()) continue;
      // There are few homes and few upper bits, so that runs of cells grow, join and break.
      const auto hash = static_cast<uint32_t>(random() % 3 << 24 | random() % 2000);
      index.Insert(hash, number, hash_of);
      hashes[number] = hash;
    } else if (known != hashes.end()) {
      index.Remove(known->second, number, hash_of);
      hashes.erase(known);
    }
    ASSERT_EQ(index.size(), hashes.size());
    const auto any = static_cast<uint32_t>(random() % 3000);
    const auto found = hashes.find(any);
    const uint32_t hash = found == hashes.end() ? any : found->second;
    ASSERT_EQ(index.Find(hash, [&](uint32_t candidate) { return candidate == any; }),
              found == hashes.end() ? SlotIndex::kNone : any);
  }
}

}  // namespace
}  // namespace seen
