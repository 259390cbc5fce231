#include "consume/pending_offsets.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace seen {
namespace {

TEST(PendingOffsets, PositionWaitsForTheOldest) {
  PendingOffsets pending(10);
  EXPECT_EQ(pending.position(), 10);
  const auto a = pending.Add(10);
  const auto b = pending.Add(12);  // offset 11 is a gap
  pending.Pass(15);
  EXPECT_EQ(pending.next_offset(), 15);
  pending.Done(b);
  EXPECT_EQ(pending.position(), 10);
  pending.Done(a);
  EXPECT_EQ(pending.position(), 15);
  pending.Pass(12);
  EXPECT_EQ(pending.position(), 15) << "it never goes back by itself";
}

TEST(PendingOffsets, WhatIsTakenBackWasNeverThere) {
  PendingOffsets pending(0);
  const auto a = pending.Add(5);
  (void)pending.Add(9);
  pending.TakeBack();
  EXPECT_EQ(pending.next_offset(), 9);
  pending.Done(a);
  EXPECT_EQ(pending.position(), 9);
}

TEST(PendingOffsets, ARewindForgetsAndOldNumbersMeanNothing) {
  PendingOffsets pending(0);
  const auto a = pending.Add(0);
  const auto b = pending.Add(1);
  pending.Done(b);
  pending.Rewind();
  EXPECT_EQ(pending.next_offset(), 0);
  const auto again = pending.Add(0);
  EXPECT_FALSE(pending.Knows(a));
  pending.Done(a);
  pending.Done(b);
  EXPECT_EQ(pending.position(), 0);
  pending.Done(again);
  EXPECT_EQ(pending.position(), 1);
}

TEST(PendingOffsets, RandomOrdersAgreeWithASet) {
  std::mt19937 random(17);
  for (int round = 0; round < 200; ++round) {
    PendingOffsets pending(100);
    std::set<int64_t> outstanding;
    std::vector<std::pair<uint32_t, int64_t>> sent;
    int64_t next = 100;
    for (int step = 0; step < 200; ++step) {
      const auto what = random() % 10;
      if (what < 4) {
        next += static_cast<int64_t>(random() % 3);
        sent.emplace_back(pending.Add(next), next);
        outstanding.insert(next++);
      } else if (what < 5) {
        pending.Pass(++next);
      } else if (what < 6 && random() % 5 == 0) {
        pending.Rewind();
        next = outstanding.empty() ? next : *outstanding.begin();
        outstanding.clear();
      } else if (!sent.empty()) {
        const auto which = sent.begin() + static_cast<int>(random() % sent.size());
        if (pending.Knows(which->first)) outstanding.erase(which->second);
        pending.Done(which->first);
        sent.erase(which);
      }
      ASSERT_EQ(pending.position(), outstanding.empty() ? next : *outstanding.begin());
      ASSERT_EQ(pending.next_offset(), next);
    }
  }
}

}  // namespace
}  // namespace seen
