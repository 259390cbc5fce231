#pragma once
// One partition of a state topic, in memory. The items of its states say which records of the input the state
// holds.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/delta.h"
#include "model/delta_fold.h"
#include "model/horizon.h"
#include "rows/keys.h"
#include "rows/row_batch.h"
#include "state_stream/part_writer.h"
#include "state_stream/state_record.h"

namespace seen::test {

inline constexpr DeltaLimits kAllItems{1'000'000, 300};
inline constexpr int kUsers = 5;

inline std::string UserName(int64_t number) { return "user-" + std::to_string(number % kUsers); }

inline std::string DeltaKey(const std::string& user_id) {
  return std::string(View(KeyOf(Table::kDeltas, {FilterId{0}, UserKeyOf(user_id)})));
}

/// The item of record `offset`. Such items compress as little as real items. OffsetOf gives the offset of an
/// item.
inline uint32_t ItemOf(int64_t offset) { return static_cast<uint32_t>(offset) * 0x9e3779b1u; }
inline int64_t OffsetOf(uint32_t item) { return static_cast<uint32_t>(item * 0xe8b2f51u); }

/// The change that record `offset` of the input makes.
inline std::string DeltaOf(int64_t offset, const std::string& user_id) {
  Delta delta;
  delta.user_id = user_id;
  delta.segments = {{Day{20'000}, 10, 20, {{ItemOf(offset)}}}};
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

/// `before` and then `after`, both encoded deltas. `before` may be empty.
inline std::string Folded(const std::string& before, std::string_view after) {
  if (before.empty()) return std::string(after);
  const std::vector<std::string_view> parts = {before, after};
  std::string composed;
  EXPECT_TRUE(FoldEncoded(parts, kAllItems, Horizon(), composed));
  return composed;
}

/// The rows of a checkpoint over the offsets [from, to).
inline RowBatch RowsBetween(int64_t from, int64_t to) {
  std::map<std::string, std::string> rows;
  for (int64_t offset = from; offset < to; ++offset) {
    const std::string user_id = UserName(offset);
    std::string& row = rows[DeltaKey(user_id)];
    row = Folded(row, DeltaOf(offset, user_id));
  }
  RowBatch batch;
  batch.Add({RowOp::kPut, PositionKey(), std::to_string(to)});
  for (const auto& [key, value] : rows) batch.Add({RowOp::kMerge, key, value});
  return batch;
}

/// A store that keeps its rows. It can say which records the rows came from.
struct HeldRows {
  std::map<std::string, std::string, std::less<>> rows;

  void Apply(const Row& row) {
    std::string& value = rows[std::string(row.key)];
    value = row.op == RowOp::kMerge ? Folded(value, row.value) : std::string(row.value);
  }
  void Apply(const RowBatch& batch) {
    for (size_t i = 0; i < batch.rows(); ++i) Apply(batch.GetRow(i));
  }
  std::set<int64_t> Offsets() const {
    std::set<int64_t> offsets;
    for (const auto& [key, value] : rows) {
      if (key[0] != static_cast<char>(Table::kDeltas)) continue;
      const auto delta = DecodeDelta(value);
      EXPECT_TRUE(delta);
      for (const Segment& segment : delta->segments) {
        for (const Fingerprint item : segment.fingerprints) offsets.insert(OffsetOf(item.value));
      }
    }
    return offsets;
  }
};

inline std::set<int64_t> OffsetsBelow(int64_t end) {
  std::set<int64_t> offsets;
  for (int64_t offset = 0; offset < end; ++offset) offsets.insert(offset);
  return offsets;
}

struct StateTopic {
  std::vector<std::string> records;

  int64_t end() const { return static_cast<int64_t>(records.size()); }
  int64_t Open(int64_t base_at = kNoOffset) {
    StateOpening opening{"seen", "seen-1", "0.1.0", false, {1}, 0, base_at};
    std::string bytes;
    EncodeStateOpening(opening, bytes);
    records.push_back(bytes);
    return end() - 1;
  }
};

inline std::vector<std::string> RecordsOf(const StatePart& first, const RowBatch& rows,
                                          size_t record_bytes_max = 100'000) {
  std::vector<std::string> records;
  PartWriter writer(first, record_bytes_max, [&](std::string record) {
    records.push_back(std::move(record));
    return Status();
  });
  for (size_t i = 0; i < rows.ranges(); ++i) EXPECT_TRUE(writer.Add(rows.GetRange(i)));
  for (size_t i = 0; i < rows.rows(); ++i) EXPECT_TRUE(writer.Add(rows.GetRow(i)));
  EXPECT_TRUE(writer.Finish());
  return records;
}

inline StatePart RunHead(int64_t epoch, uint32_t number, int64_t from, int64_t to) {
  StatePart head;
  head.epoch = epoch;
  head.number = number;
  head.from = from;
  head.to = to;
  return head;
}

inline std::vector<std::string> RunOf(int64_t epoch, uint32_t number, int64_t from, int64_t to,
                                      size_t record_bytes_max = 100'000) {
  return RecordsOf(RunHead(epoch, number, from, to), RowsBetween(from, to), record_bytes_max);
}

}  // namespace seen::test
