#pragma once
// A row of a partition's state: a key and a value as in schemas/store.md, and how the row changes the state.
// The state travels as such rows: schemas/state.md.

#include <cstdint>
#include <string_view>

namespace seen {

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

}  // namespace seen
