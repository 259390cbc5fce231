#include "model/rice.h"

#include <bit>
#include <cstring>

namespace seen {
namespace {

static_assert(std::endian::native == std::endian::little, "the codec loads little-endian words");

class BitWriter {
 public:
  explicit BitWriter(std::string& out) : out_(out) {}
  void Append(uint64_t bits, uint32_t count) {  // count <= 32
    pending_ |= bits << used_;
    used_ += count;
    while (used_ >= 8) {
      out_.push_back(static_cast<char>(pending_));
      pending_ >>= 8;
      used_ -= 8;
    }
  }
  void AppendZeros(uint64_t count) {
    for (; count > 32; count -= 32) Append(0, 32);
    Append(0, static_cast<uint32_t>(count));
  }
  void Finish() {
    if (used_ > 0) out_.push_back(static_cast<char>(pending_));
    pending_ = 0;
    used_ = 0;
  }

 private:
  std::string& out_;
  uint64_t pending_ = 0;
  uint32_t used_ = 0;
};

// 64 bits from byte `at` on, zeros past the end.
uint64_t Load(std::string_view bytes, uint64_t at) {
  uint64_t word = 0;
  if (at + 8 <= bytes.size()) [[likely]] {
    std::memcpy(&word, bytes.data() + at, 8);
  } else if (at < bytes.size()) {
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
  }
  return word;
}

}  // namespace

uint32_t RiceParameter(uint64_t count, uint32_t largest) {
  // 1 + floor(log2(ln(golden ratio) * mean gap)), in integers.
  const uint64_t scaled = (static_cast<uint64_t>(largest) + 1) * 4812 / (count * 10'000);
  return static_cast<uint32_t>(std::bit_width(scaled));
}

void RiceEncode(std::span<const Fingerprint> values, uint32_t parameter, std::string& out) {
  BitWriter writer(out);
  uint64_t next = 0;  // the smallest value that may follow
  for (const Fingerprint fingerprint : values) {
    const uint64_t gap = fingerprint.value - next;
    writer.AppendZeros(gap >> parameter);
    writer.Append(1, 1);
    writer.Append(gap & ((uint64_t{1} << parameter) - 1), parameter);
    next = uint64_t{fingerprint.value} + 1;
  }
  writer.Finish();
}

bool RiceDecode(std::string_view bytes, uint64_t count, uint32_t parameter, std::vector<Fingerprint>& out) {
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  if (parameter > 31 || count > bits / (parameter + 1)) return false;
  const size_t before = out.size();
  out.resize(before + count);
  Fingerprint* to = out.data() + before;
  const uint64_t mask = (uint64_t{1} << parameter) - 1;
  uint64_t at = 0;    // in bits
  uint64_t next = 0;  // the smallest value that may follow
  for (uint64_t i = 0; i < count; ++i) {
    // A window holds at least 57 bits: quotients up to 24 (nearly all) and their remainder need one load.
    uint64_t window = Load(bytes, at >> 3) >> (at & 7);
    uint64_t quotient = 0;
    while ((window & ((uint64_t{1} << 25) - 1)) == 0) [[unlikely]] {
        quotient += 25;
        at += 25;
        if (at >= bits) return false;
        window = Load(bytes, at >> 3) >> (at & 7);
      }
    const auto zeros = static_cast<uint32_t>(std::countr_zero(window));
    quotient += zeros;
    const uint64_t value = next + ((quotient << parameter) | ((window >> (zeros + 1)) & mask));
    at += zeros + 1 + parameter;
    if (value > UINT32_MAX) return false;
    to[i] = {static_cast<uint32_t>(value)};
    next = value + 1;
  }
  if (at > bits || bits - at >= 8) return false;
  return (at & 7) == 0 || static_cast<unsigned char>(bytes.back()) >> (at & 7) == 0;
}

}  // namespace seen
