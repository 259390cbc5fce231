#pragma once
// Writers of all kinds of snapshots, from schemas/snapshot.md, as short as they can be: no thought of size or
// speed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "seen/snapshot.h"

namespace seen::client::test {

struct Header {
  std::uint32_t item_count = 0;
  std::int64_t as_of_ms = 1763700000123;
  std::int32_t horizon_day = 20383;
  std::int32_t partition = 3;
  std::int64_t input_offset = 123456789;
  double false_positive_rate = 0.01;
};

/// Bits from the least significant one of each byte on.
class BitString {
 public:
  explicit BitString(std::size_t bits = 0) : bytes_((bits + 7) / 8, '\0'), bits_(bits) {}
  void Append(std::uint64_t value, unsigned width);
  void Set(std::size_t at, std::uint64_t value, unsigned width);
  std::uint64_t Get(std::size_t at, unsigned width) const;
  const std::string& bytes() const { return bytes_; }
  std::size_t bits() const { return bits_; }

 private:
  std::string bytes_;
  std::size_t bits_;
};

template <typename T>
void Put(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  }
}

/// With the checksum put right.
std::string Signed(std::string bytes);
std::string Envelope(Format format, std::string_view payload, const Header& header = {});

struct DayOfItems {
  std::int32_t day;
  std::uint32_t first_second;
  std::uint32_t last_second;
  std::vector<Fingerprint> items;
};

using Items = std::vector<Fingerprint>;  // unique
std::string SplitBlockBloomPayload(const Items& items, std::uint32_t blocks);
std::string BloomPayload(const Items& items, unsigned k, std::size_t bytes);
std::string CountingBloomPayload(const Items& items, unsigned k, std::size_t bytes);
std::string DLeftPayload(const Items& items, unsigned remainder_bits, unsigned cells);
std::string QuotientPayload(const Items& items, unsigned remainder_bits, std::uint32_t quotients);
std::string CuckooPayload(const Items& items, unsigned entry_bits);
/// `days` ascending; item numbers start at `first_number`; at most `capacity` of the newest count.
std::string IndexedCuckooPayload(std::vector<DayOfItems> days, unsigned entry_bits, unsigned number_bits,
                                 std::uint32_t first_number, std::uint32_t capacity);
std::string BinaryFusePayload(const Items& items, unsigned bytes);
std::string DayChainPayload(const std::vector<DayOfItems>& days, std::uint32_t blocks);
std::string FingerprintsPayload(Items items, unsigned k);

/// With what is similar: `payload` of `similar_format` at the end.
std::string WithSimilar(std::string snapshot, Format similar_format, std::string_view payload);

/// A snapshot of each kind that holds `items`, with ordinary parameters.
std::string SnapshotOf(Format format, const Items& items);

inline constexpr int kFormats = 11;
inline Format FormatOf(int number) { return static_cast<Format>(number); }

/// Fingerprints of `prefix`0, `prefix`1 and so on, each once.
Items Numbered(std::string_view prefix, int count);

}  // namespace seen::client::test
