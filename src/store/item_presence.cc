#include "store/item_presence.h"

#include <algorithm>
#include <functional>

#include "store/item_index_keys.h"

namespace seen {
namespace {

constexpr size_t kKeysMin = 32 * 1024;  // of a part
constexpr uint64_t kBandHashes = 0x100;
// Few parts to look at, at the price of room that is spare; of which large ones shall not have much.
constexpr size_t kGrowth = 8, kLargeGrowth = 2;
constexpr size_t kLargeKeys = 4 << 20;

uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdu;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53u;
  return value ^ value >> 33;
}

// Of a hash that is there already, what says that it is so again: in the same cache line.
uint64_t MarkOf(uint64_t hash, unsigned times) {
  constexpr uint64_t kPlace = 0xffff'ffff'0000'0000u;
  return times == 0 ? hash : (hash & kPlace) | (Mix(hash + times) & ~kPlace);
}

}  // namespace

uint64_t ItemPresence::HashOf(std::string_view key) { return Mix(std::hash<std::string_view>{}(key)); }

ItemPresence::ListHashes ItemPresence::HashesOf(const ItemFeatures& features) {
  constexpr unsigned kPartBits = 48 / kParts;
  ListHashes hashes;
  for (size_t table = 0; table < kSimHashTables; ++table) {
    const uint64_t list = uint64_t{SimHashTableOf(features, table)} << 16 | BlockOf(features.simhash, table);
    const uint64_t rest = RestOf(features.simhash, table);
    for (size_t part = 0; part < kParts; ++part) {
      const uint64_t bits = rest >> (kPartBits * part) & ((1u << kPartBits) - 1);
      hashes[table * kParts + part] = Mix(list << 16 | part << kPartBits | bits);
    }
  }
  for (size_t band = 0; band < kBands; ++band) {
    hashes[kNearHashes + band] = Mix(KeptBand(features.bands[band]) | (kBandHashes + band));
  }
  return hashes;
}

void ItemPresence::Note(uint64_t hash) {
  if (room_ == 0) {
    size_t wanted = std::max(keys_expected_, kKeysMin);
    if (!parts_.empty()) {
      const size_t had = parts_.back()->keys_max();
      wanted = had * (had < kLargeKeys ? kGrowth : kLargeGrowth);
    }
    const uint64_t left = bytes_max_ - std::min(bytes(), bytes_max_);
    const size_t keys = std::min<size_t>(wanted, left / PresenceBits::kBytesAKey);
    if (keys < kKeysMin) {
      full_ = true;
      return;
    }
    parts_.push_back(std::make_unique<PresenceBits>(keys));
    room_ = parts_.back()->keys_max();
  }
  parts_.back()->Add(hash);
  --room_;
  ++keys_;
}

void ItemPresence::AddListed(const ItemFeatures& features, bool by_simhash, bool by_minhash) {
  const ListHashes hashes = HashesOf(features);
  const size_t begin = by_simhash ? 0 : kNearHashes;
  const size_t end = by_minhash ? hashes.size() : kNearHashes;
  for (size_t i = begin; i < end; ++i) AddOneMore(hashes[i]);
}

void ItemPresence::AddOneMore(uint64_t hash) {
  for (unsigned times = 0; times < kCountMax && !full_; ++times) {
    const uint64_t mark = MarkOf(hash, times);
    if (Test(mark)) continue;
    Note(mark);
    return;
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

}  // namespace seen
