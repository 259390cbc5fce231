#pragma once
// Rows into the records of one run or one base.

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
  /// Takes a whole record. An error comes out of the call that made it.
  using Emit = std::function<Status(std::string record)>;
  /// `first`: as part 0 will be; what the writer fills in is as it is by default. `record_bytes_max`: at
  /// least twice what a part is long without its block.
  PartWriter(StatePart first, size_t record_bytes_max, Emit emit);

  /// Ranges first, then rows; each ascending.
  Status Add(const Row& row);
  /// What was added goes out now; another part follows it.
  Status Flush();
  /// The last part; where `base_at` is given, with it. Nothing else is called after it.
  Status Finish(std::optional<int64_t> base_at = std::nullopt);

 private:
  Status EndBlock();
  /// What was cut goes out once it is known whether something follows it.
  Status Cut(std::string_view bytes, bool ends_block);

  StatePart next_;
  const size_t record_bytes_max_;
  const Emit emit_;
  RowBlockWriter block_;
  std::string encoded_;
  std::string held_;       // the record before
  StatePart held_head_{};  // its
  bool holds_ = false;
};

}  // namespace seen
