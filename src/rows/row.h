#pragma once
// A row of a partition's state, as schemas/store.md lays out its key and its value, and what a change does
// to it. The state travels as such rows: schemas/state.md.

#include <cstdint>
#include <string_view>

namespace seen {

/// What happens to what stood under the row's key.
enum class RowOp : uint8_t {
  kPut = 0,          // it is replaced
  kMerge = 1,        // the value, an encoded delta, is composed onto it
  kDelete = 2,       // it goes. No value
  kDeleteRange = 3,  // so does everything from the key up to the value, which is a key too and stays
};

/// Views of whoever holds the bytes.
struct Row {
  RowOp op = RowOp::kPut;
  std::string_view key;
  std::string_view value;
  friend bool operator==(const Row&, const Row&) = default;
};

}  // namespace seen
