#include "filters/lines.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "filter/bits.h"
#include "filter/split_block_bloom.h"

namespace seen::bench {
namespace {

/// A payload that remembers which of its bytes were read.
class Watched {
 public:
  explicit Watched(std::string_view bytes) : bytes_(bytes) {}
  /// Reads a field. Fields are not remembered.
  template <typename T>
  T Field(size_t at) const {
    return GetInteger<T>(bytes_, at);
  }
  /// Reads `width` bits, from bit `at` after byte `from`.
  uint32_t Bits(size_t from, uint64_t at, uint32_t width) {
    const std::string_view rest = bytes_.substr(from);
    if (width > 0) Touch(from + at / 8, from + (at + width - 1) / 8);
    return GetBits(rest, at, width);
  }
  uint64_t Bytes(size_t at, size_t count) {
    Touch(at, at + count - 1);
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i) value |= uint64_t{static_cast<uint8_t>(bytes_[at + i])} << (8 * i);
    return value;
  }
  void Touch(size_t first, size_t last) {
    for (size_t line = first / 64; line <= last / 64; ++line)
      if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(line);
  }
  size_t size() const { return bytes_.size(); }
  size_t lines() const { return lines_.size(); }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
  std::vector<size_t> lines_;
};

void Bloom(Watched& payload, uint64_t hash, uint32_t width) {
  const auto places = static_cast<uint32_t>(8 / width * (payload.size() - 1));
  uint64_t g = hash;
  for (uint32_t left = payload.Field<uint8_t>(0); left > 0; --left, g *= 0xd1342543de82ef95U)
    if (payload.Bits(1, uint64_t{Range(UpperHalf(g), places)} * width, width) == 0) return;
}

/// Touches the whole block, because a block is one load. False: certainly not in.
bool SplitBlock(Watched& payload, size_t from, uint32_t blocks, Fingerprint fingerprint) {
  using split_block_bloom::kBlockBytes;
  const size_t at = from + kBlockBytes * Range(UpperHalf(HashOf(fingerprint)), blocks);
  payload.Touch(at, at + kBlockBytes - 1);
  return split_block_bloom::MightContain(payload.bytes().substr(at, kBlockBytes), fingerprint);
}

void DayChain(Watched& payload, Fingerprint fingerprint) {
  const auto days = payload.Field<uint32_t>(0);
  size_t at = 4 + 20 * size_t{days};
  for (uint32_t day = 0; day < days; ++day) {
    const auto blocks = payload.Field<uint32_t>(4 + 20 * size_t{day} + 16);
    if (SplitBlock(payload, at, blocks, fingerprint)) return;
    at += 32 * size_t{blocks};
  }
}

void DLeft(Watched& payload, uint64_t hash) {
  constexpr uint32_t kMultipliers[] = {0x9e3779b1U, 0x85ebca77U, 0xc2b2ae3dU, 0x27d4eb2fU};
  const uint32_t r = payload.Field<uint8_t>(0), cells = payload.Field<uint8_t>(1);
  const auto buckets = payload.Field<uint32_t>(2);
  const uint32_t remainder = LowerHalf(hash) & LowBits(r);
  for (uint64_t table = 0; table < 4; ++table) {
    const uint64_t shift = Range((remainder + 1) * kMultipliers[table], buckets);
    const uint64_t bucket = table * buckets + (Range(UpperHalf(hash), buckets) + shift) % buckets;
    for (uint64_t cell = bucket * cells; cell < (bucket + 1) * cells; ++cell) {
      const uint32_t count = payload.Bits(6, cell * (r + 2), 2);
      if (payload.Bits(6, cell * (r + 2) + 2, r) == remainder && count > 0) return;
    }
  }
}

void Quotient(Watched& payload, uint64_t hash) {
  const uint32_t r = payload.Field<uint8_t>(0);
  const uint64_t y = uint64_t{UpperHalf(hash)} * payload.Field<uint32_t>(1);
  const uint64_t quotient = y >> 32, block_bytes = 18 + 8 * uint64_t{r};
  const uint32_t remainder = static_cast<uint32_t>(y) >> (32 - r);
  const auto ends_of = [&](uint64_t block) { return payload.Bytes(9 + block * block_bytes + 10, 8); };
  const uint64_t block = quotient / 64;
  const uint64_t occupied = payload.Bytes(9 + block * block_bytes + 2, 8);
  if ((occupied >> (quotient % 64) & 1) == 0) return;
  uint64_t runs = static_cast<uint64_t>(std::popcount(occupied << (63 - quotient % 64)));
  uint64_t slot = 64 * block + payload.Bytes(9 + block * block_bytes, 2);
  for (;; ++slot)
    if ((ends_of(slot / 64) >> (slot % 64) & 1) != 0 && --runs == 0) break;
  for (;; --slot) {
    const uint64_t at = 8 * (slot / 64 * block_bytes + 18) + slot % 64 * r;
    if (payload.Bits(9, at, r) == remainder || slot == quotient) return;
    if ((ends_of((slot - 1) / 64) >> ((slot - 1) % 64) & 1) != 0) return;
  }
}

void Cuckoo(Watched& payload, uint64_t hash, size_t from, uint32_t f, uint32_t width, uint32_t buckets) {
  const uint32_t entry = Range(LowerHalf(hash), LowBits(f)) + 1;
  const uint32_t first = Range(UpperHalf(hash), buckets);
  const uint64_t second = (uint64_t{Range(entry * 0x9e3779b1U, buckets)} + buckets - first) % buckets;
  for (const uint64_t bucket : {uint64_t{first}, second})
    for (uint64_t place = 4 * bucket; place < 4 * bucket + 4; ++place)
      if (payload.Bits(from, place * width, f) == entry) return;
}

void BinaryFuse(Watched& payload, uint64_t hash, size_t entry_bytes) {
  const uint32_t length = uint32_t{1} << payload.Field<uint8_t>(0);
  uint64_t x = hash + payload.Field<uint8_t>(1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
  x ^= x >> 33;
  const uint32_t first = Range(UpperHalf(x), payload.Field<uint32_t>(2) * length);
  const uint32_t second = (first + length) ^ (static_cast<uint32_t>(x >> 18) & (length - 1));
  const uint32_t third = (first + 2 * length) ^ (static_cast<uint32_t>(x) & (length - 1));
  for (const size_t place : {first, second, third}) payload.Bytes(6 + place * entry_bytes, entry_bytes);
}

}  // namespace

size_t LinesNeeded(SnapshotFormat format, std::string_view bytes, Fingerprint fingerprint) {
  const uint64_t hash = HashOf(fingerprint);
  Watched payload(bytes);
  switch (format) {
    case SnapshotFormat::kSplitBlockBloom:
      SplitBlock(payload, 0, static_cast<uint32_t>(bytes.size() / 32), fingerprint);
      break;
    case SnapshotFormat::kBloom:
      Bloom(payload, hash, 1);
      break;
    case SnapshotFormat::kCountingBloom:
      Bloom(payload, hash, 4);
      break;
    case SnapshotFormat::kDLeft:
      DLeft(payload, hash);
      break;
    case SnapshotFormat::kQuotient:
      Quotient(payload, hash);
      break;
    case SnapshotFormat::kCuckoo: {
      const uint32_t f = payload.Field<uint8_t>(0);
      Cuckoo(payload, hash, 5, f, f, payload.Field<uint32_t>(1));
      break;
    }
    case SnapshotFormat::kIndexedCuckoo: {
      const uint32_t f = payload.Field<uint8_t>(0);
      const size_t from = 16 + 8 * size_t{payload.Field<uint16_t>(14)};
      Cuckoo(payload, hash, from, f, f + payload.Field<uint8_t>(1), payload.Field<uint32_t>(2));
      break;
    }
    case SnapshotFormat::kBinaryFuse8:
      BinaryFuse(payload, hash, 1);
      break;
    case SnapshotFormat::kBinaryFuse16:
      BinaryFuse(payload, hash, 2);
      break;
    case SnapshotFormat::kDayChain:
      DayChain(payload, fingerprint);
      break;
    case SnapshotFormat::kFingerprints:
      return (bytes.size() + 63) / 64;
    case SnapshotFormat::kAuto:
      break;
  }
  return payload.lines();
}

}  // namespace seen::bench
