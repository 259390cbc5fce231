#include "filter/counting_bloom.h"

#include <utility>

#include "base/result.h"
#include "filter/bloom.h"

namespace seen {
namespace {

using bloom::kProbesMax;

constexpr uint32_t kCounterMax = 15;

uint32_t PlacesIn(size_t bytes) { return static_cast<uint32_t>(2 * bytes); }

inline uint32_t Counter(std::string_view counters, uint32_t place) {
  return uint32_t{static_cast<uint8_t>(counters[place / 2])} >> (4 * (place % 2)) & kCounterMax;
}

struct IsCounted {
  std::string_view counters;
  uint32_t operator()(uint32_t place) const { return Counter(counters, place) != 0 ? 1 : 0; }
};

template <size_t kProbes>
void TestEach(std::string_view counters, std::span<const Fingerprint> fingerprints, uint8_t* answers) {
  const uint32_t places = PlacesIn(counters.size());
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    const uint64_t hash = HashOf(fingerprints[i]);
    answers[i] = static_cast<uint8_t>(bloom::AllSet<kProbes>(hash, places, IsCounted{counters}));
  }
}

constexpr auto kTestEach = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array{&TestEach<kIndex + 1>...};
}
(std::make_index_sequence<kProbesMax>());

}  // namespace

Result<CountingBloomView> CountingBloomView::Parse(std::string_view payload) {
  if (payload.size() < 2 || payload.size() > size_t{bloom::kPlaceBytesMax} + 1) {
    return Fail(Code::kMalformed, "payload: " + std::to_string(payload.size()) +
                                      " bytes; a counting Bloom filter has 2 to 536870912");
  }
  const uint32_t probes = static_cast<uint8_t>(payload[0]);
  if (probes < 1 || probes > kProbesMax) {
    return Fail(Code::kMalformed, "payload: k is " + std::to_string(probes) +
                                      "; a counting Bloom filter has 1 to 32 counters an item");
  }
  return CountingBloomView(probes, payload.substr(1));
}

bool CountingBloomView::MightContain(Fingerprint fingerprint) const {
  return bloom::AllSet(HashOf(fingerprint), probes_, PlacesIn(counters_.size()), IsCounted{counters_}) != 0;
}

void CountingBloomView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                         std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  kTestEach[probes_ - 1](counters_, fingerprints, answers.data());
}

size_t CountingBloomFilter::PayloadBytes(size_t count, double rate) {
  return 1 + size_t{bloom::SizeFor(count, rate, 2).place_bytes};
}

void CountingBloomFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  const bloom::Size size = bloom::SizeFor(fingerprints.size(), rate, 2);
  const size_t at = out.size();
  out += static_cast<char>(size.probes);
  out.resize(at + 1 + size.place_bytes);
  Insert(fingerprints, std::span(out).subspan(at));
}

void CountingBloomFilter::Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload) {
  const uint32_t probes = static_cast<uint8_t>(payload[0]);
  const std::span<char> counters = payload.subspan(1);
  const uint32_t places = PlacesIn(counters.size());
  for (const Fingerprint fingerprint : fingerprints) {
    for (const uint32_t place : bloom::DifferentPlaces(HashOf(fingerprint), probes, places)) {
      if (Counter({counters.data(), counters.size()}, place) == kCounterMax) continue;
      char& pair = counters[place / 2];  // its other counter doesn't change: this one doesn't overflow
      pair = static_cast<char>(static_cast<uint8_t>(pair) + (1 << (4 * (place % 2))));
    }
  }
}

}  // namespace seen
