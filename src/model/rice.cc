#include "model/rice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace seen {
namespace {

static_assert(std::endian::native == std::endian::little, "the codec loads and stores little-endian words");

constexpr uint32_t kQuotientMax = 24;  // with its one and 31 low bits, it fits the 57 bits of a window

constexpr uint64_t kQuotientBits = (uint64_t{1} << (kQuotientMax + 1)) - 1;

// The state of decoding one code.
struct Lane {
  std::string_view bytes;
  const char* readable_end = nullptr;
  uint64_t whole_words = 0;  // eight bytes may be read from each bit below it
  uint64_t bits = 0;
  uint64_t mask = 0;
  uint32_t parameter = 0;
  uint32_t left = 0;
  uint64_t at = 0;    // in bits
  uint64_t next = 0;  // the smallest value that may follow
  Fingerprint* to = nullptr;

  Lane() = default;
  Lane(const RiceCode& code, Fingerprint* out)
      : bytes(code.bytes),
        readable_end(code.bytes.data() + code.bytes.size() + code.slack),
        bits(uint64_t{code.bytes.size()} * 8),
        mask((uint64_t{1} << code.parameter) - 1),
        parameter(code.parameter),
        left(code.count),
        to(out) {
    const size_t readable = code.bytes.size() + code.slack;
    if (readable >= 8) whole_words = (readable - 7) * 8;
  }

  // At least 57 bits, from the current bit on. Past the end they are whatever stands there, or zeros.
  uint64_t Window() const {
    uint64_t word = 0;
    if (at < bits) {
      const char* from = bytes.data() + (at >> 3);
      std::memcpy(&word, from, std::min<size_t>(8, static_cast<size_t>(readable_end - from)));
    }
    return word >> (at & 7);
  }

  // Decodes one value in any case: also at the end of the readable bytes, and after a long run of zeros.
  void Step() {
    uint64_t window = Window();
    uint64_t quotient = 0;
    while ((window & kQuotientBits) == 0) {
      quotient += kQuotientMax + 1;
      at += kQuotientMax + 1;
      if (at >= bits || quotient > UINT32_MAX >> parameter) return Fail();
      window = Window();
    }
    const auto zeros = static_cast<uint32_t>(std::countr_zero(window));
    quotient += zeros;
    const uint64_t value = next + ((quotient << parameter) | ((window >> zeros >> 1) & mask));
    at += zeros + 1 + parameter;
    next = value + 1;
    *to++ = {static_cast<uint32_t>(value)};
  }
  void Fail() {
    at = bits + 8;  // past the end for good: Ended is false from now on
    *to++ = {};
  }

  // For a lane with nothing left: whether its code was exact. Values ascend, so checking the last one checks
  // all.
  bool Ended() const {
    if (next > uint64_t{1} << 32 || at > bits || bits - at >= 8) return false;
    return (at & 7) == 0 || static_cast<unsigned char>(bytes.back()) >> (at & 7) == 0;
  }
};

// A value starts where the one before ends, and finding that out takes some ten cycles. So three codes at a
// time cost little more than one. More lanes don't fit the registers.
constexpr size_t kSideBySide = 3;

// Decodes `rounds` values of each lane, with the changing state in registers. Step decodes values that aren't
// plain.
template <size_t kLanes>
void Run(std::span<Lane, kLanes> lanes, uint32_t rounds) {
  for (Lane& lane : lanes) lane.left -= rounds;
  while (rounds > 0) {
    std::array<uint64_t, kLanes> at;
    std::array<uint64_t, kLanes> next;
    std::array<const char*, kLanes> from;
    std::array<Fingerprint*, kLanes> to;
#pragma GCC unroll 4
    for (size_t i = 0; i < kLanes; ++i) {
      at[i] = lanes[i].at;
      next[i] = lanes[i].next;
      from[i] = lanes[i].bytes.data();
      to[i] = lanes[i].to;
    }
    uint32_t done = 0;
    for (; done < rounds; ++done) {
      std::array<uint64_t, kLanes> window;
      bool plain = true;
#pragma GCC unroll 4
      for (size_t i = 0; i < kLanes; ++i) plain &= at[i] < lanes[i].whole_words;
      if (!plain) break;
#pragma GCC unroll 4
      for (size_t i = 0; i < kLanes; ++i) {
        std::memcpy(&window[i], from[i] + (at[i] >> 3), 8);
        window[i] >>= at[i] & 7;
        plain &= (window[i] & kQuotientBits) != 0;
      }
      if (!plain) break;
#pragma GCC unroll 4
      for (size_t i = 0; i < kLanes; ++i) {
        const auto zeros = static_cast<uint64_t>(std::countr_zero(window[i])) & 63;  // the window isn't zero
        const uint64_t low = (window[i] >> zeros >> 1) & lanes[i].mask;
        const uint64_t value = next[i] + ((zeros << lanes[i].parameter) | low);
        at[i] += zeros + 1 + lanes[i].parameter;
        next[i] = value + 1;
        to[i][done] = {static_cast<uint32_t>(value)};
      }
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i].at = at[i];
      lanes[i].next = next[i];
      lanes[i].to = to[i] + done;
    }
    rounds -= done;
    if (rounds == 0) break;
    for (Lane& lane : lanes) lane.Step();
    --rounds;
  }
}

bool Complete(Lane& lane) {
  Run(std::span<Lane, 1>(&lane, 1), lane.left);
  return lane.Ended();
}

}  // namespace

uint32_t RiceParameter(uint64_t count, uint32_t largest) {
  // 1 + floor(log2(ln(golden ratio) * mean gap)), in integers.
  const uint64_t scaled = (static_cast<uint64_t>(largest) + 1) * 4812 / (count * 10'000);
  return static_cast<uint32_t>(std::bit_width(scaled));
}

size_t RiceBytes(std::span<const Fingerprint> values, uint32_t parameter) {
  uint64_t bits = values.size() * (uint64_t{parameter} + 1) + (values.front().value >> parameter);
  for (size_t i = 1; i < values.size(); ++i) {
    bits += (values[i].value - values[i - 1].value - 1) >> parameter;
  }
  return (bits + 7) / 8;
}

void RiceEncode(std::span<const Fingerprint> values, uint32_t parameter, std::string& out) {
  const size_t before = out.size();
  // The greatest length: the quotients add up to at most the largest value's quotient. Each store writes a
  // whole word.
  const uint64_t bits_max = values.size() * (uint64_t{parameter} + 1) + (values.back().value >> parameter);
  out.resize(before + bits_max / 8 + 1 + 8);
  char* to = out.data() + before;
  uint64_t pending = 0;
  uint32_t used = 0;
  const auto store = [&] {
    std::memcpy(to, &pending, 8);
    to += used >> 3;
    pending >>= used & ~7u;
    used &= 7;
  };
  uint32_t next = 0;  // the smallest value that may follow
  for (const Fingerprint fingerprint : values) {
    const uint32_t gap = fingerprint.value - next;
    uint32_t quotient = gap >> parameter;
    for (; quotient > kQuotientMax; quotient -= kQuotientMax) {
      used += kQuotientMax;
      store();
    }
    const uint64_t low = gap & ((uint64_t{1} << parameter) - 1);
    pending |= ((low << 1 | 1) << quotient) << used;
    used += quotient + 1 + parameter;
    store();
    next = fingerprint.value + 1;
  }
  std::memcpy(to, &pending, 8);
  to += used > 0 ? 1 : 0;
  out.resize(static_cast<size_t>(to - out.data()));
}

bool RiceDecode(std::span<const RiceCode> codes, Fingerprint* to) {
  if (!std::all_of(codes.begin(), codes.end(), [](const RiceCode& code) { return code.Plausible(); })) {
    return false;
  }
  auto code = codes.begin();
  const auto start = [&] {
    const Lane lane(*code, to);
    to += code++->count;
    return lane;
  };
  if (codes.size() >= kSideBySide) {
    std::array<Lane, kSideBySide> lanes;
    for (Lane& lane : lanes) lane = start();
    for (;;) {
      const auto first = std::min_element(lanes.begin(), lanes.end(),
                                          [](const Lane& a, const Lane& b) { return a.left < b.left; });
      Run(std::span(lanes), first->left);
      if (!first->Ended()) return false;
      if (code == codes.end()) break;
      *first = start();
    }
    for (Lane& lane : lanes) {
      if (!Complete(lane)) return false;
    }
  }
  while (code != codes.end()) {
    Lane lane = start();
    if (!Complete(lane)) return false;
  }
  return true;
}

}  // namespace seen
