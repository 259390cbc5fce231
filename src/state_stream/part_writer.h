#pragma once
// Writes rows into the records of one run or one base.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "rows/row_block.h"
#include "state_stream/state_record.h"

namespace seen {

/// One thread at a time.
class PartWriter {
 public:
  /// Takes a whole record. The call that made the record returns its error.
  using Emit = std::function<Status(std::string record)>;
  /// `first`: the head of part 0; fields that the writer fills in have their defaults. `record_bytes_max`: at
  /// least twice the length of a part without its block.
  PartWriter(StatePart first, size_t record_bytes_max, Emit emit);

  /// Ranges first, then rows; each ascending.
  Status Add(const Row& row);
  /// Emits what was added; another part must follow.
  Status Flush();
  /// Emits the last part, with `base_at` if it is given. Call nothing after it.
  Status Finish(std::optional<int64_t> base_at = std::nullopt);

 private:
  Status EndBlock();
  /// Holds the part back until it is known whether another part follows.
  Status Cut(std::string_view bytes, bool ends_block);

  StatePart next_;
  const size_t record_bytes_max_;
  const Emit emit_;
  RowBlockWriter block_;
  std::string encoded_;
  std::string held_;       // the part that is held back
  StatePart held_head_{};  // its head
  bool holds_ = false;
};

}  // namespace seen
