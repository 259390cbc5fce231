#pragma once
// Rows in one piece of memory: the changes of one checkpoint, or one piece from the log.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"

namespace seen {

/// A row of a partition's state: a key and a value as in schemas/store.md, and how the row changes the state.
/// The state travels as such rows: schemas/state.md.
/// What a row does to the value under its key.
enum class RowOp : uint8_t {
  kPut = 0,          // replaces it
  kMerge = 1,        // composes the row's value, an encoded delta, onto it
  kDelete = 2,       // deletes it; the row has no value
  kDeleteRange = 3,  // deletes all keys from the row's key up to the row's value, a key that stays
};

/// The views point into bytes that somebody else holds.
struct Row {
  RowOp op = RowOp::kPut;
  std::string_view key;
  std::string_view value;
  friend bool operator==(const Row&, const Row&) = default;
};

/// Rows ascend by key. A range deletes what stood in it before the batch, and none of the batch's own rows.
/// One thread at a time.
class RowBatch {
 public:
  /// Add rows in the order of their keys, each key once. Ranges are kept and counted apart: add them by where
  /// they begin. Ranges don't overlap.
  void Add(const Row& row) {
    std::vector<Place>& places = row.op == RowOp::kDeleteRange ? ranges_ : rows_;
    places.push_back({bytes_.size(), static_cast<uint32_t>(row.key.size()),
                      static_cast<uint32_t>(row.value.size()), row.op});
    bytes_.append(row.key).append(row.value);
  }

  void Reserve(size_t bytes, size_t rows) {
    bytes_.reserve(bytes);
    rows_.reserve(rows);
  }
  /// Bytes of keys and values.
  size_t row_bytes() const { return bytes_.size(); }

  bool empty() const { return rows_.empty() && ranges_.empty(); }
  size_t rows() const { return rows_.size(); }
  Row GetRow(size_t index) const { return At(rows_[index]); }
  size_t ranges() const { return ranges_.size(); }
  Row GetRange(size_t index) const { return At(ranges_[index]); }
  /// True if a range of the batch deletes what stood under `key`.
  bool Deletes(std::string_view key) const;
  /// Bytes in memory.
  uint64_t bytes() const {
    return bytes_.capacity() + (rows_.capacity() + ranges_.capacity()) * sizeof(Place);
  }

 private:
  struct Place {
    uint64_t at;
    uint32_t key_bytes;
    uint32_t value_bytes;
    RowOp op;
  };
  Row At(const Place& place) const {
    const std::string_view bytes = std::string_view(bytes_).substr(place.at);
    return {place.op, bytes.substr(0, place.key_bytes), bytes.substr(place.key_bytes, place.value_bytes)};
  }

  std::string bytes_;
  std::vector<Place> rows_;
  std::vector<Place> ranges_;
};

/// Turns a checkpoint's calls into rows. The store and the state topic share this code, so that both get the
/// same rows.
/// As CheckpointWriter. The journal isn't made of rows: a class that keeps a journal overrides those calls
/// itself.
class RowWriter : public CheckpointWriter {
 public:
  /// Call it before all others.
  Status PutPosition(const Position& position);
  Status PutSweep(std::string_view encoded) override;
  Status AddDelta(const UserRef& user, std::string_view encoded_delta) override;
  Status DropPublished(const UserRef& user) override;
  Status DropAllPublished(FilterId filter) override;
  Status SetMark(const Mark& mark) override;
  Status ClearMark(const UserRef& user) override;
  Status DropEndings(uint32_t at_s) override;
  Status AddEnding(const Ending& ending) override;
  Status DropServed(uint32_t due_s) override;
  Status DropServedOf(uint32_t due_s, const UserKey& user) override;
  Status AddServed(const ServedRow& row, std::string_view text) override;

 private:
  /// Rows come in the order of their keys, ranges among them. Views are valid during the call.
  virtual Status Write(const Row& row) = 0;
};

}  // namespace seen
