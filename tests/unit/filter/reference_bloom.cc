#include "unit/filter/reference_bloom.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace seen::reference {
namespace {

constexpr uint32_t kSalts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/// Calls `visit(byte, bit)` for the eight bits of a fingerprint.
template <typename Visit>
void ForEachBit(uint64_t blocks, Fingerprint fingerprint, Visit visit) {
  const uint64_t hash = seen::reference::HashOf(fingerprint);
  const uint64_t block = (hash >> 32) * blocks >> 32;
  for (size_t word = 0; word < 8; ++word) {
    const uint32_t bit = (static_cast<uint32_t>(hash) * kSalts[word]) >> 27;
    visit(block * 32 + word * 4 + bit / 8, bit % 8);
  }
}

}  // namespace

uint64_t Xxh64(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

uint64_t HashOf(Fingerprint fingerprint) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(fingerprint.value >> shift);
  return Xxh64(bytes);
}

std::string Blocks(std::span<const Fingerprint> fingerprints, uint32_t blocks) {
  std::string bytes(size_t{blocks} * 32, '\0');
  for (const Fingerprint fingerprint : fingerprints) {
    ForEachBit(blocks, fingerprint, [&](size_t byte, uint32_t bit) {
      bytes[byte] = static_cast<char>(static_cast<uint8_t>(bytes[byte]) | 1U << bit);
    });
  }
  return bytes;
}

bool MightContain(std::string_view blocks, Fingerprint fingerprint) {
  bool all = true;
  ForEachBit(blocks.size() / 32, fingerprint, [&](size_t byte, uint32_t bit) {
    all = all && (static_cast<uint8_t>(blocks[byte]) >> bit & 1) != 0;
  });
  return all;
}

double FalsePositiveRate(size_t count, uint32_t blocks) {
  const auto n = static_cast<long double>(count);
  const long double p = 1.0L / blocks;
  long double sum = 0;
  for (size_t load = 1; load <= count; ++load) {
    const auto j = static_cast<long double>(load);
    long double log_share =
        std::lgamma(n + 1) - std::lgamma(j + 1) - std::lgamma(n - j + 1) + j * std::log(p);
    if (load < count) log_share += (n - j) * std::log1p(-p);  // with one block: log of zero, times n - j
    sum += std::exp(log_share) * std::pow(1 - std::pow(31.0L / 32, j), 8.0L);
  }
  return static_cast<double>(sum);
}

uint32_t Checksum(std::string_view snapshot) {
  return static_cast<uint32_t>(Xxh64(std::string(snapshot.substr(0, 52)).append(snapshot.substr(56))));
}

std::vector<Fingerprint> RandomFingerprints(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Fingerprint> fingerprints;
  while (fingerprints.size() < count) {
    while (fingerprints.size() < count) fingerprints.push_back({static_cast<uint32_t>(random())});
    std::sort(fingerprints.begin(), fingerprints.end());
    fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
  }
  return fingerprints;
}

}  // namespace seen::reference
