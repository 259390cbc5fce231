#include "rows/row_fold.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "model/delta_fold.h"
#include "model/horizon.h"
#include "rows/keys.h"

namespace seen {
namespace {

// The key's first 16 bytes as two numbers that sort as the bytes do. Missing bytes count as zeros.
std::pair<uint64_t, uint64_t> StartOf(std::string_view key) {
  std::array<unsigned char, 16> bytes{};
  std::memcpy(bytes.data(), key.data(), std::min(key.size(), bytes.size()));
  uint64_t high = 0;
  uint64_t low = 0;
  for (size_t i = 0; i < 8; ++i) {
    high = high << 8 | bytes[i];
    low = low << 8 | bytes[8 + i];
  }
  return {high, low};
}

// The current position in one batch.
struct Cursor {
  const RowBatch* batch;
  size_t batch_number;
  size_t row = 0;
  Row current = {};
  std::pair<uint64_t, uint64_t> start = {};  // of current.key: nearly all keys differ there

  bool Load() {
    if (row == batch->rows()) return false;
    current = batch->GetRow(row);
    start = StartOf(current.key);
    return true;
  }
};

// The heap functions put the greatest first: here the least key, and of equal keys the earliest batch.
bool ComesLater(const Cursor& a, const Cursor& b) {
  if (a.start != b.start) return a.start > b.start;
  const int order = a.current.key.compare(b.current.key);
  return order > 0 || (order == 0 && a.batch_number > b.batch_number);
}

// Composes several changes of one key. `parts`: the values from the last replacement on.
Status Compose(std::string_view key, const RowFold::LimitsOf& limits_of,
               const std::vector<std::string_view>& parts, std::string& out) {
  const auto user = UserOf(Table::kDeltas, key);
  const DeltaLimits* const limits = user ? limits_of(user->filter) : nullptr;
  if (limits == nullptr || !FoldEncoded(parts, *limits, Horizon(), out))
    return Fail(Code::kCorrupt, "rows: the values to compose aren't a user's deltas");
  return {};
}

}  // namespace

void RowFold::Add(RowBatch batch) {
  bytes_ += batch.bytes();
  batches_.push_back(std::move(batch));
}

void RowFold::Clear() {
  batches_.clear();
  bytes_ = 0;
}

std::vector<Row> RowFold::JoinedRanges() const {
  std::vector<Row> ranges;
  for (const RowBatch& batch : batches_) {
    for (size_t i = 0; i < batch.ranges(); ++i) ranges.push_back(batch.GetRange(i));
  }
  std::sort(ranges.begin(), ranges.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
  size_t joined = 0;
  for (const Row& range : ranges) {
    if (joined > 0 && range.key <= ranges[joined - 1].value) {
      ranges[joined - 1].value = std::max(ranges[joined - 1].value, range.value);
    } else {
      ranges[joined++] = range;
    }
  }
  ranges.resize(joined);
  return ranges;
}

bool RowFold::IsDeletedAfter(size_t batch_number, std::string_view key) const {
  return std::any_of(batches_.begin() + static_cast<std::ptrdiff_t>(batch_number) + 1, batches_.end(),
                     [&](const RowBatch& batch) { return batch.Deletes(key); });
}

Status RowFold::ForEach(const LimitsOf& limits_of, const Visit& visit) const {
  const std::vector<Row> ranges = JoinedRanges();
  for (const Row& range : ranges) {
    if (Status visited = visit(range); !visited) return visited;
  }
  auto range = ranges.begin();  // the first range that ends after the key
  std::vector<Cursor> heap;
  for (size_t i = 0; i < batches_.size(); ++i) {
    Cursor cursor{&batches_[i], i};
    if (cursor.Load()) heap.push_back(cursor);
  }
  std::make_heap(heap.begin(), heap.end(), ComesLater);
  std::vector<std::string_view> parts;
  std::string composed;
  while (!heap.empty()) {
    const std::string_view key = heap.front().current.key;
    while (range != ranges.end() && range->value <= key) ++range;
    const bool may_be_deleted = range != ranges.end() && range->key <= key;
    parts.clear();
    RowOp op = RowOp::kMerge;
    bool stands = false;  // at least one change of the key is left
    while (!heap.empty() && heap.front().current.key == key) {
      std::pop_heap(heap.begin(), heap.end(), ComesLater);
      Cursor& cursor = heap.back();
      const Row row = cursor.current;
      const bool deleted = may_be_deleted && IsDeletedAfter(cursor.batch_number, key);
      ++cursor.row;
      if (cursor.Load()) {
        std::push_heap(heap.begin(), heap.end(), ComesLater);
      } else {
        heap.pop_back();
      }
      if (deleted) continue;  // the range, visited above, deletes it
      if (row.op != RowOp::kMerge) {
        parts.clear();
        op = row.op;
      } else if (op == RowOp::kDelete) {
        op = RowOp::kPut;  // composed onto nothing
      }
      stands = true;
      if (row.op != RowOp::kDelete) parts.push_back(row.value);
    }
    if (!stands) continue;
    Row folded{op, key, parts.empty() ? std::string_view() : parts.front()};
    if (parts.size() > 1) {
      if (Status status = Compose(key, limits_of, parts, composed); !status) return status;
      folded.value = composed;
    }
    if (Status visited = visit(folded); !visited) return visited;
  }
  return {};
}

}  // namespace seen
