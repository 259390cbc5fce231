#pragma once
// Computes what `unseen` answers, from the candidates and what the user has seen.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/delta_seen.h"
#include "query/query_port.h"

namespace seen {

/// A set of ids, found by their fingerprints and compared as ids. Keeps its memory.
class IdSet {
 public:
  void Reset(size_t count_max);
  /// False: the id was there.
  bool Insert(std::string_view id, Fingerprint fingerprint);
  bool Contains(std::string_view id, Fingerprint fingerprint) const {
    return cells_[CellOf(id, fingerprint)] != 0;
  }

 private:
  // The cell of the id, or the free cell where it would be.
  size_t CellOf(std::string_view id, Fingerprint fingerprint) const;

  std::vector<uint64_t> cells_;  // upper half: fingerprint; lower: number in ids_, from 1. 0: free
  std::vector<std::string_view> ids_;
  uint32_t shift_ = 0;
};

/// Keep one a thread: it reuses its memory.
class Candidates {
 public:
  /// Puts places of candidates into `out`, ascending: those that `reader` hasn't seen, that aren't in
  /// `also_seen`, and that don't stand earlier in the list.
  void Unseen(const CandidateList& candidates, std::span<const std::string_view> also_seen,
              SeenReader& reader, std::vector<uint32_t>& out);
  /// The fingerprints of the last candidates, by place.
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
