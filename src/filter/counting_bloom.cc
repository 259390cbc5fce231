#include "filter/counting_bloom.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "filter/bloom_probes.h"

namespace seen {
namespace {

using bloom::DifferentPlaces;
using bloom::kProbesMax;

constexpr uint32_t kCounterMax = 15;

uint32_t PlacesIn(size_t bytes) { return static_cast<uint32_t>(2 * bytes); }

inline uint32_t Counter(std::string_view counters, uint32_t place) {
  return uint32_t{static_cast<uint8_t>(counters[place / 2])} >> (4 * (place % 2)) & kCounterMax;
}

/// Adds `step` to a counter that stays within 0 to 15: its neighbour is untouched.
inline void Add(std::span<char> counters, uint32_t place, int step) {
  const int unit = 1 << (4 * (place % 2));
  counters[place / 2] = static_cast<char>(static_cast<uint8_t>(counters[place / 2]) + step * unit);
}

void Count(std::span<const Fingerprint> fingerprints, uint32_t probes, std::span<char> counters) {
  const uint32_t places = PlacesIn(counters.size());
  for (const Fingerprint fingerprint : fingerprints) {
    for (const uint32_t place : DifferentPlaces(HashOf(fingerprint), probes, places)) {
      if (Counter({counters.data(), counters.size()}, place) < kCounterMax) Add(counters, place, 1);
    }
  }
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

CountingBloomFilter::CountingBloomFilter(size_t count, double rate) {
  const bloom::Size size = bloom::SizeFor(count, rate, 2);
  probes_ = size.probes;
  counters_.resize(size.place_bytes);
}

void CountingBloomFilter::Insert(Fingerprint fingerprint) { Count({&fingerprint, 1}, probes_, counters_); }

bool CountingBloomFilter::Remove(Fingerprint fingerprint) {
  const DifferentPlaces places(HashOf(fingerprint), probes_, PlacesIn(counters_.size()));
  for (const uint32_t place : places) {
    if (Counter(counters_, place) == 0) return false;
  }
  for (const uint32_t place : places) {
    if (Counter(counters_, place) < kCounterMax) Add(counters_, place, -1);
  }
  return true;
}

Status CountingBloomFilter::Merge(const CountingBloomFilter& other) {
  if (probes_ != other.probes_ || counters_.size() != other.counters_.size()) {
    return Fail(Code::kInvalidArgument, "merge: " + std::to_string(other.probes_) + " probes of " +
                                            std::to_string(PlacesIn(other.counters_.size())) +
                                            " counters into " + std::to_string(probes_) + " of " +
                                            std::to_string(PlacesIn(counters_.size())) +
                                            "; both must have as many");
  }
  const auto sum = [](uint32_t a, uint32_t b) { return std::min((a & 15) + (b & 15), kCounterMax); };
  for (size_t i = 0; i < counters_.size(); ++i) {
    const uint32_t a = static_cast<uint8_t>(counters_[i]);
    const uint32_t b = static_cast<uint8_t>(other.counters_[i]);
    counters_[i] = static_cast<char>(sum(a, b) | sum(a >> 4, b >> 4) << 4);
  }
  return {};
}

void CountingBloomFilter::Serialise(std::string& out) const {
  out += static_cast<char>(probes_);
  out += counters_;
}

size_t CountingBloomFilter::PayloadBytes(size_t count, double rate) {
  return 1 + size_t{bloom::SizeFor(count, rate, 2).place_bytes};
}

void CountingBloomFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  const bloom::Size size = bloom::SizeFor(fingerprints.size(), rate, 2);
  out += static_cast<char>(size.probes);
  const size_t at = out.size();
  out.resize(at + size.place_bytes);
  Count(fingerprints, size.probes, std::span(out).subspan(at));
}

}  // namespace seen
