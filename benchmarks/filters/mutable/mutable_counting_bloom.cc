#include "filters/mutable/mutable_counting_bloom.h"

#include <algorithm>

#include "filter/bloom.h"

namespace seen {
namespace {

constexpr uint32_t kCounterMax = 15;

uint32_t Counter(const std::string& payload, uint32_t place) {
  return uint32_t{static_cast<uint8_t>(payload[1 + place / 2])} >> (4 * (place % 2)) & kCounterMax;
}

}  // namespace

MutableCountingBloom::MutableCountingBloom(size_t count, double rate) {
  const bloom::Size size = bloom::SizeFor(count, rate, 2);
  payload_ += static_cast<char>(size.probes);
  payload_.resize(1 + size.place_bytes);
}

bool MutableCountingBloom::Remove(Fingerprint fingerprint) {
  const bloom::DifferentPlaces places(HashOf(fingerprint), static_cast<uint8_t>(payload_[0]),
                                      static_cast<uint32_t>(2 * (payload_.size() - 1)));
  for (const uint32_t place : places) {
    if (Counter(payload_, place) == 0) return false;
  }
  for (const uint32_t place : places) {
    if (Counter(payload_, place) == kCounterMax) continue;
    char& pair = payload_[1 + place / 2];
    pair = static_cast<char>(static_cast<uint8_t>(pair) - (1 << (4 * (place % 2))));
  }
  return true;
}

Status MutableCountingBloom::Merge(const MutableCountingBloom& other) {
  if (payload_[0] != other.payload_[0] || payload_.size() != other.payload_.size()) {
    const auto name = [](const std::string& payload) {
      return std::to_string(payload[0]) + " probes of " + std::to_string(2 * (payload.size() - 1)) +
             " counters";
    };
    return Fail(Code::kInvalidArgument,
                "merge: " + name(other.payload_) + " into " + name(payload_) + "; both must have as many");
  }
  const auto sum = [](uint32_t a, uint32_t b) { return std::min((a & 15) + (b & 15), kCounterMax); };
  for (size_t i = 1; i < payload_.size(); ++i) {
    const uint32_t a = static_cast<uint8_t>(payload_[i]);
    const uint32_t b = static_cast<uint8_t>(other.payload_[i]);
    payload_[i] = static_cast<char>(sum(a, b) | sum(a >> 4, b >> 4) << 4);
  }
  return {};
}

}  // namespace seen
