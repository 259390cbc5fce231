#include "filter/bloom.h"

#include <cmath>

#include "filter/size_memo.h"

namespace seen {
namespace {

using bloom::kProbesMax;

constexpr uint32_t kCounterMax = 15;

template <uint32_t kPlacesPerByte>
uint32_t PlacesIn(size_t bytes) {
  return static_cast<uint32_t>(kPlacesPerByte * bytes);
}

uint32_t Counter(const char* counters, uint32_t place) {
  return uint32_t{static_cast<uint8_t>(counters[place / 2])} >> (4 * (place % 2)) & kCounterMax;
}

template <uint32_t kPlacesPerByte>
struct IsSet {
  const char* bytes;
  uint32_t operator()(uint32_t place) const {
    if constexpr (kPlacesPerByte == 8)
      return static_cast<uint32_t>(static_cast<uint8_t>(bytes[place / 8])) >> (place % 8);
    else
      return Counter(bytes, place) != 0 ? 1 : 0;
  }
};

template <uint32_t kPlacesPerByte, size_t kProbes>
void TestEach(std::string_view bytes, std::span<const Fingerprint> fingerprints, uint8_t* answers) {
  const uint32_t places = PlacesIn<kPlacesPerByte>(bytes.size());
  const IsSet<kPlacesPerByte> is_set{bytes.data()};
  for (size_t i = 0; i < fingerprints.size(); ++i)
    answers[i] = static_cast<uint8_t>(bloom::AllSet<kProbes>(HashOf(fingerprints[i]), places, is_set));
}

template <uint32_t kPlacesPerByte>
constexpr auto kTestEach = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array{&TestEach<kPlacesPerByte, kIndex + 1>...};
}
(std::make_index_sequence<kProbesMax>());

}  // namespace

template <uint32_t kPlacesPerByte>
Result<BloomViewOf<kPlacesPerByte>> BloomViewOf<kPlacesPerByte>::Parse(std::string_view payload) {
  constexpr bool kCounts = kPlacesPerByte == 2;
  if (payload.size() < 2 || payload.size() > size_t{bloom::kPlaceBytesMax} + 1) {
    return Fail(Code::kMalformed, "payload: " + std::to_string(payload.size()) + " bytes; a " +
                                      (kCounts ? "counting " : "") + "Bloom filter has 2 to 536870912");
  }
  const uint32_t probes = static_cast<uint8_t>(payload[0]);
  if (probes < 1 || probes > kProbesMax) {
    return Fail(Code::kMalformed, "payload: k is " + std::to_string(probes) +
                                      (kCounts ? "; a counting Bloom filter has 1 to 32 counters an item"
                                               : "; a Bloom filter sets 1 to 32 bits an item"));
  }
  return BloomViewOf(probes, payload.substr(1));
}

template <uint32_t kPlacesPerByte>
bool BloomViewOf<kPlacesPerByte>::MightContain(Fingerprint fingerprint) const {
  return bloom::AllSet(HashOf(fingerprint), probes_, PlacesIn<kPlacesPerByte>(places_.size()),
                       IsSet<kPlacesPerByte>{places_.data()}) != 0;
}

template <uint32_t kPlacesPerByte>
void BloomViewOf<kPlacesPerByte>::MightContainEach(std::span<const Fingerprint> fingerprints,
                                                   std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  kTestEach<kPlacesPerByte>[probes_ - 1](places_, fingerprints, answers.data());
}

template <uint32_t kPlacesPerByte>
size_t BloomFilterOf<kPlacesPerByte>::PayloadBytes(size_t count, double rate) {
  return 1 + size_t{bloom::SizeFor(count, rate, kPlacesPerByte).place_bytes};
}

template <uint32_t kPlacesPerByte>
void BloomFilterOf<kPlacesPerByte>::Render(std::span<const Fingerprint> fingerprints, double rate,
                                           std::string& out) {
  const bloom::Size size = bloom::SizeFor(fingerprints.size(), rate, kPlacesPerByte);
  const size_t at = out.size();
  out += static_cast<char>(size.probes);
  out.resize(at + 1 + size.place_bytes);
  Insert(fingerprints, std::span(out).subspan(at));
}

template <>
void BloomFilter::Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload) {
  const uint32_t probes = static_cast<uint8_t>(payload[0]);
  const std::span<char> bits = payload.subspan(1);
  const uint32_t places = PlacesIn<8>(bits.size());
  for (const Fingerprint fingerprint : fingerprints) {
    const uint64_t hash = HashOf(fingerprint);
    for (uint32_t probe = 0; probe < probes; ++probe) {
      const uint32_t place = bloom::Place(hash, probe, places);
      bits[place / 8] = static_cast<char>(static_cast<uint8_t>(bits[place / 8]) | 1U << (place % 8));
    }
  }
}

template <>
void CountingBloomFilter::Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload) {
  const uint32_t probes = static_cast<uint8_t>(payload[0]);
  const std::span<char> counters = payload.subspan(1);
  const uint32_t places = PlacesIn<2>(counters.size());
  for (const Fingerprint fingerprint : fingerprints) {
    for (const uint32_t place : bloom::DifferentPlaces(HashOf(fingerprint), probes, places)) {
      if (Counter(counters.data(), place) == kCounterMax) continue;
      char& pair = counters[place / 2];  // its other counter doesn't change: this one doesn't overflow
      pair = static_cast<char>(static_cast<uint8_t>(pair) + (1 << (4 * (place % 2))));
    }
  }
}

template class BloomViewOf<8>;
template class BloomViewOf<2>;
template struct BloomFilterOf<8>;
template struct BloomFilterOf<2>;

}  // namespace seen

namespace seen::bloom {
namespace {

constexpr int kMostProbes = kProbesMax;

/// A lower bound of the places for an exact rate: by Jensen's inequality, E[fill^k] is at least E[fill]^k.
double PlacesAtLeast(size_t count, uint32_t probes, double rate) {
  const double fill = std::pow(rate, 1.0 / probes);
  const double thrown = static_cast<double>(count) * probes;
  return -1.0 / std::expm1(std::log1p(-fill) / thrown);
}

Size ComputeSize(size_t count, double rate, uint32_t places_per_byte) {
  if (count == 0) return {1, 1};
  Size best{kProbesMax + 1, kPlaceBytesMax};
  // Begins at the usual optimum, log2(1 / rate) probes, and goes outwards: the bound excludes most of the
  // rest.
  const int usual = std::clamp(static_cast<int>(std::lround(-std::log2(rate))), 1, kMostProbes);
  for (int step = 0; step < 2 * kMostProbes; ++step) {
    const int k = usual + (step % 2 == 0 ? step / 2 : -(step / 2 + 1));
    if (k < 1 || k > kMostProbes) continue;
    const auto probes = static_cast<uint32_t>(k);
    const uint32_t most = best.place_bytes - (probes < best.probes ? 0 : 1);
    const double bound = std::ceil(PlacesAtLeast(count, probes, rate) / places_per_byte);
    if (bound > most) continue;
    const auto holds = [&](uint32_t bytes) {
      return FalsePositiveRate(count, probes, bytes * places_per_byte) <= rate;
    };
    uint32_t enough = std::max(static_cast<uint32_t>(bound), 1U);
    uint32_t too_few = enough - 1;
    uint32_t stride = 1;
    bool held = holds(enough);
    while (!held && enough < most) {
      too_few = enough;
      enough = std::min(enough + stride, most);
      stride *= 2;
      held = holds(enough);
    }
    if (!held) continue;
    while (enough - too_few > 1) {
      const uint32_t middle = too_few + (enough - too_few) / 2;
      (holds(middle) ? enough : too_few) = middle;
    }
    best = {probes, enough};
  }
  return best;
}

// One number holds both results: below 2^14 items a filter of the least rate takes under 2^27 bytes.
constinit SizeMemo<8> bits_memo;
constinit SizeMemo<8> counters_memo;

}  // namespace

double FalsePositiveRate(size_t count, uint32_t probes, uint32_t places) {
  Check(probes >= 1 && probes <= kProbesMax && places > 0, "1 to 32 probes of at least one place");
  // different[d]: the probability that the probes fall on d different places.
  const long double m = places;
  std::array<long double, kProbesMax + 1> different{1};
  for (uint32_t thrown = 0; thrown < probes; ++thrown) {
    for (uint32_t d = thrown + 1; d > 0; --d)
      different[d] = different[d] * (d / m) + different[d - 1] * (1 - (d - 1) / m);
    different[0] = 0;
  }
  // The probability that d given places are all set, by inclusion and exclusion over the j of them that are
  // clear. The terms are at most C(d, d / 2): 64 bits of mantissa are enough for them.
  std::array<long double, kProbesMax + 1> none_of{};  // the probability that j given places are all clear
  for (uint32_t j = 0; j <= probes; ++j) {
    const long double thrown = static_cast<long double>(count) * probes;
    none_of[j] = thrown == 0   ? 1
                 : j >= places ? 0
                               : std::exp(thrown * std::log1p(-static_cast<long double>(j) / m));
  }
  long double rate = 0;
  for (uint32_t d = 1; d <= probes; ++d) {
    if (different[d] <= 0) continue;
    long double all = 0;
    long double choose = 1;
    for (uint32_t j = 0; j <= d; ++j) {
      all += choose * none_of[j];
      choose *= -static_cast<long double>(d - j) / (j + 1);
    }
    rate += different[d] * all;
  }
  return static_cast<double>(std::clamp(rate, 0.0L, 1.0L));
}

Size SizeFor(size_t count, double rate, uint32_t places_per_byte) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(places_per_byte == 8 || places_per_byte == 2, "places are bits or halves of a byte");
  rate = std::max(rate, kRateMin);
  // The least rate takes under 44 places an item.
  Check(count <= size_t{kPlaceBytesMax} / 44 * places_per_byte, "too many items for one filter");
  if (count >= kCountsRemembered) return ComputeSize(count, rate, places_per_byte);
  auto& memo = places_per_byte == 8 ? bits_memo : counters_memo;
  const uint32_t packed = memo.Get(count, rate, [&] {
    const Size size = ComputeSize(count, rate, places_per_byte);
    return size.place_bytes << 5 | (size.probes - 1);
  });
  return {(packed & 31) + 1, packed >> 5};
}

}  // namespace seen::bloom
