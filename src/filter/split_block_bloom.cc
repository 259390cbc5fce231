#include "filter/split_block_bloom.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "filter/bits.h"
#include "filter/size_memo.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define SEEN_AVX2 1
#else
#define SEEN_AVX2 0
#endif

namespace seen::split_block_bloom {
namespace {

// Parquet's constants; odd, so that a product's upper five bits depend on all of the key.
alignas(32) constexpr std::array<uint32_t, 8> kSalts = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                                        0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

/// Where the block of `hash` starts among `blocks`, in bytes.
inline size_t OffsetOf(uint64_t hash, uint64_t blocks) { return ((hash >> 32) * blocks >> 32) * kBlockBytes; }

inline uint32_t MaskOf(uint64_t hash, size_t word) {
  return uint32_t{1} << ((static_cast<uint32_t>(hash) * kSalts[word]) >> 27);
}

struct Portable {
  static void Set(char* block, uint64_t hash) {
    std::array<uint32_t, 8> words;
    std::memcpy(words.data(), block, kBlockBytes);
    for (size_t i = 0; i < words.size(); ++i) words[i] |= LittleEndian(MaskOf(hash, i));
    std::memcpy(block, words.data(), kBlockBytes);
  }
  static bool Test(const char* block, uint64_t hash) {
    std::array<uint32_t, 8> words;
    std::memcpy(words.data(), block, kBlockBytes);
    uint32_t missing = 0;
    for (size_t i = 0; i < words.size(); ++i) missing |= LittleEndian(MaskOf(hash, i)) & ~words[i];
    return missing == 0;
  }
};

void InsertPortable(std::span<const Fingerprint> fingerprints, char* bytes, uint64_t blocks) {
  for (const Fingerprint fingerprint : fingerprints) {
    const uint64_t hash = HashOf(fingerprint);
    Portable::Set(bytes + OffsetOf(hash, blocks), hash);
  }
}

void TestPortable(const char* bytes, uint64_t blocks, std::span<const Fingerprint> fingerprints,
                  uint8_t* answers) {
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    const uint64_t hash = HashOf(fingerprints[i]);
    answers[i] = Portable::Test(bytes + OffsetOf(hash, blocks), hash);
  }
}

#if SEEN_AVX2
// Only these functions are compiled for AVX2, so the program also starts on a processor without it.
__attribute__((target("avx2"))) inline __m256i MasksAvx2(uint64_t hash) {
  const __m256i salts = _mm256_load_si256(reinterpret_cast<const __m256i*>(kSalts.data()));
  const __m256i keys = _mm256_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash)));
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(_mm256_mullo_epi32(keys, salts), 27));
}

__attribute__((target("avx2"))) void InsertAvx2(std::span<const Fingerprint> fingerprints, char* bytes,
                                                uint64_t blocks) {
  for (const Fingerprint fingerprint : fingerprints) {
    const uint64_t hash = HashOf(fingerprint);
    auto* block = reinterpret_cast<__m256i*>(bytes + OffsetOf(hash, blocks));
    _mm256_storeu_si256(block, _mm256_or_si256(_mm256_loadu_si256(block), MasksAvx2(hash)));
  }
}

__attribute__((target("avx2"))) void TestAvx2(const char* bytes, uint64_t blocks,
                                              std::span<const Fingerprint> fingerprints, uint8_t* answers) {
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    const uint64_t hash = HashOf(fingerprints[i]);
    const auto* block = reinterpret_cast<const __m256i*>(bytes + OffsetOf(hash, blocks));
    answers[i] = static_cast<uint8_t>(_mm256_testc_si256(_mm256_loadu_si256(block), MasksAvx2(hash)));
  }
}

__attribute__((target("avx2"))) bool TestOneAvx2(const char* bytes, uint64_t blocks,
                                                 Fingerprint fingerprint) {
  const uint64_t hash = HashOf(fingerprint);
  const auto* block = reinterpret_cast<const __m256i*>(bytes + OffsetOf(hash, blocks));
  return _mm256_testc_si256(_mm256_loadu_si256(block), MasksAvx2(hash)) != 0;
}

// Until it is set at the program's start it reads as kPortable, which is right too.
const Kernel best_kernel = __builtin_cpu_supports("avx2") ? Kernel::kAvx2 : Kernel::kPortable;
#else
constexpr Kernel best_kernel = Kernel::kPortable;
#endif

uint64_t BlocksIn(size_t bytes) {
  Check(bytes >= kBlockBytes && bytes % kBlockBytes == 0,
        "a split-block Bloom filter is whole blocks, at least one");
  return bytes / kBlockBytes;
}

}  // namespace

Kernel BestKernel() { return best_kernel; }

void Insert(std::span<const Fingerprint> fingerprints, std::span<char> blocks, Kernel kernel) {
  const uint64_t count = BlocksIn(blocks.size());
#if SEEN_AVX2
  if (kernel == Kernel::kAvx2) return InsertAvx2(fingerprints, blocks.data(), count);
#endif
  Check(kernel == Kernel::kPortable, "no such kernel in this build");
  InsertPortable(fingerprints, blocks.data(), count);
}

bool MightContain(std::string_view blocks, Fingerprint fingerprint, Kernel kernel) {
  const uint64_t count = BlocksIn(blocks.size());
#if SEEN_AVX2
  if (kernel == Kernel::kAvx2) return TestOneAvx2(blocks.data(), count, fingerprint);
#endif
  Check(kernel == Kernel::kPortable, "no such kernel in this build");
  const uint64_t hash = HashOf(fingerprint);
  return Portable::Test(blocks.data() + OffsetOf(hash, count), hash);
}

void MightContainEach(std::string_view blocks, std::span<const Fingerprint> fingerprints,
                      std::span<uint8_t> answers, Kernel kernel) {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  const uint64_t count = BlocksIn(blocks.size());
#if SEEN_AVX2
  if (kernel == Kernel::kAvx2) return TestAvx2(blocks.data(), count, fingerprints, answers.data());
#endif
  Check(kernel == Kernel::kPortable, "no such kernel in this build");
  TestPortable(blocks.data(), count, fingerprints, answers.data());
}

}  // namespace seen::split_block_bloom

namespace seen {

using split_block_bloom::kBlockBytes;

Result<SplitBlockBloomView> SplitBlockBloomView::Parse(std::string_view payload) {
  if (payload.empty() || payload.size() % kBlockBytes != 0 ||
      payload.size() / kBlockBytes > std::numeric_limits<uint32_t>::max()) {
    return Fail(Code::kMalformed,
                "payload: " + std::to_string(payload.size()) +
                    " bytes; a split-block Bloom filter is blocks of 32 bytes, at least one");
  }
  return SplitBlockBloomView(payload);
}

size_t SplitBlockBloomFilter::PayloadBytes(size_t count, double rate) {
  return kBlockBytes * split_block_bloom::BlocksFor(count, rate);
}

void SplitBlockBloomFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out,
                                   bool power_of_two) {
  const size_t bytes = PayloadBytes(fingerprints.size(), rate);
  const size_t at = out.size();
  out.resize(at + (power_of_two ? std::bit_ceil(bytes) : bytes));  // a block's bytes are a power of two
  split_block_bloom::Insert(fingerprints, std::span(out).subspan(at));
}

}  // namespace seen

namespace seen::split_block_bloom {
namespace {

// A rate of 1e-9 takes under 64 bytes an item; a payload's size must fit into 32 bits.
uint32_t ComputeBlocks(size_t count, double rate) {
  if (FalsePositiveRate(count, 1) <= rate) return 1;
  uint32_t too_few = 1;
  uint32_t enough = 2;
  while (FalsePositiveRate(count, enough) > rate) {
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > 1) {
    const uint32_t middle = too_few + (enough - too_few) / 2;
    (FalsePositiveRate(count, middle) > rate ? too_few : enough) = middle;
  }
  return enough;
}

// A day chain has about twenty rates for each rate of the configuration.
constinit SizeMemo<64> blocks_memo;

}  // namespace

double FalsePositiveRate(size_t count, uint32_t blocks) {
  Check(blocks > 0, "a filter has at least one block");
  // A block of j items answers "seen" with (1 - (31/32)^j)^8. Expand it by the binomial theorem. The mean
  // over j ~ Binomial(count, p) is then a sum of nine values of j's generating function:
  // E[s^j] = (1 - p (1 - s))^count.
  constexpr std::array<double, 9> kSignedChoose = {1, -8, 28, -56, 70, -56, 28, -8, 1};
  const double p = 1.0 / blocks;
  const auto n = static_cast<double>(count);
  double rate = 0;
  double s = 1;
  for (const double choose : kSignedChoose) {
    rate += choose * std::exp(n * std::log1p(-p * (1 - s)));
    s *= 31.0 / 32.0;
  }
  return std::max(rate, 0.0);
}

uint32_t BlocksFor(size_t count, double rate) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= kFilterItemsMax, "too many items for one filter");
  rate = std::max(rate, kRateMin);
  return blocks_memo.Get(count, rate, [&] { return ComputeBlocks(count, rate); });
}

}  // namespace seen::split_block_bloom
