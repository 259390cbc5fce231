#include "store/item_presence.h"

#include <algorithm>
#include <functional>

#include "store/item_index_keys.h"

namespace seen {
namespace {

constexpr size_t kKeysMin = 32 * 1024;  // of a part
constexpr size_t kGrowth = 4;           // few parts to look at, at the price of room that is spare

uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdu;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53u;
  return value ^ value >> 33;
}

}  // namespace

uint64_t ItemPresence::HashOf(std::string_view key) { return Mix(std::hash<std::string_view>{}(key)); }

std::array<uint64_t, ItemPresence::kParts> ItemPresence::NearHashesOf(const ItemFeatures& features,
                                                                      size_t table) {
  constexpr unsigned kPartBits = 48 / kParts;
  const uint64_t list = uint64_t{SimHashTableOf(features, table)} << 16 | BlockOf(features.simhash, table);
  const uint64_t rest = RestOf(features.simhash, table);
  std::array<uint64_t, kParts> hashes;
  for (size_t part = 0; part < kParts; ++part) {
    const uint64_t bits = rest >> (kPartBits * part) & ((1u << kPartBits) - 1);
    hashes[part] = Mix(list << 16 | part << kPartBits | bits);
  }
  return hashes;
}

void ItemPresence::Add(uint64_t hash) {
  if (full_ || Test(hash)) return;
  if (room_ == 0) {
    const size_t wanted =
        parts_.empty() ? std::max(keys_expected_, kKeysMin) : parts_.back()->keys_max() * kGrowth;
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

void ItemPresence::AddSimHash(const ItemFeatures& features) {
  for (size_t table = 0; table < kSimHashTables; ++table) {
    for (const uint64_t hash : NearHashesOf(features, table)) Add(hash);
  }
}

uint64_t ItemPresence::bytes() const {
  uint64_t bytes = 0;
  for (const auto& part : parts_) bytes += part->bytes();
  return bytes;
}

}  // namespace seen
