#pragma once
// What `unseen` answers, from a question's items and what the user has seen.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/delta_seen.h"

namespace seen {

/// Ids, each once. Told apart by themselves, found by their fingerprints. Keeps its memory.
class IdSet {
 public:
  void Reset(size_t count_max);
  /// False: it was there.
  bool Insert(std::string_view id, Fingerprint fingerprint);

 private:
  std::vector<uint64_t> cells_;  // upper half: fingerprint; lower: number in ids_, from 1. 0: free
  std::vector<std::string_view> ids_;
  uint32_t shift_ = 0;
};

/// One a thread: it keeps its memory.
class Candidates {
 public:
  /// The places, ascending, of the items that aren't in `seen`, nor in `also_seen`, nor there before, into
  /// `out`.
  void Unseen(std::span<const std::string_view> items, std::span<const std::string_view> also_seen,
              FingerprintSet& seen, std::vector<uint32_t>& out);

 private:
  void DropRepeated(std::span<const std::string_view> items, std::span<const std::string_view> also_seen,
                    std::vector<uint32_t>& out);

  std::vector<Fingerprint> fingerprints_;  // of the items
  std::vector<uint8_t> answers_;           // 1: seen
  FingerprintBits met_;
  std::vector<Fingerprint> twice_;
  IdSet ids_;
};

}  // namespace seen
