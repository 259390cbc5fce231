#pragma once
// Rows as compressed bytes: schemas/state.md, "Blocks". Ascending keys share what they have in common, and a
// user key isn't written where the value names the user.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rows/row_batch.h"

namespace seen {

/// Before compression: a block ends with the row that reaches it.
inline constexpr size_t kBlockBytes = 256 * 1024;
/// What a reader takes for damage.
inline constexpr size_t kBlockBytesMax = size_t{1} << 30;

/// One thread at a time.
class RowBlockWriter {
 public:
  RowBlockWriter();
  ~RowBlockWriter();

  /// In the order in which they are to be read.
  void Add(const Row& row);
  bool empty() const { return raw_.empty(); }
  bool IsFull() const { return raw_.size() >= kBlockBytes; }
  /// Appends what was added since the last block.
  void Finish(std::string& out);

 private:
  struct Compressor;

  std::string raw_;
  std::string last_key_;
  std::unique_ptr<Compressor> compressor_;
};

/// One block's rows, put into `rows` behind what it holds. kCorrupt for anything RowBlockWriter can't have
/// written.
Status ReadRowBlock(std::string_view block, RowBatch& rows);

}  // namespace seen
