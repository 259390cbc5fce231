// Renders quotient filters from all of their items. Sorts the items, then writes from the first slot to the
// last.

#include <bit>
#include <vector>

#include "base/result.h"
#include "filter/quotient.h"
#include "filter/sort_keys.h"

namespace seen::quotient {
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

using quotient::Geometry;

size_t QuotientFilter::PayloadBytes(size_t count, double rate) {
  return quotient::kFieldsOfPayload + quotient::SizeFor(count, rate).Bytes();
}

void QuotientFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  Geometry geometry = quotient::SizeFor(fingerprints.size(), rate);
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

}  // namespace seen
