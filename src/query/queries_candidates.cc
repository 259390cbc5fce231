#include "query/queries_candidates.h"

#include <bit>

namespace seen {

void IdSet::Reset(size_t count_max) {
  const size_t cells = std::bit_ceil(count_max * 2 + 2);
  cells_.assign(cells, 0);
  shift_ = 32 - static_cast<uint32_t>(std::countr_zero(cells));
  ids_.clear();
}

size_t IdSet::CellOf(std::string_view id, Fingerprint fingerprint) const {
  const size_t mask = cells_.size() - 1;
  size_t at = (fingerprint.value * 0x9e3779b1u) >> shift_;
  for (; cells_[at] != 0; at = (at + 1) & mask) {
    const uint64_t there = cells_[at];
    if (there >> 32 == fingerprint.value && ids_[(there & UINT32_MAX) - 1] == id) break;
  }
  return at;
}

bool IdSet::Insert(std::string_view id, Fingerprint fingerprint) {
  uint64_t& cell = cells_[CellOf(id, fingerprint)];
  if (cell != 0) return false;
  ids_.push_back(id);
  cell = uint64_t{fingerprint.value} << 32 | ids_.size();
  return true;
}

void Candidates::Unseen(const CandidateList& candidates, std::span<const std::string_view> also_seen,
                        SeenReader& reader, std::vector<uint32_t>& out) {
  const std::span<const std::string_view> items = candidates.ids;
  fingerprints_.resize(items.size());
  answers_.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) fingerprints_[i] = FingerprintOf(items[i]);
  reader.seen().ContainsEach(fingerprints_, answers_);
  if (!candidates.created_seconds.empty()) AskAgain(candidates, reader);
  // Ids, not fingerprints, say which candidates are given twice or were seen elsewhere, so these cost no
  // false positive. Only ids whose fingerprint may occur twice are compared.
  earlier_.Reset(items.size() + also_seen.size());
  for (const std::string_view id : also_seen) earlier_.Add(FingerprintOf(id));
  twice_.clear();
  out.resize(items.size());
  size_t unseen = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    out[unseen] = static_cast<uint32_t>(i);
    unseen += static_cast<size_t>(answers_[i] == 0);
  }
  out.resize(unseen);
  for (const uint32_t i : out) {
    if (earlier_.Add(fingerprints_[i])) twice_.push_back(fingerprints_[i]);
  }
  if (!twice_.empty()) DropRepeated(items, also_seen, out);
}

// Clears candidates that were seen only before they were created: their fingerprint is another item's.
void Candidates::AskAgain(const CandidateList& candidates, SeenReader& reader) {
  size_t cleared = 0;
  for (size_t i = 0; i < answers_.size(); ++i) {
    const uint32_t created = candidates.created_seconds[i];
    if (answers_[i] == 0 || created == 0 || reader.Holds(fingerprints_[i], created)) continue;
    if (cleared++ == 0) ids_.Reset(answers_.size() - i);
    ids_.Insert(candidates.ids[i], fingerprints_[i]);
  }
  // An id is one item, also if it is given elsewhere without its time.
  for (size_t i = 0; cleared > 0 && i < answers_.size(); ++i) {
    if (answers_[i] != 0 && ids_.Contains(candidates.ids[i], fingerprints_[i])) answers_[i] = 0;
  }
}

void Candidates::DropRepeated(std::span<const std::string_view> ids,
                              std::span<const std::string_view> also_seen, std::vector<uint32_t>& out) {
  earlier_.Reset(twice_.size());
  for (const Fingerprint fingerprint : twice_) earlier_.Add(fingerprint);
  ids_.Reset(also_seen.size() + out.size());
  for (const std::string_view id : also_seen) ids_.Insert(id, FingerprintOf(id));
  std::erase_if(out, [&](uint32_t i) {
    return earlier_.Test(fingerprints_[i]) && !ids_.Insert(ids[i], fingerprints_[i]);
  });
}

}  // namespace seen
