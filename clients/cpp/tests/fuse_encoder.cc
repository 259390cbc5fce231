#include <algorithm>

#include "encoders.h"

namespace seen::client::test {
namespace {

struct FusePlaces {
  std::uint64_t x;
  std::size_t at[3];
};

std::uint64_t Range(std::uint64_t x, std::uint64_t n) { return (x * n) >> 32; }

FusePlaces FusePlacesOf(Fingerprint item, std::uint8_t seed, std::uint64_t segments, std::uint64_t length) {
  std::uint64_t x = internal::HashOf(item) + seed * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
  x ^= x >> 33;
  const std::uint64_t first = Range(x >> 32, segments * length);
  return {x, {first, (first + length) ^ (x >> 18 & (length - 1)), (first + 2 * length) ^ (x & (length - 1))}};
}

/// The order in which items can be put in, each with a place that no later one has; empty: there is none.
std::vector<std::pair<FusePlaces, std::size_t>> Peeled(std::vector<FusePlaces> left, std::size_t entries) {
  std::vector<std::pair<FusePlaces, std::size_t>> order;
  for (bool found = true; found && !left.empty();) {
    std::vector<int> uses(entries);
    for (const FusePlaces& item : left) {
      for (const std::size_t at : item.at) ++uses[at];
    }
    std::vector<FusePlaces> later;
    for (const FusePlaces& item : left) {
      const auto* alone = std::find_if(item.at, item.at + 3, [&](std::size_t at) { return uses[at] == 1; });
      if (alone == item.at + 3) {
        later.push_back(item);
      } else {
        order.emplace_back(item, *alone);
      }
    }
    found = later.size() < left.size();
    left = std::move(later);
  }
  if (!left.empty()) order.clear();
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

std::string BinaryFusePayload(const Items& items, unsigned bytes) {
  const unsigned length_log2 = items.size() < 100 ? 2 : 5;
  const std::uint64_t length = 1U << length_log2;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto seed = static_cast<std::uint8_t>(attempt);
    const auto segments =
        static_cast<std::uint32_t>(items.empty() ? 0 : items.size() * (6 + attempt / 8) / 5 / length + 1);
    std::string payload{static_cast<char>(length_log2), static_cast<char>(seed)};
    Put(payload, segments);
    if (segments == 0) return payload;
    std::vector<FusePlaces> places;
    for (const Fingerprint item : items) places.push_back(FusePlacesOf(item, seed, segments, length));
    const auto order = Peeled(places, (segments + 2) * length);
    if (order.empty()) continue;
    std::vector<std::uint64_t> entries((segments + 2) * length);
    for (const auto& [item, alone] : order) {
      entries[alone] = 0;
      entries[alone] =
          (item.x ^ item.x >> 32 ^ entries[item.at[0]] ^ entries[item.at[1]] ^ entries[item.at[2]]) &
          ((1U << 8 * bytes) - 1);
    }
    BitString bits;
    for (const std::uint64_t entry : entries) bits.Append(entry, 8 * bytes);
    return payload + bits.bytes();
  }
}

}  // namespace seen::client::test
