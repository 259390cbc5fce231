#pragma once
// Reads the wire format of Protobuf. Room binary only. Source: protobuf.dev, "Encoding".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace seen {

/// The functions return false if the bytes end too early, or if protobuf's own readers refuse them.
class ProtobufCursor {
 public:
  static constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;  // wire types

  explicit ProtobufCursor(std::string_view bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  bool TakeVarint(uint64_t& value) { return TakeVarint(10, value); }
  bool TakeTag(uint32_t& number, uint32_t& wire) {
    uint64_t tag = 0;
    if (!TakeVarint(5, tag) || tag > UINT32_MAX || tag < 8) return false;
    number = static_cast<uint32_t>(tag >> 3);
    wire = static_cast<uint32_t>(tag & 7);
    return true;
  }
  bool TakeBytes(std::string_view& bytes) {
    uint64_t size = 0;
    if (!TakeVarint(5, size) || size > rest_.size()) return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  template <typename Number>
  bool TakeFixed(Number& number) {
    if (rest_.size() < sizeof number) return false;
    std::memcpy(&number, rest_.data(), sizeof number);  // little-endian, as this machine
    rest_.remove_prefix(sizeof number);
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
  bool TakeVarint(size_t bytes_max, uint64_t& value) {
    if (!rest_.empty() && static_cast<unsigned char>(rest_.front()) < 0x80) [[likely]] {
      value = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      return true;
    }
    value = 0;
    const size_t size = std::min(bytes_max, rest_.size());
    for (size_t i = 0; i < size; ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      value |= static_cast<uint64_t>(byte & 0x7f) << 7 * i;
      if (byte >= 0x80) continue;
      rest_.remove_prefix(i + 1);
      return true;
    }
    return false;
  }

  std::string_view rest_;
};

}  // namespace seen
