#include "filter/payload.h"

#include <bit>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

namespace seen {
namespace {

/// The types of a kind of payload.
template <typename OfView, typename OfFilter>
struct Kind {
  using View = OfView;
  using Filter = OfFilter;
};

/// Returns `use` of the format's Kind, or `otherwise` for what isn't one.
template <typename Answer, typename Use>
Answer WithKind(SnapshotFormat format, Answer otherwise, Use use) {
  switch (format) {
    case SnapshotFormat::kSplitBlockBloom:
      return use(Kind<SplitBlockBloomView, SplitBlockBloomFilter>());
    case SnapshotFormat::kBloom:
      return use(Kind<BloomView, BloomFilter>());
    case SnapshotFormat::kCountingBloom:
      return use(Kind<CountingBloomView, CountingBloomFilter>());
    case SnapshotFormat::kDLeft:
      return use(Kind<DLeftView, DLeftFilter>());
    case SnapshotFormat::kQuotient:
      return use(Kind<QuotientView, QuotientFilter>());
    case SnapshotFormat::kCuckoo:
      return use(Kind<CuckooView, CuckooFilter>());
    case SnapshotFormat::kIndexedCuckoo:
      return use(Kind<IndexedCuckooView, IndexedCuckooFilter>());
    case SnapshotFormat::kBinaryFuse8:
      return use(Kind<BinaryFuse8View, BinaryFuse8>());
    case SnapshotFormat::kBinaryFuse16:
      return use(Kind<BinaryFuse16View, BinaryFuse16>());
    case SnapshotFormat::kDayChain:
      return use(Kind<DayChainView, DayChainFilter>());
    case SnapshotFormat::kFingerprints:
      return use(Kind<ExactFingerprintsView, ExactFingerprintsFilter>());
    case SnapshotFormat::kAuto:
      break;
  }
  return otherwise;
}

template <typename Filter>
constexpr bool kKnowsDays =
    std::is_same_v<Filter, IndexedCuckooFilter> || std::is_same_v<Filter, DayChainFilter>;

}  // namespace

Result<AnyView> ParseView(SnapshotFormat format, std::string_view payload) {
  using Parsed = std::optional<Result<AnyView>>;
  Parsed parsed = WithKind(format, Parsed(), [&]<typename K>(K) -> Parsed {
    auto view = K::View::Parse(payload);
    if (!view) return Fail(view.error());
    return AnyView(std::move(*view));
  });
  if (parsed) return std::move(*parsed);
  return Fail(Code::kMalformed, "format " + std::to_string(static_cast<int>(format)) + " is unknown");
}

void RenderPayload(const SnapshotShape& shape, const SnapshotItems& items, std::string& out) {
  const double rate = shape.false_positive_rate;
  const bool rendered = WithKind(shape.format, false, [&]<typename K>(K) {
    if constexpr (std::is_same_v<typename K::Filter, SplitBlockBloomFilter>)
      K::Filter::Render(items.fingerprints, rate, out, shape.power_of_two);
    else if constexpr (kKnowsDays<typename K::Filter>)
      K::Filter::Render(items.days, rate, out);
    else
      K::Filter::Render(items.fingerprints, rate, out);
    return true;
  });
  Check(rendered, "no such snapshot format");
}

size_t PayloadBytes(SnapshotFormat format, size_t count, double rate) {
  Check(format != SnapshotFormat::kAuto && !NeedsDays(format), "only a format without days has a known size");
  return WithKind(format, size_t{0}, [&]<typename K>(K) -> size_t {
    if constexpr (kKnowsDays<typename K::Filter>)
      return 0;
    else
      return K::Filter::PayloadBytes(count, rate);
  });
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
