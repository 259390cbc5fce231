#pragma once
// The shapes that a binary fuse filter tries, beginning with the smallest that has a fair chance.

#include <cstddef>
#include <cstdint>

#include "filter/binary_fuse.h"

namespace seen {

/// One shape after another for `count` (> 0) items, each with the number of seeds to try. They grow without
/// end: large ones by at least one segment, small ones by at least one entry.
class BinaryFuseShapes {
 public:
  explicit BinaryFuseShapes(size_t count);
  BinaryFuseShape shape() const { return shape_; }
  uint32_t seeds() const { return seeds_; }  // 1 to 256
  void Next();

 private:
  void TakeSmall(uint64_t entries);

  size_t count_;
  uint32_t seeds_;
  BinaryFuseShape shape_;
};

}  // namespace seen
