#pragma once
// Writes fields of up to 32 bits, one after another, into bytes.

#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/bits.h"

namespace seen {

/// Writes to `bytes` from its first bit on. All fields must fit.
class FieldWriter {
 public:
  explicit FieldWriter(std::span<char> bytes) : bytes_(bytes) {}
  /// `value` is below 2^width.
  void Put(uint32_t value, uint32_t width) {
    pending_ |= uint64_t{value} << used_;
    used_ += width;
    if (used_ < 32) return;
    PutInteger(bytes_, at_, static_cast<uint32_t>(pending_));
    at_ += 4;
    pending_ >>= 32;
    used_ -= 32;
  }
  /// Fills the rest of the last byte with zeros. Put nothing after it.
  void Finish() {
    for (; used_ > 0; used_ -= used_ < 8 ? used_ : 8) {
      bytes_[at_++] = static_cast<char>(pending_);
      pending_ >>= 8;
    }
  }

 private:
  std::span<char> bytes_;
  size_t at_ = 0;
  uint64_t pending_ = 0;
  uint32_t used_ = 0;  // bits of pending_, below 32
};

}  // namespace seen
