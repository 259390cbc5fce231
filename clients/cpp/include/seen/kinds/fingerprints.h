#pragma once
// Kind 11: the exact set of fingerprints, as Golomb-Rice coded gaps. Source: Rice and Plaunt 1971.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/result.h"

namespace seen::client {

/// A view over the coded gaps, with an index of its own: 4 bits a fingerprint, made once by Parse, so that a
/// look-up decodes 31 gaps at most. The bytes must outlive it. Any thread.
class Fingerprints {
 public:
  /// Of nothing.
  Fingerprints() = default;

  /// O(count).
  static Parsed<Fingerprints> Parse(std::string_view payload) {
    if (payload.size() < kFieldsBytes) return internal::TooShort(kKind, payload.size(), kFieldsBytes);
    Fingerprints set;
    set.low_bits_ = static_cast<unsigned char>(payload[0]);
    set.count_ = internal::LoadU32(payload.data() + 1);
    set.rest_ = payload.substr(kFieldsBytes);
    if (set.low_bits_ > 31) return internal::OutOfRange(kKind, "k", set.low_bits_, "0 to 31");
    if (set.count_ > set.Bits() / (set.low_bits_ + 1)) {
      return internal::BadPayload(kKind, "count is " + std::to_string(set.count_) + ", more than " +
                                             std::to_string(set.rest_.size()) + " bytes of code can hold");
    }
    if (auto error = set.MakeIndex()) return *std::move(error);
    return set;
  }

  bool MightContain(Fingerprint fingerprint, std::uint64_t) const {
    const auto wanted = static_cast<std::uint32_t>(fingerprint);
    if (values_.empty() || wanted < values_[0]) return false;
    // The last sample that isn't above it; halved without a branch that could be guessed wrongly.
    std::size_t sample = 0;
    for (std::size_t left = values_.size(); left > 1;) {
      const std::size_t half = left / 2;
      sample += values_[sample + half] <= wanted ? half : 0;
      left -= half;
    }
    std::uint64_t value = values_[sample];
    std::uint64_t at = next_bits_[sample];
    const std::uint64_t left = std::min(count_ - sample * kEvery, kEvery);
    for (std::uint64_t i = 1; value < wanted && i < left; ++i) {
      const auto gap = NextGap(at);
      if (!gap) return false;
      value += 1 + *gap;
    }
    return value == wanted;
  }

 private:
  static constexpr std::string_view kKind = "fingerprints";
  static constexpr std::size_t kFieldsBytes = 5;
  static constexpr std::uint64_t kEvery = 16;
  static constexpr std::uint64_t kValueMax = 0xffffffffU;
  static constexpr unsigned kWindowBits = 56;
  static constexpr std::uint64_t kWindowMask = (std::uint64_t{1} << kWindowBits) - 1;

  std::uint64_t Bits() const { return 8 * std::uint64_t{rest_.size()}; }

  /// Reads the gap at bit `at` and moves behind it; nullopt: the code ends early, or the gap has more than 32
  /// bits.
  std::optional<std::uint64_t> NextGap(std::uint64_t& at) const {
    const auto first = static_cast<std::size_t>(at / 8);
    if (rest_.size() - first >= 8) {  // the ordinary case: all of the code in one word
      const std::uint64_t window = internal::LoadU64(rest_.data() + first) >> (at % 8) & kWindowMask;
      const unsigned zeros = window == 0 ? kWindowBits : internal::LowestBit(window);
      if (zeros + 1 + low_bits_ <= kWindowBits && zeros <= kValueMax >> low_bits_) {
        at += zeros + 1 + low_bits_;
        const std::uint64_t low = window >> (zeros + 1) & ((std::uint64_t{1} << low_bits_) - 1);
        return std::uint64_t{zeros} << low_bits_ | low;
      }
    }
    return NextLongGap(at);
  }

  std::optional<std::uint64_t> NextLongGap(std::uint64_t& at) const {
    std::uint64_t high = 0;
    for (;;) {
      if (at >= Bits()) return std::nullopt;
      const auto width = static_cast<unsigned>(std::min<std::uint64_t>(kWindowBits, Bits() - at));
      const std::uint64_t window = internal::BitsAt(rest_, at, width);
      if (window != 0) {
        high += internal::LowestBit(window);
        at += internal::LowestBit(window) + 1;
        break;
      }
      high += width;
      at += width;
    }
    if (high > kValueMax >> low_bits_ || Bits() - at < low_bits_) return std::nullopt;
    if (low_bits_ == 0) return high;
    const std::uint64_t low = internal::BitsAt(rest_, at, low_bits_);
    at += low_bits_;
    return high << low_bits_ | low;
  }

  std::optional<Error> MakeIndex() {
    values_.reserve(static_cast<std::size_t>((count_ + kEvery - 1) / kEvery));
    next_bits_.reserve(values_.capacity());
    std::uint64_t at = 0;
    std::uint64_t smallest = 0;  // that the next value can have
    for (std::uint64_t i = 0; i < count_; ++i) {
      const auto gap = NextGap(at);
      if (!gap || smallest + *gap > kValueMax) {
        return internal::BadPayload(kKind,
                                    "value " + std::to_string(i) + " of " + std::to_string(count_) +
                                        (gap ? " is beyond 32 bits" : " ends early or is beyond 32 bits"));
      }
      const std::uint64_t value = smallest + *gap;
      if (i % kEvery == 0) {
        values_.push_back(static_cast<std::uint32_t>(value));
        next_bits_.push_back(at);
      }
      smallest = value + 1;
    }
    if (internal::BytesForBits(at) != rest_.size()) {
      return internal::BadPayload(kKind, std::to_string(rest_.size()) + " bytes of code, its " +
                                             std::to_string(count_) + " values take " +
                                             std::to_string(internal::BytesForBits(at)));
    }
    if (at < Bits() && internal::BitsAt(rest_, at, static_cast<unsigned>(Bits() - at)) != 0) {
      return internal::BadPayload(kKind, "the padding isn't zero");
    }
    return std::nullopt;
  }

  std::string_view rest_;
  std::vector<std::uint32_t> values_;     // every 16th fingerprint
  std::vector<std::uint64_t> next_bits_;  // where the code of the one after it starts
  std::uint64_t count_ = 0;
  unsigned low_bits_ = 0;
};

}  // namespace seen::client
