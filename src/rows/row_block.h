#pragma once
// Rows as compressed bytes: schemas/state.md, "Blocks". A key doesn't repeat the prefix of the key before it.
// A user key isn't written if the value names the user.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rows/row_batch.h"

namespace seen {

/// Bytes before compression. A block ends with the row that reaches this size.
inline constexpr size_t kBlockBytes = 256 * 1024;
/// Bytes before compression. A reader takes a longer block for damage.
inline constexpr size_t kBlockBytesMax = size_t{1} << 30;

/// One thread at a time.
class RowBlockWriter {
 public:
  RowBlockWriter();
  ~RowBlockWriter();

  /// Rows are read back in the order of these calls.
  void Add(const Row& row);
  bool empty() const { return raw_.empty(); }
  bool IsFull() const { return raw_.size() >= kBlockBytes; }
  /// Appends a block with the rows that were added since the last block.
  void Finish(std::string& out);

 private:
  struct Compressor;

  std::string raw_;
  std::string last_key_;
  std::unique_ptr<Compressor> compressor_;
};

/// Appends one block's rows to `rows`. kCorrupt for anything RowBlockWriter can't have written.
Status ReadRowBlock(std::string_view block, RowBatch& rows);

}  // namespace seen
