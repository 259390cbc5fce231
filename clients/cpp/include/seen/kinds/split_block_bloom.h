#pragma once
// Kind 1: Parquet's split-block Bloom filter. Source: Parquet format, BloomFilter.md; Putze, Sanders, Singler
// 2007.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/result.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define SEEN_CLIENT_AVX2 1
#include <immintrin.h>
#else
#define SEEN_CLIENT_AVX2 0
#endif

namespace seen::client {

/// A view over blocks of 32 bytes, which must outlive it. Any thread.
class SplitBlockBloom {
 public:
  static constexpr std::size_t kBlockBytes = 32;

  static Parsed<SplitBlockBloom> Parse(std::string_view payload) {
    if (payload.empty() || payload.size() % kBlockBytes != 0 || payload.size() / kBlockBytes > 0xffffffffU) {
      return internal::OutOfRange("split_block_bloom", "payload_bytes", payload.size(),
                                  "a multiple of 32 above 0, below 2^37");
    }
    return SplitBlockBloom(payload);
  }

  bool MightContain(Fingerprint, std::uint64_t hash) const {
#if SEEN_CLIENT_AVX2
    if (HasAvx2()) return TestAvx2(BlockOf(hash), hash);
#endif
    return TestPortable(BlockOf(hash), hash);
  }

  /// `answers[i]` is 1 if `fingerprints[i]` may be in, else 0.
  void MightContainEach(const Fingerprint* fingerprints, std::size_t count, std::uint8_t* answers) const {
#if SEEN_CLIENT_AVX2
    if (HasAvx2()) return TestEachAvx2(fingerprints, count, answers);
#endif
    TestEachPortable(fingerprints, count, answers);
  }

  /// The same without the processor's vectors, for tests.
  void TestEachPortable(const Fingerprint* fingerprints, std::size_t count, std::uint8_t* answers) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t hash = internal::HashOf(fingerprints[i]);
      answers[i] = TestPortable(BlockOf(hash), hash);
    }
  }

 private:
  friend class DayChain;

  explicit SplitBlockBloom(std::string_view payload)
      : blocks_(payload.data()), count_(static_cast<std::uint32_t>(payload.size() / kBlockBytes)) {}

  const char* BlockOf(std::uint64_t hash) const {
    return blocks_ + std::size_t{internal::Range(internal::High(hash), count_)} * kBlockBytes;
  }

  static bool TestPortable(const char* block, std::uint64_t hash) {
    std::uint32_t missing = 0;
    for (std::size_t i = 0; i < kSalts.size(); ++i) {
      const std::uint32_t mask = std::uint32_t{1} << ((internal::Low(hash) * kSalts[i]) >> 27);
      missing |= mask & ~internal::LoadU32(block + 4 * i);
    }
    return missing == 0;
  }

#if SEEN_CLIENT_AVX2
  // Compiled for AVX2 one by one, so that a program built for any x86-64 has them and runs without.
  __attribute__((target("avx2"))) static bool TestAvx2(const char* block, std::uint64_t hash) {
    const __m256i salts = _mm256_load_si256(reinterpret_cast<const __m256i*>(kSalts.data()));
    const __m256i keys = _mm256_set1_epi32(static_cast<int>(internal::Low(hash)));
    const __m256i bits = _mm256_srli_epi32(_mm256_mullo_epi32(keys, salts), 27);
    const __m256i masks = _mm256_sllv_epi32(_mm256_set1_epi32(1), bits);
    return _mm256_testc_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block)), masks) != 0;
  }

  __attribute__((target("avx2"))) void TestEachAvx2(const Fingerprint* fingerprints, std::size_t count,
                                                    std::uint8_t* answers) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t hash = internal::HashOf(fingerprints[i]);
      answers[i] = TestAvx2(BlockOf(hash), hash);
    }
  }

  static bool HasAvx2() {
#if defined(__AVX2__)
    return true;
#else
    return has_avx2_;
#endif
  }
  // Before it is set at the program's start it reads as false, which is right too.
  inline static const bool has_avx2_ = __builtin_cpu_supports("avx2") != 0;
#endif

  alignas(32) static constexpr std::array<std::uint32_t, 8> kSalts = {
      0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU, 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

  const char* blocks_;
  std::uint32_t count_;
};

}  // namespace seen::client
