#include "filter/bloom.h"

#include <utility>

#include "base/check.h"
#include "filter/bloom_probes.h"

namespace seen {
namespace {

using bloom::kProbesMax;

uint32_t PlacesIn(size_t bytes) { return static_cast<uint32_t>(8 * bytes); }

struct IsSet {
  const char* bits;
  uint32_t operator()(uint32_t place) const {
    return static_cast<uint32_t>(static_cast<uint8_t>(bits[place / 8])) >> (place % 8);
  }
};

template <size_t kProbes>
void TestEach(std::string_view bits, std::span<const Fingerprint> fingerprints, uint8_t* answers) {
  const uint32_t places = PlacesIn(bits.size());
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    const uint64_t hash = HashOf(fingerprints[i]);
    answers[i] = static_cast<uint8_t>(bloom::AllSet<kProbes>(hash, places, IsSet{bits.data()}));
  }
}

constexpr auto kTestEach = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array{&TestEach<kIndex + 1>...};
}
(std::make_index_sequence<kProbesMax>());

}  // namespace

Result<BloomView> BloomView::Parse(std::string_view payload) {
  if (payload.size() < 2 || payload.size() > size_t{bloom::kPlaceBytesMax} + 1) {
    return Fail(Code::kMalformed,
                "payload: " + std::to_string(payload.size()) + " bytes; a Bloom filter has 2 to 536870912");
  }
  const uint32_t probes = static_cast<uint8_t>(payload[0]);
  if (probes < 1 || probes > kProbesMax) {
    return Fail(Code::kMalformed,
                "payload: k is " + std::to_string(probes) + "; a Bloom filter sets 1 to 32 bits an item");
  }
  return BloomView(probes, payload.substr(1));
}

bool BloomView::MightContain(Fingerprint fingerprint) const {
  return bloom::AllSet(HashOf(fingerprint), probes_, PlacesIn(bits_.size()), IsSet{bits_.data()}) != 0;
}

void BloomView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                 std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  kTestEach[probes_ - 1](bits_, fingerprints, answers.data());
}

size_t BloomFilter::PayloadBytes(size_t count, double rate) {
  return 1 + size_t{bloom::SizeFor(count, rate, 8).place_bytes};
}

void BloomFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  const bloom::Size size = bloom::SizeFor(fingerprints.size(), rate, 8);
  const size_t at = out.size();
  out += static_cast<char>(size.probes);
  out.resize(at + 1 + size.place_bytes);
  Insert(fingerprints, std::span(out).subspan(at));
}

void BloomFilter::Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload) {
  const uint32_t probes = static_cast<uint8_t>(payload[0]);
  const std::span<char> bits = payload.subspan(1);
  const uint32_t places = PlacesIn(bits.size());
  for (const Fingerprint fingerprint : fingerprints) {
    const uint64_t hash = HashOf(fingerprint);
    for (uint32_t probe = 0; probe < probes; ++probe) {
      const uint32_t place = bloom::Place(hash, probe, places);
      bits[place / 8] = static_cast<char>(static_cast<uint8_t>(bits[place / 8]) | 1U << (place % 8));
    }
  }
}

}  // namespace seen
