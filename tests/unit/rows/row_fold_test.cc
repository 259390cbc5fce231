#include "rows/row_fold.h"

#include <gtest/gtest.h>

#include <string>

#include "support/random_rows.h"

namespace seen::test {
namespace {

RowBatch Folded(const RowFold& fold) {
  RowBatch batch;
  EXPECT_TRUE(fold.ForEach(LimitsOf, [&](const Row& row) {
    batch.Add(row);
    return Status();
  }));
  return batch;
}

// On the same earlier rows, the batches one by one give the same result as the fold of the batches.
TEST(RowFold, IsWhatItsBatchesAreOneAfterAnother) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomBatches random(seed);
    Store one_by_one;
    for (int i = 0; i < 2; ++i) Apply(random.Next(), one_by_one);
    Store at_once = one_by_one;
    RowFold fold;
    for (int i = 0; i < 4; ++i) {
      RowBatch batch = random.Next();
      Apply(batch, one_by_one);
      fold.Add(std::move(batch));
    }
    const RowBatch folded = Folded(fold);
    for (size_t i = 1; i < folded.rows(); ++i) ASSERT_LT(folded.GetRow(i - 1).key, folded.GetRow(i).key);
    for (size_t i = 1; i < folded.ranges(); ++i)
      ASSERT_LT(folded.GetRange(i - 1).value, folded.GetRange(i).key);
    Apply(folded, at_once);
    ASSERT_EQ(at_once, one_by_one) << "seed " << seed;
  }
}

// A run is a fold. A restore folds runs, so it makes folds of folds.
TEST(RowFold, OfFoldsIsTheFoldOfAll) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomBatches random(seed);
    Store expected;
    RowFold outer;
    for (int i = 0; i < 3; ++i) {
      RowFold inner;
      for (int k = 0; k < 3; ++k) {
        RowBatch batch = random.Next();
        Apply(batch, expected);
        inner.Add(std::move(batch));
      }
      outer.Add(Folded(inner));
    }
    Store actual;
    Apply(Folded(outer), actual);
    ASSERT_EQ(actual, expected) << "seed " << seed;
  }
}

TEST(RowFold, WhatCanNotBeComposedIsCorrupt) {
  for (const std::string& key : {std::string("\x20mark"), Key("u1")}) {
    RowFold fold;
    for (int i = 0; i < 2; ++i) {
      RowBatch batch;
      batch.Add({RowOp::kMerge, key, "no delta"});
      fold.Add(std::move(batch));
    }
    const Status visited = fold.ForEach(LimitsOf, [](const Row&) { return Status(); });
    ASSERT_FALSE(visited);
    EXPECT_EQ(visited.error().code, Code::kCorrupt);
  }
}

TEST(RowFold, AVisitorsErrorEndsIt) {
  RowFold fold;
  RowBatch batch;
  batch.Add({RowOp::kPut, "a", ""});
  batch.Add({RowOp::kPut, "b", ""});
  fold.Add(std::move(batch));
  int visits = 0;
  const Status visited = fold.ForEach(LimitsOf, [&](const Row&) {
    ++visits;
    return Fail(Code::kNoSpace, "full");
  });
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().code, Code::kNoSpace);
  EXPECT_EQ(visits, 1);
}

TEST(RowFold, CountsItsMemory) {
  RowFold fold;
  EXPECT_TRUE(fold.empty());
  RowBatch batch;
  batch.Add({RowOp::kPut, "key", std::string(100'000, 'v')});
  fold.Add(std::move(batch));
  EXPECT_GE(fold.bytes(), 100'003u);
  EXPECT_LT(fold.bytes(), 250'000u);
  fold.Clear();
  EXPECT_TRUE(fold.empty());
  EXPECT_EQ(fold.bytes(), 0u);
}

}  // namespace
}  // namespace seen::test
