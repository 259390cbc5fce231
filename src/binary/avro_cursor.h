#pragma once
// Takes what all values of Avro are made of from the front of a payload. Source: Apache Avro 1.11.1,
// specification, "Binary Encoding".

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "binary/varint.h"

namespace seen {

/// After a function has returned false, nothing more may be taken.
class AvroCursor {
 public:
  AvroCursor() = default;
  explicit AvroCursor(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool AtEnd() const { return at_ == end_; }

  /// An int or a long: zigzag, in groups of seven bits.
  bool TakeLong(int64_t& value) {
    const TakenVarint taken = TakeVarint<true>(at_, end_);
    if (taken.behind == nullptr) return false;
    at_ = taken.behind;
    value = static_cast<int64_t>(taken.value >> 1 ^ (~(taken.value & 1) + 1));
    return true;
  }
  bool Skip(uint64_t bytes) {
    if (bytes > left()) return false;
    at_ += bytes;
    return true;
  }
  bool Take(uint64_t count, std::string_view& bytes) {
    bytes = {at_, static_cast<size_t>(count)};
    return Skip(count);
  }
  /// Bytes or a string: a length, and so many bytes.
  bool TakeBytes(std::string_view& bytes) {
    int64_t length = 0;
    return TakeLong(length) && length >= 0 && Take(static_cast<uint64_t>(length), bytes);
  }
  /// A float or a double, in the order of bytes of this machine, which is Avro's.
  template <typename Number>
  bool TakeNumber(Number& number) {
    std::string_view bytes;
    if (!Take(sizeof number, bytes)) return false;
    std::memcpy(&number, bytes.data(), sizeof number);
    return true;
  }
  /// The start of a block of an array or a map. `count` 0: there is no further block. `bytes`: the block's
  /// size; -1: it isn't given.
  bool TakeBlock(uint64_t& count, int64_t& bytes) {
    int64_t given = 0;
    if (!TakeLong(given)) return false;
    bytes = -1;
    count = static_cast<uint64_t>(given < 0 ? -(given + 1) : given) + (given < 0 ? 1 : 0);
    return given >= 0 || (TakeLong(bytes) && bytes >= 0 && static_cast<uint64_t>(bytes) <= left());
  }

 private:
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace seen
