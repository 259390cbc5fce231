#include "filter/grow_payload.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "filter/any_view.h"
#include "filter/bloom_size.h"

namespace seen {
namespace {

constexpr size_t kBytesMax = 64 << 20;  // a payload doesn't grow beyond this size

/// The factor, a power of two, by which `bytes` must grow to reach `wanted`.
size_t Times(size_t bytes, size_t wanted) {
  size_t times = 1;
  while (times * bytes < wanted && 2 * times * bytes <= kBytesMax) times *= 2;
  return times;
}

/// The rate of a block is the product over its words, because each word is tested by itself.
double SplitBlockRate(std::string_view blocks) {
  using split_block_bloom::kBlockBytes;
  double sum = 0;
  for (size_t block = 0; block < blocks.size(); block += kBlockBytes) {
    double passes = 1;
    for (size_t word = 0; word < kBlockBytes; word += 4) {
      int bits = 0;
      for (size_t i = 0; i < 4; ++i) bits += std::popcount(static_cast<uint8_t>(blocks[block + word + i]));
      passes *= bits / 32.0;
    }
    sum += passes;
  }
  return sum * kBlockBytes / static_cast<double>(blocks.size());
}

double GrowSplitBlocks(std::string_view blocks, size_t count, std::span<const Fingerprint> added, double rate,
                       std::string& out) {
  using split_block_bloom::kBlockBytes;
  const size_t times = Times(blocks.size(), SplitBlockBloomFilter::PayloadBytes(count, rate));
  const size_t begin = out.size();
  for (size_t block = 0; block < blocks.size(); block += kBlockBytes) {
    for (size_t i = 0; i < times; ++i) out += blocks.substr(block, kBlockBytes);
  }
  split_block_bloom::Insert(added, std::span(out).subspan(begin));
  return SplitBlockRate(std::string_view(out).substr(begin));
}

double GrowBloom(std::string_view payload, size_t count, std::span<const Fingerprint> added, double rate,
                 std::string& out) {
  const std::string_view bits = payload.substr(1);
  const size_t times = Times(bits.size(), bloom::SizeFor(count, rate, 8).place_bytes);
  const size_t begin = out.size();
  out += payload[0];
  out.resize(begin + 1 + times * bits.size());
  char* const places = out.data() + begin + 1;
  for (size_t from = 0; from < 8 * bits.size(); ++from) {
    if ((static_cast<uint8_t>(bits[from / 8]) >> (from % 8) & 1) == 0) continue;
    for (size_t to = from * times; to < (from + 1) * times; ++to)
      places[to / 8] = static_cast<char>(static_cast<uint8_t>(places[to / 8]) | 1U << (to % 8));
  }
  BloomFilter::Insert(added, std::span(out).subspan(begin));
  size_t set = 0;
  for (const char byte : std::string_view(out).substr(begin + 1))
    set += static_cast<size_t>(std::popcount(static_cast<uint8_t>(byte)));
  return std::pow(static_cast<double>(set) / static_cast<double>(8 * times * bits.size()), payload[0]);
}

}  // namespace

Result<GrownPayload> GrowPayload(SnapshotFormat format, std::string_view payload, size_t item_count,
                                 std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  Check(CanGrow(format), "the kind takes more items");
  const auto view = ParseView(format, payload);
  if (!view) return Fail(view.error());
  std::vector<uint8_t> is_in(fingerprints.size());
  std::visit([&](const auto& of_kind) { of_kind.MightContainEach(fingerprints, is_in); }, *view);
  std::vector<Fingerprint> added;
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    if (is_in[i] == 0) added.push_back(fingerprints[i]);
  }
  GrownPayload grown{item_count + added.size(), 0};
  if (format == SnapshotFormat::kSplitBlockBloom) {
    grown.false_positive_rate = GrowSplitBlocks(payload, grown.item_count, added, rate, out);
  } else if (format == SnapshotFormat::kBloom) {
    grown.false_positive_rate = GrowBloom(payload, grown.item_count, added, rate, out);
  } else {
    const auto before = std::get<ExactFingerprintsView>(*view).Fingerprints();
    added.insert(added.end(), before.begin(), before.end());
    grown.item_count = added.size();
    ExactFingerprintsFilter::Render(added, rate, out);
  }
  return grown;
}

}  // namespace seen
