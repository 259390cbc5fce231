#pragma once
// XXH3-128 of bytes that come in pieces. Files and elements of sets are compared by it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace seen {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  /// Adds as one number of 128 bits, which wraps. So the order of additions doesn't matter.
  Hash128& operator+=(const Hash128& other) {
    const uint64_t sum = low + other.low;
    high += other.high + (sum < low ? 1 : 0);
    low = sum;
    return *this;
  }
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// Seed 0.
Hash128 HashOf(std::string_view bytes);

/// 32 digits, lower case.
std::string ToHex(const Hash128& hash);
/// nullopt for anything ToHex doesn't return.
std::optional<Hash128> HashFromHex(std::string_view text);

/// One thread at a time.
class ByteHash {
 public:
  ByteHash();
  ~ByteHash();
  ByteHash(const ByteHash&) = delete;
  ByteHash& operator=(const ByteHash&) = delete;

  void Add(std::string_view bytes);
  /// The hash of all bytes added so far.
  Hash128 Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace seen
