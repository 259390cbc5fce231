#pragma once
// Digests of seen sets. Equal sets have equal digests, whatever order, partition or file their parts came in.
//
// A digest is the sum of a hash of each element, as a number of 128 bits. An element is an item with its
// user, filter, kind and bucket; a bucket's first and last second; a removal; or an erasure. Elements that a
// stated horizon drops don't count. So it doesn't matter what compactions have dropped already.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/delta.h"
#include "model/hashes.h"
#include "model/horizon.h"

namespace seen {

/// XXH3-128. Files and elements of sets are compared by it.
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

/// XXH3-128 of bytes that come in pieces. One thread at a time.
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

/// The digest of one filter's sets.
struct SetDigest {
  Hash128 digest;      // of all users whose id is known, without segments of kind 5
  Hash128 without_id;  // of the other users, who have only removals or an erasure left. A state that was
                       // resharded has these in each partition
  Hash128 similar;     // of segments of kind 5, which also depend on when the groups of items became known
  uint64_t users = 0;
  uint64_t users_without_id = 0;
  uint64_t items = 0;     // by day and kind, without kind 5
  uint64_t removals = 0;  // and erasures
  SetDigest& operator+=(const SetDigest& other);
  friend bool operator==(const SetDigest&, const SetDigest&) = default;
};

/// Computes one filter's digest. Numbers differ between stores, so the names of the filter and of declared
/// kinds are hashed. One thread.
class SetDigester {
 public:
  /// `declared`: names of kinds, by number - 16. The grace of `horizon` (`whole`) doesn't count.
  SetDigester(std::string_view filter, const std::array<std::string, kDeclaredKindsMax>& declared,
              const Horizon& horizon);

  /// Adds the set of one user. Add each user once. kCorrupt: the bytes are no encoded delta.
  Status Add(const UserKey& user, std::string_view encoded_delta);
  const SetDigest& sum() const { return sum_; }

 private:
  struct Element;
  Element ElementOf(const UserKey& user) const;
  bool AddSegments(const UserKey& user, const Delta& delta);
  bool AddOthers(const UserKey& user, const Delta& delta);
  bool AddTakenBack(const UserKey& user, const Delta& delta, Hash128& sum);

  const Hash128 filter_;
  std::array<uint64_t, kDeclaredKindsMax> declared_{};
  const Horizon horizon_;
  SetDigest sum_;
};

}  // namespace seen
