#pragma once
// Random checkpoints of a few users as rows, and the state that a store makes from them.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/delta_fold.h"
#include "model/horizon.h"
#include "rows/keys.h"
#include "rows/row_batch.h"

namespace seen::test {

using Store = std::map<std::string, std::string, std::less<>>;
inline constexpr DeltaLimits kLimits{3, 300};

inline const DeltaLimits* LimitsOf(FilterId filter) { return filter.number() < 2 ? &kLimits : nullptr; }

inline std::string Key(const std::string& user_id) {
  return std::string(View(KeyOf(Table::kDeltas, {FilterId{1}, UserKeyOf(user_id)})));
}

inline std::string EncodedDelta(const std::string& user_id, int32_t day, uint32_t item) {
  Delta delta;
  delta.user_id = user_id;
  delta.segments = {{Day{day}, 10, 20, {{item}}}};
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

// Applies the rows one by one, as a store does.
inline void Apply(const RowBatch& batch, Store& store) {
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

class RandomBatches {
 public:
  explicit RandomBatches(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) users_.emplace(Key("u" + std::to_string(i)), "u" + std::to_string(i));
  }

  RowBatch Next() {
    RowBatch batch;
    for (int from = 0; from < 8;) {  // several ranges of the eight keys, without overlap
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

}  // namespace seen::test
