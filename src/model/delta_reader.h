#pragma once
// Reads the fields of an encoded delta. Used inside model only.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "model/day.h"
#include "model/rice.h"

namespace seen::delta_bytes {

inline constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();

inline int32_t UnZigZag(uint64_t value) {
  return static_cast<int32_t>((static_cast<uint32_t>(value) >> 1) ^
                              (0u - (static_cast<uint32_t>(value) & 1)));
}

// Reads fields until one is bad; from then on everything reads as zero and `ok()` is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  const char* at() const { return at_; }
  void Fail() { ok_ = false, at_ = end_; }
  void Require(bool condition) {
    if (!condition) Fail();
  }

  uint8_t Byte() {
    if (at_ == end_) return Fail(), uint8_t{0};
    return static_cast<uint8_t>(*at_++);
  }
  // At most `max`; shortest form only, since equal deltas have equal bytes.
  uint64_t Varint(uint64_t max) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 63; shift += 7) {
      const uint8_t byte = Byte();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte & 0x80) continue;
      if ((byte == 0 && shift > 0) || value > max) break;
      return value;
    }
    return Fail(), 0;
  }
  Day ReadDay() { return {UnZigZag(Varint(kMax32))}; }
  std::string_view Bytes(uint64_t count) {
    if (count > static_cast<uint64_t>(end_ - at_)) return Fail(), std::string_view{};
    at_ += count;
    return {at_ - count, static_cast<size_t>(count)};
  }
  RiceCode Code(uint64_t count) {
    RiceCode code;
    code.count = static_cast<uint32_t>(count);
    code.parameter = Byte();
    code.bytes = Bytes(Varint(kMax32));
    code.slack = static_cast<uint32_t>(std::min<std::ptrdiff_t>(8, end_ - at_));
    if (!code.Plausible()) Fail();
    return code;
  }

 private:
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace seen::delta_bytes
