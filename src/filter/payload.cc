#include "filter/payload.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "base/result.h"
#include "filter/binary_fuse.h"
#include "filter/bloom.h"
#include "filter/counting_bloom.h"
#include "filter/cuckoo.h"
#include "filter/d_left.h"
#include "filter/day_chain.h"
#include "filter/exact_fingerprints.h"
#include "filter/indexed_cuckoo.h"
#include "filter/quotient.h"
#include "filter/split_block_bloom.h"

namespace seen {

namespace {

template <typename View>
Result<AnyView> ParseAs(std::string_view payload) {
  auto view = View::Parse(payload);
  if (!view) return Fail(view.error());
  return AnyView(std::move(*view));
}

}  // namespace

Result<AnyView> ParseView(SnapshotFormat format, std::string_view payload) {
  switch (format) {
    case SnapshotFormat::kSplitBlockBloom:
      return ParseAs<SplitBlockBloomView>(payload);
    case SnapshotFormat::kBloom:
      return ParseAs<BloomView>(payload);
    case SnapshotFormat::kCountingBloom:
      return ParseAs<CountingBloomView>(payload);
    case SnapshotFormat::kDLeft:
      return ParseAs<DLeftView>(payload);
    case SnapshotFormat::kQuotient:
      return ParseAs<QuotientView>(payload);
    case SnapshotFormat::kCuckoo:
      return ParseAs<CuckooView>(payload);
    case SnapshotFormat::kIndexedCuckoo:
      return ParseAs<IndexedCuckooView>(payload);
    case SnapshotFormat::kBinaryFuse8:
      return ParseAs<BinaryFuse8View>(payload);
    case SnapshotFormat::kBinaryFuse16:
      return ParseAs<BinaryFuse16View>(payload);
    case SnapshotFormat::kDayChain:
      return ParseAs<DayChainView>(payload);
    case SnapshotFormat::kFingerprints:
      return ParseAs<ExactFingerprintsView>(payload);
    case SnapshotFormat::kAuto:
      break;
  }
  return Fail(Code::kMalformed, "format " + std::to_string(static_cast<int>(format)) + " is unknown");
}

void RenderPayload(const SnapshotShape& shape, const SnapshotItems& items, std::string& out) {
  const double rate = shape.false_positive_rate;
  switch (shape.format) {
    case SnapshotFormat::kSplitBlockBloom:
      return SplitBlockBloomFilter::Render(items.fingerprints, rate, out, shape.power_of_two);
    case SnapshotFormat::kBloom:
      return BloomFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kCountingBloom:
      return CountingBloomFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kDLeft:
      return DLeftFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kQuotient:
      return QuotientFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kCuckoo:
      return CuckooFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kIndexedCuckoo:
      return IndexedCuckooFilter::Render(items.days, rate, out);
    case SnapshotFormat::kBinaryFuse8:
      return BinaryFuse8::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kBinaryFuse16:
      return BinaryFuse16::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kDayChain:
      return DayChainFilter::Render(items.days, rate, out);
    case SnapshotFormat::kFingerprints:
      return ExactFingerprintsFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kAuto:
      break;
  }
  Check(false, "no such snapshot format");
}

size_t PayloadBytes(SnapshotFormat format, size_t count, double rate) {
  switch (format) {
    case SnapshotFormat::kSplitBlockBloom:
      return SplitBlockBloomFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kBloom:
      return BloomFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kCountingBloom:
      return CountingBloomFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kDLeft:
      return DLeftFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kQuotient:
      return QuotientFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kCuckoo:
      return CuckooFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kBinaryFuse8:
      return BinaryFuse8::PayloadBytes(count, rate);
    case SnapshotFormat::kBinaryFuse16:
      return BinaryFuse16::PayloadBytes(count, rate);
    case SnapshotFormat::kFingerprints:
      return ExactFingerprintsFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kAuto:
    case SnapshotFormat::kIndexedCuckoo:
    case SnapshotFormat::kDayChain:
      break;
  }
  Check(false, "only a format without days has a known size");
  return 0;
}

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
