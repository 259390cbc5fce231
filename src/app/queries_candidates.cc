#include "app/queries_candidates.h"

#include <bit>

namespace seen {

void IdSet::Reset(size_t count_max) {
  const size_t cells = std::bit_ceil(count_max * 2 + 2);
  cells_.assign(cells, 0);
  shift_ = 32 - static_cast<uint32_t>(std::countr_zero(cells));
  ids_.clear();
}

bool IdSet::Insert(std::string_view id, Fingerprint fingerprint) {
  const size_t mask = cells_.size() - 1;
  size_t at = (fingerprint.value * 0x9e3779b1u) >> shift_;
  for (; cells_[at] != 0; at = (at + 1) & mask) {
    const uint64_t there = cells_[at];
    if (there >> 32 == fingerprint.value && ids_[(there & UINT32_MAX) - 1] == id) return false;
  }
  ids_.push_back(id);
  cells_[at] = uint64_t{fingerprint.value} << 32 | ids_.size();
  return true;
}

void Candidates::Unseen(std::span<const std::string_view> items, std::span<const std::string_view> also_seen,
                        FingerprintSet& seen, std::vector<uint32_t>& out) {
  fingerprints_.resize(items.size());
  answers_.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) fingerprints_[i] = FingerprintOf(items[i]);
  seen.ContainsEach(fingerprints_, answers_);
  // Those given twice and those seen elsewhere are told by id, not by fingerprint: they cost no false
  // positive. But only of ids whose fingerprint may come twice has it to be looked at.
  met_.Reset(items.size() + also_seen.size());
  for (const std::string_view id : also_seen) met_.Add(FingerprintOf(id));
  twice_.clear();
  out.resize(items.size());
  size_t unseen = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    out[unseen] = static_cast<uint32_t>(i);
    unseen += static_cast<size_t>(answers_[i] == 0);
  }
  out.resize(unseen);
  for (const uint32_t i : out) {
    if (met_.Add(fingerprints_[i])) twice_.push_back(fingerprints_[i]);
  }
  if (!twice_.empty()) DropRepeated(items, also_seen, out);
}

void Candidates::DropRepeated(std::span<const std::string_view> items,
                              std::span<const std::string_view> also_seen, std::vector<uint32_t>& out) {
  met_.Reset(twice_.size());
  for (const Fingerprint fingerprint : twice_) met_.Add(fingerprint);
  ids_.Reset(also_seen.size() + out.size());
  for (const std::string_view id : also_seen) ids_.Insert(id, FingerprintOf(id));
  std::erase_if(out, [&](uint32_t i) {
    return met_.Test(fingerprints_[i]) && !ids_.Insert(items[i], fingerprints_[i]);
  });
}

}  // namespace seen
