// The sizes of quotient filters, then their rendering, then their reading.
#include "filter/quotient.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "filter/size_memo.h"
#include "filter/sort_keys.h"

namespace seen::quotient {
namespace {

constexpr double kHashes = 4294967296.0;  // 32 bits of the hash: more values distinguish nothing

double CheckedRate(size_t count, double rate) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= kCountMax, "too many items for one filter");
  return std::max(rate, kRateMin);
}

/// The mean number of different values that `count` items take of `values`.
double DifferentOf(size_t count, double values) {
  if (values <= 1) return count == 0 ? 0 : 1;
  return -values * std::expm1(static_cast<double>(count) * std::log1p(-1 / values));
}

/// The slots that `items` in `quotients` need, half of the time. A slot is free only if all runs before it
/// have ended by then. The number of free slots is the most by which the quotients were ever ahead of the
/// items. It is the greatest value k of a Brownian bridge to quotients - items, of variance `items`. The
/// bridge exceeds k with a probability of exp(-2 k (k - end) / variance).
double SlotsFor(double items, double quotients) {
  const double surplus = items - quotients;
  const double free = (-surplus + std::sqrt(surplus * surplus + 2 * items * std::log(2.0))) / 2;
  return std::max({std::floor(items + free), quotients, 1.0});
}

Geometry Compute(size_t count, double rate) {
  const double values = ValuesFor(count, rate);
  Geometry best;
  if (count == 0) return best;
  uint64_t fewest = std::numeric_limits<uint64_t>::max();
  for (uint32_t r = 1; r <= kRemainderBitsMax; ++r) {
    double quotients = std::max(std::ceil(std::ldexp(values, -static_cast<int>(r))), 1.0);
    const double items = DifferentOf(count, std::ldexp(quotients, static_cast<int>(r)));
    // At the end the runs are behind by the surplus of items over quotients, and by chance some more.
    quotients = std::max(quotients, std::ceil(items - (kOffsetMax - 5 * std::sqrt(items))));
    const double slots = SlotsFor(items, quotients);
    if (slots > kSlotsMax) continue;
    const Geometry geometry{r, static_cast<uint32_t>(quotients), static_cast<uint32_t>(slots)};
    if (geometry.Bytes() >= fewest) continue;
    fewest = geometry.Bytes();
    best = geometry;
  }
  return best;
}

// Two numbers hold the results: below 2^14 items there are fewer than 2^16 quotients, and slots.
constinit SizeMemo<8> quotients_memo;
constinit SizeMemo<8> slots_memo;

}  // namespace

double ValuesFor(size_t count, double rate) {
  if (count == 0) return 1;
  return std::min(-1.0 / std::expm1(std::log1p(-rate) / static_cast<double>(count)), kHashes);
}

Geometry SizeFor(size_t count, double rate) {
  rate = CheckedRate(count, rate);
  if (count >= kCountsRemembered) return Compute(count, rate);
  const uint32_t packed = quotients_memo.Get(count, rate, [&] {
    const Geometry geometry = Compute(count, rate);
    return geometry.quotients << 6 | geometry.remainder_bits;
  });
  const uint32_t slots = slots_memo.Get(count, rate, [&] { return Compute(count, rate).slots; });
  return {packed & 63, packed >> 6, slots};
}

// Renders quotient filters from all of their items. Sorts the items, then writes from the first slot to the
// last.

namespace {

/// Writes words of 64 bits at ascending places. It collects the bits of a word until the next word begins.
class WordWriter {
 public:
  explicit WordWriter(std::span<char> out) : out_(out) {}
  ~WordWriter() { Flush(); }
  WordWriter(const WordWriter&) = delete;
  WordWriter& operator=(const WordWriter&) = delete;
  void Or(size_t at, uint64_t bits) {
    if (at != at_) {
      Flush();
      at_ = at;
      word_ = 0;
    }
    word_ |= bits;
  }

 private:
  void Flush() {
    const uint64_t word = LittleEndian(word_);
    if (at_ < out_.size()) std::memcpy(out_.data() + at_, &word, std::min(sizeof(word), out_.size() - at_));
  }
  std::span<char> out_;
  size_t at_ = 2;  // the first block's `occupied`: at worst zeros are written again
  uint64_t word_ = 0;
};

template <typename Key>
std::vector<Key> SortedKeys(const Geometry& geometry, std::span<const Fingerprint> fingerprints) {
  std::vector<Key> keys(fingerprints.size());
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<Key>(geometry.KeyOf(HashOf(fingerprints[i])));
  const uint64_t values = uint64_t{geometry.quotients} << geometry.remainder_bits;
  SortKeys(keys, static_cast<uint32_t>(std::bit_width(values - 1)));
  keys.erase(std::unique(keys.begin(), keys.end()),
             keys.end());  // one of equal keys is enough for the same answers
  return keys;
}

/// False: an offset exceeds its field; then nothing was appended.
template <typename Key>
bool RenderKeys(Geometry geometry, std::span<const Fingerprint> fingerprints, std::string& out) {
  const std::vector<Key> keys = SortedKeys<Key>(geometry, fingerprints);
  uint64_t slots = 0;
  for (const uint64_t key : keys) slots = std::max(slots, key >> geometry.remainder_bits) + 1;
  geometry.slots = std::max(static_cast<uint32_t>(slots), geometry.quotients);
  const size_t at = out.size();
  AppendFields(geometry, out);
  out.resize(out.size() + geometry.Bytes());
  const bool built = Build<Key>(geometry, keys, std::span(out).subspan(at + kFieldsOfPayload));
  if (!built) out.resize(at);
  return built;
}

}  // namespace

template <typename Key>
bool Build(const Geometry& geometry, std::span<const Key> keys, std::span<char> out) {
  Check(out.size() == geometry.Bytes(), "a quotient filter's bytes go by its geometry");
  const uint32_t r = geometry.remainder_bits;
  const uint64_t block_bytes = geometry.BlockBytes();
  uint64_t next = 0;
  uint64_t block = 0;  // all offsets up to this block's are written; the first is 0
  const auto put_offsets = [&](uint64_t up_to) {
    while (block < up_to) {
      ++block;
      const uint64_t offset = next > 64 * block ? next - 64 * block : 0;
      if (offset > kOffsetMax) return false;
      PutInteger(out, block * block_bytes, static_cast<uint16_t>(offset));
    }
    return true;
  };
  WordWriter occupied(out);
  WordWriter run_ends(out);
  WordWriter remainders(out);
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t key = keys[i];
    const uint64_t quotient = key >> r;
    const uint64_t slot = std::max(next, quotient);
    if (slot >= geometry.slots || !put_offsets(quotient / 64)) return false;
    occupied.Or(quotient / 64 * block_bytes + 2, uint64_t{1} << (quotient % 64));
    const bool ends = i + 1 == keys.size() || uint64_t{keys[i + 1]} >> r != quotient;
    const uint64_t in_block = slot / 64 * block_bytes;
    run_ends.Or(in_block + 10, uint64_t{ends} << (slot % 64));
    const uint64_t remainder = key & LowBits(r);
    const uint64_t bit = slot % 64 * r;
    remainders.Or(in_block + kFieldBytes + bit / 64 * 8, remainder << (bit % 64));
    if (bit % 64 + r > 64) {
      remainders.Or(in_block + kFieldBytes + bit / 64 * 8 + 8, remainder >> (64 - bit % 64));
    }
    next = slot + 1;
  }
  return put_offsets(geometry.Blocks() - 1);
}

template bool Build<uint32_t>(const Geometry&, std::span<const uint32_t>, std::span<char>);
template bool Build<uint64_t>(const Geometry&, std::span<const uint64_t>, std::span<char>);

void AppendFields(const Geometry& geometry, std::string& out) {
  out += static_cast<char>(geometry.remainder_bits);
  AppendInteger(out, geometry.quotients);
  AppendInteger(out, geometry.slots);
}

}  // namespace seen::quotient

namespace seen {

size_t QuotientFilter::PayloadBytes(size_t count, double rate) {
  return quotient::kFieldsOfPayload + quotient::SizeFor(count, rate).Bytes();
}

void QuotientFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  quotient::Geometry geometry = quotient::SizeFor(fingerprints.size(), rate);
  while (true) {
    const bool narrow = uint64_t{geometry.quotients} << geometry.remainder_bits <= uint64_t{1} << 32;
    if (narrow ? quotient::RenderKeys<uint32_t>(geometry, fingerprints, out)
               : quotient::RenderKeys<uint64_t>(geometry, fingerprints, out))
      return;
    // Runs are too far behind their quotients. With more quotients all runs are closer.
    Check(geometry.quotients < 2 * fingerprints.size(), "twice the quotients suffice for any hash");
    geometry.quotients += geometry.quotients / 64 + 1;
  }
}

// Reads quotient filters. Parse refuses bits that contradict each other, so no look-up leaves the payload.

namespace {

using quotient::LowBits64;

/// Beyond this size a look-up waits for two or three blocks, one after the other. So the blocks of many
/// look-ups are prefetched at once.
constexpr size_t kCachedBytes = size_t{1} << 17;
constexpr size_t kAtOnce = 32;

__attribute__((always_inline)) inline void TestEach(const quotient::Geometry& geometry,
                                                    std::string_view blocks,
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

void TestEachPortable(const quotient::Geometry& geometry, std::string_view blocks,
                      std::span<const Fingerprint> fingerprints, uint8_t* answers) {
  TestEach(geometry, blocks, fingerprints, answers);
}

#if defined(__x86_64__) && defined(__GNUC__)
// The same with an instruction for population counts.
__attribute__((target("popcnt"))) void TestEachPopcnt(const quotient::Geometry& geometry,
                                                      std::string_view blocks,
                                                      std::span<const Fingerprint> fingerprints,
                                                      uint8_t* answers) {
  TestEach(geometry, blocks, fingerprints, answers);
}
const bool has_popcnt = __builtin_cpu_supports("popcnt") != 0;
#else
constexpr bool has_popcnt = false;
constexpr auto TestEachPopcnt = TestEachPortable;
#endif

/// What is wrong with the bits; empty if nothing is.
std::string_view Fault(const quotient::Geometry& geometry, std::string_view blocks) {
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
  const quotient::Geometry geometry{static_cast<uint8_t>(payload[0]), GetInteger<uint32_t>(payload, 1),
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
