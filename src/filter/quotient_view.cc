// Reads quotient filters. Parse refuses bits that contradict each other, so no look-up leaves the payload.

#include <bit>

#include "base/result.h"
#include "filter/quotient.h"

namespace seen {
namespace {

using quotient::Geometry;
using quotient::LowBits64;

/// Beyond this size a look-up waits for two or three blocks, one after the other. So the blocks of many
/// look-ups are prefetched at once.
constexpr size_t kCachedBytes = size_t{1} << 17;
constexpr size_t kAtOnce = 32;

__attribute__((always_inline)) inline void TestEach(const Geometry& geometry, std::string_view blocks,
                                                    std::span<const Fingerprint> fingerprints,
                                                    uint8_t* answers) {
  const quotient::Reader reader(geometry, blocks);
  if (blocks.size() <= kCachedBytes) {
    for (size_t i = 0; i < fingerprints.size(); ++i)
      answers[i] = reader.Holds(geometry.KeyOf(HashOf(fingerprints[i]))) ? 1 : 0;
    return;
  }
  std::array<uint64_t, kAtOnce> keys;
  for (size_t at = 0; at < fingerprints.size(); at += kAtOnce) {
    const size_t count = std::min(fingerprints.size() - at, kAtOnce);
    for (size_t i = 0; i < count; ++i) {
      keys[i] = geometry.KeyOf(HashOf(fingerprints[at + i]));
      reader.PrefetchQuotient(keys[i]);
    }
    for (size_t i = 0; i < count; ++i) reader.PrefetchRuns(keys[i]);
    for (size_t i = 0; i < count; ++i) answers[at + i] = reader.Holds(keys[i]) ? 1 : 0;
  }
}

void TestEachPortable(const Geometry& geometry, std::string_view blocks,
                      std::span<const Fingerprint> fingerprints, uint8_t* answers) {
  TestEach(geometry, blocks, fingerprints, answers);
}

#if defined(__x86_64__) && defined(__GNUC__)
// The same with an instruction for population counts.
__attribute__((target("popcnt"))) void TestEachPopcnt(const Geometry& geometry, std::string_view blocks,
                                                      std::span<const Fingerprint> fingerprints,
                                                      uint8_t* answers) {
  TestEach(geometry, blocks, fingerprints, answers);
}
const bool has_popcnt = __builtin_cpu_supports("popcnt") != 0;
#else
constexpr bool has_popcnt = false;
constexpr auto TestEachPopcnt = TestEachPortable;
#endif

tl::unexpected<Error> Malformed(const std::string& what) {
  return Fail(Code::kMalformed, "payload: " + what);
}

/// What is wrong with the bits; empty if nothing is.
std::string_view Fault(const Geometry& geometry, std::string_view blocks) {
  const quotient::Reader reader(geometry, blocks);
  uint64_t runs = 0;       // occupied quotients before the block
  uint64_t ends = 0;       // run ends before it
  uint64_t end_block = 0;  // where the last run of the quotients before the block ends
  uint64_t ends_before_end_block = 0;
  for (uint64_t block = 0; block < geometry.Blocks(); ++block) {
    uint64_t behind = 0;
    if (runs > 0) {
      while (true) {
        if (end_block == geometry.Blocks()) return "fewer run ends than occupied quotients";
        const auto in = static_cast<uint32_t>(std::popcount(reader.RunEnds(end_block)));
        if (ends_before_end_block + in >= runs) break;
        ends_before_end_block += in;
        ++end_block;
      }
      const auto rank = static_cast<uint32_t>(runs - ends_before_end_block - 1);
      behind = 64 * end_block + quotient::SelectBit(reader.RunEnds(end_block), rank) + 1;
    }
    if (reader.Offset(block) != (behind > 64 * block ? behind - 64 * block : 0)) {
      return "an offset disagrees with the bits";
    }

    const uint64_t occupied = reader.Occupied(block);
    const uint64_t run_ends = reader.RunEnds(block);
    const uint64_t first = 64 * block;
    const auto in_range = [&](uint64_t of) {
      return of > first ? LowBits64(static_cast<uint32_t>(std::min<uint64_t>(of - first, 64))) : 0;
    };
    if ((occupied & ~in_range(geometry.quotients)) != 0) return "an occupied bit at or after quotients";
    if ((run_ends & ~in_range(geometry.slots)) != 0) return "a run end at or after slots";
    const auto in = static_cast<uint64_t>(std::popcount(run_ends));
    if (runs - ends < in) {  // else each run has its quotient in an earlier block
      uint64_t j = ends;
      for (uint64_t left = run_ends; left != 0; left &= left - 1) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(left));
        if (++j > runs + static_cast<uint64_t>(std::popcount(occupied & LowBits64(bit + 1))))
          return "a run ends before its quotient's slot";
      }
    }
    runs += static_cast<uint64_t>(std::popcount(occupied));
    ends += in;
  }
  return runs != ends ? "fewer run ends than occupied quotients" : "";
}

}  // namespace

Result<QuotientView> QuotientView::Parse(std::string_view payload) {
  if (payload.size() < quotient::kFieldsOfPayload) {
    return Malformed(std::to_string(payload.size()) + " bytes; a quotient filter has 9 and its blocks");
  }
  const Geometry geometry{static_cast<uint8_t>(payload[0]), GetInteger<uint32_t>(payload, 1),
                          GetInteger<uint32_t>(payload, 5)};
  if (geometry.remainder_bits < 1 || geometry.remainder_bits > quotient::kRemainderBitsMax) {
    return Malformed("r is " + std::to_string(geometry.remainder_bits) +
                     "; a quotient filter's remainders have 1 to 32 bits");
  }
  if (geometry.quotients < 1 || geometry.slots < geometry.quotients || geometry.slots > quotient::kSlotsMax) {
    return Malformed(std::to_string(geometry.quotients) + " quotients, " + std::to_string(geometry.slots) +
                     " slots; at least one quotient, and as many slots up to 2^32 - 64");
  }
  const std::string_view blocks = payload.substr(quotient::kFieldsOfPayload);
  if (blocks.size() != geometry.Bytes()) {
    return Malformed(std::to_string(blocks.size()) + " bytes of blocks where " +
                     std::to_string(geometry.slots) + " slots of " + std::to_string(geometry.remainder_bits) +
                     " bits take " + std::to_string(geometry.Bytes()));
  }
  if (const std::string_view fault = Fault(geometry, blocks); !fault.empty())
    return Malformed(std::string(fault));
  return QuotientView(geometry, blocks);
}

bool QuotientView::MightContain(Fingerprint fingerprint) const {
  uint8_t answer = 0;
  MightContainEach({&fingerprint, 1}, {&answer, 1});
  return answer != 0;
}

void QuotientView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                    std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  (has_popcnt ? TestEachPopcnt : TestEachPortable)(geometry_, blocks_, fingerprints, answers.data());
}

}  // namespace seen
