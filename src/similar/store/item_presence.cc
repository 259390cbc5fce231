#include "similar/store/item_presence.h"

#include "base/byte_codec.h"
#include "similar/store/item_index_rows.h"
#include "similar/text/hash.h"

namespace seen {

namespace {

constexpr size_t kKeysMin = 32 * 1024;  // of a part
constexpr uint64_t kBandHashes = 0x100;
// A part is larger than the one before by this factor. A large factor means few parts to test, but spare
// room; large parts should have little of that.
constexpr size_t kGrowth = 8, kLargeGrowth = 2;
constexpr size_t kLargeKeys = 4 << 20;

// Its results are stored: never change it.
uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdu;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53u;
  return value ^ value >> 33;
}

constexpr uint64_t kKept = ~uint64_t{0xffff};

using Pair = std::array<size_t, 2>;
constexpr std::array<Pair, ItemPresence::kPairs> kPairsOfTables{Pair{0, 1}, Pair{0, 2}, Pair{0, 3},
                                                                Pair{1, 2}, Pair{1, 3}, Pair{2, 3}};

// For each table: the pairs that include its block, then its halves.
constexpr auto kHashesOfTables = [] {
  std::array<std::array<uint8_t, kSimHashTables - 1 + ItemPresence::kHalves>, kSimHashTables> all{};
  for (size_t table = 0; table < kSimHashTables; ++table) {
    size_t count = 0;
    for (size_t pair = 0; pair < ItemPresence::kPairs; ++pair) {
      const auto [one, other] = kPairsOfTables[pair];
      if (one == table || other == table) all[table][count++] = static_cast<uint8_t>(pair);
    }
    for (size_t i = 0; i < ItemPresence::kHalves; ++i) {
      all[table][count++] = static_cast<uint8_t>(ItemPresence::kPairs + table * ItemPresence::kHalves + i);
    }
  }
  return all;
}();
constexpr auto kHashesOfBands = [] {
  std::array<uint8_t, kBandLists> all{};
  for (size_t band = 0; band < kBandLists; ++band) {
    all[band] = static_cast<uint8_t>(ItemPresence::kNearHashes + band);
  }
  return all;
}();

// The hash that marks one more occurrence of `hash`, after `times` of them. It is in the same cache line.
uint64_t MarkOf(uint64_t hash, unsigned times) {
  constexpr uint64_t kPlace = 0xffff'ffff'0000'0000u;
  return times == 0 ? hash : (hash & kPlace) | (Mix(hash + times) & ~kPlace);
}

}  // namespace

uint64_t ItemPresence::HashOf(std::string_view key) { return TokenHash(key) & kKept; }

ItemPresence::ListHashes ItemPresence::HashesOf(const ItemFeatures& features) {
  const uint64_t of_class = uint64_t{SimHashTableOf(features, 0)} << 40;
  const auto block = [&](size_t table) { return uint64_t{BlockOf(features.simhash, table)}; };
  ListHashes hashes{};
  for (size_t pair = 0; pair < kPairs; ++pair) {
    const auto [one, other] = kPairsOfTables[pair];
    hashes[pair] = Mix(of_class | pair << 32 | block(one) << 16 | block(other));
  }
  for (size_t table = 0; table < kSimHashTables; ++table) {
    const uint64_t next = block((table + 1) % kSimHashTables), after = block((table + 2) % kSimHashTables);
    for (size_t i = 0; i < kHalves; ++i) {
      const uint64_t halves = (i & 1 ? next >> 8 : next & 0xff) << 8 | (i & 2 ? after >> 8 : after & 0xff);
      const size_t place = kPairs + table * kHalves + i;
      hashes[place] = Mix(of_class | place << 32 | block(table) << 16 | halves);
    }
  }
  for (size_t band = 0; band < kBands; ++band) {
    hashes[kNearHashes + band] = Mix(KeptBand(features.bands[band]) | (kBandHashes + band));
  }
  hashes[kNearHashes + kBands] = HashOfBeginning(features.beginning);
  for (uint64_t& hash : hashes) hash &= kKept;
  return hashes;
}

uint64_t ItemPresence::HashOfBeginning(uint64_t beginning) {
  const uint64_t kept = KeptBand(beginning);
  return kept == 0 ? 0 : Mix(kept | (kBandHashes + kBands)) & kKept;
}

std::span<const uint64_t> ItemPresence::Listed(const ListHashes& hashes, bool by_simhash, bool by_minhash) {
  const size_t begin = by_simhash ? 0 : kNearHashes;
  const size_t bands = kBands + (hashes[kNearHashes + kBands] != 0 ? 1 : 0);
  const size_t end = kNearHashes + (by_minhash ? bands : 0);
  return std::span(hashes).subspan(begin, end - begin);
}

std::span<const uint8_t> ItemPresence::HashesOfList(size_t list) {
  if (list < kSimHashTables) return kHashesOfTables[list];
  return {&kHashesOfBands[list - kSimHashTables], 1};
}

// False: the hash passed before, or all hashes pass.
bool ItemPresence::Note(uint64_t hash) {
  if (room_ == 0) {
    if (Test(hash)) return false;
    Grow();
    if (full_) return false;
  }
  for (size_t part = 0; part + 1 < parts_.size(); ++part) {
    if (parts_[part]->Test(hash)) return false;
  }
  if (!parts_.back()->Add(hash)) return false;
  --room_;
  ++keys_;
  return true;
}

void ItemPresence::Grow() {
  size_t wanted = std::max(keys_expected_, kKeysMin);
  if (!parts_.empty()) {
    const size_t had = parts_.back()->keys_max();
    wanted = had * (had < kLargeKeys ? kGrowth : kLargeGrowth);
  }
  const uint64_t left = bytes_max_ - std::min(bytes(), bytes_max_);
  const size_t keys = std::min<size_t>(wanted, left / PresenceBits::kBytesAKey);
  full_ = keys < kKeysMin;
  if (full_) return;
  parts_.push_back(std::make_unique<PresenceBits>(keys));
  room_ = parts_.back()->keys_max();
}

void ItemPresence::AddListed(uint64_t hash) {
  for (unsigned times = 0; times < kCountMax && !full_; ++times) {
    if (Note(MarkOf(hash, times))) return;
  }
}

unsigned ItemPresence::Count(uint64_t hash) const {
  unsigned times = 0;
  while (times < kCountMax && Test(MarkOf(hash, times))) ++times;
  return times;
}

uint64_t ItemPresence::bytes() const {
  uint64_t bytes = 0;
  for (const auto& part : parts_) bytes += part->bytes();
  return bytes;
}

namespace {

constexpr uint8_t kPresenceVersion = 1;
constexpr size_t kHashBytes = 6;
constexpr size_t kRowHashes = 64 * 1024;
constexpr size_t kHeadBytes = 1 + sizeof(uint32_t);

void PutHash(uint64_t hash, std::string& out) {
  PutLittleEndian(static_cast<uint16_t>(hash >> 16), out);
  PutLittleEndian(static_cast<uint32_t>(hash >> 32), out);
}

std::string EncodeRow(std::span<const uint64_t> keys, std::span<const uint64_t> listed) {
  std::string row;
  row.reserve(kHeadBytes + (keys.size() + listed.size()) * kHashBytes);
  PutLittleEndian(kPresenceVersion, row);
  PutLittleEndian(static_cast<uint32_t>(keys.size()), row);
  for (const uint64_t hash : keys) PutHash(hash, row);
  for (const uint64_t hash : listed) PutHash(hash, row);
  return row;
}

}  // namespace

std::vector<std::string> EncodePresence(const PresenceHashes& hashes) {
  std::vector<std::string> rows;
  std::span<const uint64_t> keys(hashes.keys), listed(hashes.listed);
  while (!keys.empty() || !listed.empty()) {
    const auto first_keys = keys.first(std::min(keys.size(), kRowHashes));
    const auto first_listed = listed.first(std::min(listed.size(), kRowHashes - first_keys.size()));
    rows.push_back(EncodeRow(first_keys, first_listed));
    keys = keys.subspan(first_keys.size());
    listed = listed.subspan(first_listed.size());
  }
  return rows;
}

bool AddPresence(std::string_view row, ItemPresence& presence) {
  FieldReader fields(row);
  if (fields.Get<uint8_t>() != kPresenceVersion) return false;
  const auto keys = fields.Get<uint32_t>();
  if (!fields.ok() || (row.size() - kHeadBytes) % kHashBytes != 0) return false;
  const size_t count = (row.size() - kHeadBytes) / kHashBytes;
  if (keys > count) return false;
  // Each hash is in another cache line: prefetch it while the hashes before it are added.
  constexpr size_t kAhead = 16;
  std::array<uint64_t, kAhead> ahead;
  for (size_t i = 0; i < count + kAhead; ++i) {
    uint64_t& hash = ahead[i % kAhead];
    if (i >= kAhead && i - kAhead < keys) {
      presence.Add(hash);
    } else if (i >= kAhead) {
      presence.AddListed(hash);
    }
    if (i >= count) continue;
    hash = static_cast<uint64_t>(fields.Get<uint16_t>()) << 16;
    hash |= static_cast<uint64_t>(fields.Get<uint32_t>()) << 32;
    presence.Prefetch(hash);
  }
  return fields.Complete();
}

}  // namespace seen
