#pragma once
// Reads the wire format of Protobuf. Room binary only. Source: protobuf.dev, "Encoding".

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "binary/varint.h"

namespace seen {

/// The functions return false if the bytes end too early, or if protobuf's own readers refuse them.
class ProtobufCursor {
 public:
  static constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;  // wire types

  explicit ProtobufCursor(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool AtEnd() const { return at_ == end_; }
  std::string_view rest() const { return {at_, left()}; }

  bool TakeVarint(uint64_t& value) {
    const TakenVarint taken = seen::TakeVarint<false>(at_, end_);
    if (taken.behind == nullptr) return false;
    at_ = taken.behind;
    value = taken.value;
    return true;
  }
  /// Not at the end.
  uint8_t NextByte() const { return static_cast<uint8_t>(*at_); }
  void SkipByte() { ++at_; }
  bool TakeTag(uint32_t& number, uint32_t& wire) {
    uint64_t tag = 0;
    if (!TakeShort(tag) || tag > UINT32_MAX || tag < 8) return false;
    number = static_cast<uint32_t>(tag >> 3);
    wire = static_cast<uint32_t>(tag & 7);
    return true;
  }
  bool TakeBytes(std::string_view& bytes) {
    uint64_t size = 0;
    if (!TakeShort(size) || size > left()) return false;
    bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }
  template <typename Number>
  bool TakeFixed(Number& number) {
    if (left() < sizeof number) return false;
    std::memcpy(&number, at_, sizeof number);  // little-endian, as this machine
    at_ += sizeof number;
    return true;
  }
  /// Not for groups, which are rare.
  bool Skip(uint32_t wire) {
    uint64_t number = 0;
    std::string_view bytes;
    switch (wire) {
      case kVarint:
        return TakeVarint(number);
      case kFixed64:
        return TakeFixed(number);
      case kBytes:
        return TakeBytes(bytes);
      case kFixed32: {
        uint32_t fixed = 0;
        return TakeFixed(fixed);
      }
      default:
        return false;
    }
  }

 private:
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  /// Of at most five bytes.
  bool TakeShort(uint64_t& value) {
    const char* const from = at_;
    return TakeVarint(value) && at_ - from <= 5;
  }

  const char* at_;
  const char* end_;
};

}  // namespace seen
