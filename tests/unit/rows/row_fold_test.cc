#include "rows/row_fold.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "model/delta_fold.h"
#include "model/horizon.h"
#include "rows/keys.h"

namespace seen::test {
namespace {

using Store = std::map<std::string, std::string, std::less<>>;
constexpr DeltaLimits kLimits{3, 300};

const DeltaLimits* LimitsOf(FilterId filter) { return filter.number() < 2 ? &kLimits : nullptr; }

std::string Key(const std::string& user_id) {
  return std::string(View(KeyOf(Table::kDeltas, {FilterId{1}, UserKeyOf(user_id)})));
}

std::string EncodedDelta(const std::string& user_id, int32_t day, uint32_t item) {
  Delta delta;
  delta.user_id = user_id;
  delta.segments = {{Day{day}, 10, 20, {{item}}}};
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

// One after another, as a store does it.
void Apply(const RowBatch& batch, Store& store) {
  for (size_t i = 0; i < batch.ranges(); ++i) {
    const Row range = batch.GetRange(i);
    store.erase(store.lower_bound(range.key), store.lower_bound(range.value));
  }
  for (size_t i = 0; i < batch.rows(); ++i) {
    const Row row = batch.GetRow(i);
    const std::string key(row.key);
    if (row.op == RowOp::kDelete) {
      store.erase(key);
    } else if (const auto found = store.find(key); row.op == RowOp::kMerge && found != store.end()) {
      const std::vector<std::string_view> parts = {found->second, row.value};
      std::string composed;
      ASSERT_TRUE(FoldEncoded(parts, kLimits, Horizon(), composed));
      found->second = composed;
    } else {
      store[key] = row.value;
    }
  }
}

RowBatch Folded(const RowFold& fold) {
  RowBatch batch;
  EXPECT_TRUE(fold.ForEach(LimitsOf, [&](const Row& row) {
    batch.Add(row);
    return Status();
  }));
  return batch;
}

class RandomBatches {
 public:
  explicit RandomBatches(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) users_.emplace(Key("u" + std::to_string(i)), "u" + std::to_string(i));
  }

  RowBatch Next() {
    RowBatch batch;
    for (int from = 0; from < 8;) {  // of the eight, several that don't overlap
      const int to = from + 1 + static_cast<int>(random_() % 8);
      if (random_() % 4 == 0) batch.Add({RowOp::kDeleteRange, Served(from), Served(to)});
      from = to;
    }
    for (const auto& [key, user_id] : users_) {
      switch (random_() % 6) {
        case 0:
        case 1:
          batch.Add({RowOp::kMerge, key, RandomDelta(user_id)});
          break;
        case 2:
          batch.Add({RowOp::kPut, key, RandomDelta(user_id)});
          break;
        case 3:
          batch.Add({RowOp::kDelete, key, ""});
          break;
        default:
          break;
      }
    }
    for (int i = 0; i < 8; ++i) {
      if (random_() % 3 == 0) batch.Add({RowOp::kPut, Served(i), std::to_string(random_() % 100)});
    }
    return batch;
  }

 private:
  static std::string Served(int i) { return std::string("\x30served-") + static_cast<char>('a' + i); }
  std::string RandomDelta(const std::string& user_id) {
    return EncodedDelta(user_id, 20'000 + static_cast<int32_t>(random_() % 3),
                        static_cast<uint32_t>(random_() % 10));
  }

  std::mt19937_64 random_;
  std::map<std::string, std::string> users_;  // by key
};

// What stood there before, the batches one by one and the batches folded come to the same.
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

// Folds of folds, as a restore makes them of runs.
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
