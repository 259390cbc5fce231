#pragma once
// What `unseen` answers, from the candidates and what the user has seen.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/delta_seen.h"
#include "serve/query_port.h"

namespace seen {

/// Ids, each once. Told apart by themselves, found by their fingerprints. Keeps its memory.
class IdSet {
 public:
  void Reset(size_t count_max);
  /// False: it was there.
  bool Insert(std::string_view id, Fingerprint fingerprint);
  bool Contains(std::string_view id, Fingerprint fingerprint) const {
    return cells_[CellOf(id, fingerprint)] != 0;
  }

 private:
  // Where it is, or where it would be.
  size_t CellOf(std::string_view id, Fingerprint fingerprint) const;

  std::vector<uint64_t> cells_;  // upper half: fingerprint; lower: number in ids_, from 1. 0: free
  std::vector<std::string_view> ids_;
  uint32_t shift_ = 0;
};

/// One a thread: it keeps its memory.
class Candidates {
 public:
  /// The places, ascending, of the candidates that `reader` hasn't seen, that aren't in `also_seen`, nor
  /// there before, into `out`.
  void Unseen(const CandidateList& candidates, std::span<const std::string_view> also_seen,
              SeenReader& reader, std::vector<uint32_t>& out);
  /// Of the candidates last asked for, by place.
  std::span<const Fingerprint> fingerprints() const { return fingerprints_; }

 private:
  void AskAgain(const CandidateList& candidates, SeenReader& reader);
  void DropRepeated(std::span<const std::string_view> ids, std::span<const std::string_view> also_seen,
                    std::vector<uint32_t>& out);

  std::vector<Fingerprint> fingerprints_;  // of the candidates
  std::vector<uint8_t> answers_;           // 1: seen
  FingerprintBits earlier_;
  std::vector<Fingerprint> twice_;
  IdSet ids_;
};

}  // namespace seen
