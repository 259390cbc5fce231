// Which code is best for a day's fingerprints? Compares Golomb-Rice, as stored, with the usual codes for
// sorted integers. Argument: fingerprints in a code. `item`: time to decode one. `bits`: size of one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "model/rice.h"
#include "users.h"

namespace seen::micro {
namespace {

constexpr size_t kSets = 256;  // decoded in turn, so that the branch predictor can't learn them
constexpr size_t kSlack = 16;  // readable bytes after a code

std::vector<std::vector<Fingerprint>> Sets(size_t count) {
  std::mt19937_64 random(5);
  std::vector<std::vector<Fingerprint>> sets(kSets);
  for (auto& set : sets) {
    for (size_t i = 0; i < count; ++i) set.push_back({static_cast<uint32_t>(random())});
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  return sets;
}

// Each code has Append(values, out) and Decode(bytes, count, to).

struct Rice {
  static void Append(std::span<const Fingerprint> values, std::string& out) {
    const uint32_t parameter = RiceParameter(values.size(), values.back().value);
    out.push_back(static_cast<char>(parameter));
    RiceEncode(values, parameter, out);
  }
  static void Decode(std::string_view bytes, size_t count, Fingerprint* to) {
    const RiceCode code{bytes.substr(1), static_cast<uint32_t>(count), static_cast<uint32_t>(bytes[0]),
                        kSlack};
    if (!RiceDecode({&code, 1}, to)) std::abort();
  }
};

// Gaps of 7 bits a byte (LEB128).
struct Varint {
  static void Append(std::span<const Fingerprint> values, std::string& out) {
    uint32_t last = 0;
    for (const Fingerprint value : values) {
      uint32_t gap = value.value - last;
      last = value.value;
      for (; gap >= 128; gap >>= 7) out.push_back(static_cast<char>(gap | 128));
      out.push_back(static_cast<char>(gap));
    }
  }
  static void Decode(std::string_view bytes, size_t count, Fingerprint* to) {
    const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) {
      uint32_t gap = 0;
      for (int shift = 0;; shift += 7) {
        gap |= uint32_t{*at & 127u} << shift;
        if (*at++ < 128) break;
      }
      to[i].value = value += gap;
    }
  }
};

// Gaps of 1 to 4 bytes. One byte before each four gaps has their lengths (Dean 2009, "Challenges in Building
// Large-Scale Information Retrieval Systems"). Without vector instructions.
struct GroupVarint {
  static void Append(std::span<const Fingerprint> values, std::string& out) {
    uint32_t last = 0;
    for (size_t i = 0; i < values.size(); i += 4) {
      const size_t head = out.size();
      out.push_back(0);
      for (size_t j = i; j < std::min(i + 4, values.size()); ++j) {
        const uint32_t gap = values[j].value - last;
        last = values[j].value;
        const auto length = std::max(1u, (static_cast<unsigned>(std::bit_width(gap)) + 7) / 8);
        out[head] = static_cast<char>(static_cast<uint8_t>(out[head]) | (length - 1) << 2 * (j - i));
        out.append(reinterpret_cast<const char*>(&gap), length);
      }
    }
  }
  static void Decode(std::string_view bytes, size_t count, Fingerprint* to) {
    constexpr std::array<uint32_t, 4> kMask = {0xff, 0xffff, 0xffffff, 0xffffffff};
    const char* at = bytes.data();
    uint32_t value = 0;
    for (size_t i = 0; i < count; i += 4) {
      auto lengths = static_cast<uint8_t>(*at++);
      for (size_t j = i; j < std::min(i + 4, count); ++j, lengths >>= 2) {
        uint32_t gap;
        std::memcpy(&gap, at, 4);
        to[j].value = value += gap & kMask[lengths & 3];
        at += (lengths & 3) + 1;
      }
    }
  }
};

// The low bits of each value are in one array, the upper bits in another array in unary (Elias 1974, Fano
// 1971; Vigna 2013, "Quasi-Succinct Indices", section 3). It would allow random access without decoding.
struct EliasFano {
  static uint32_t LowBits(size_t count) { return 32 - static_cast<uint32_t>(std::bit_width(count)); }
  static size_t LowBytes(size_t count) { return (count * LowBits(count) + 7) / 8; }
  static void Append(std::span<const Fingerprint> values, std::string& out) {
    const uint32_t low = LowBits(values.size());
    const size_t from = out.size(), lower = LowBytes(values.size());
    const size_t upper = ((uint64_t{values.back().value} >> low) + values.size() + 7) / 8;
    out.append(lower + upper + 8, '\0');
    for (size_t i = 0; i < values.size(); ++i) {
      char* const word = out.data() + from + i * low / 8;
      uint64_t bits;
      std::memcpy(&bits, word, 8);
      bits |= (values[i].value & ((uint64_t{1} << low) - 1)) << i * low % 8;
      std::memcpy(word, &bits, 8);
    }
    std::string unary(upper, '\0');
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t bit = (uint64_t{values[i].value} >> low) + i;
      unary[bit / 8] = static_cast<char>(unary[bit / 8] | 1 << bit % 8);
    }
    out.resize(from + lower);
    out += unary;
  }
  static void Decode(std::string_view bytes, size_t count, Fingerprint* to) {
    const uint32_t low = LowBits(count);
    const uint64_t mask = (uint64_t{1} << low) - 1;
    const char* at = bytes.data() + LowBytes(count);
    uint64_t bits;
    std::memcpy(&bits, at, 8);
    for (uint64_t i = 0, base = 0; i < count; ++i) {
      while (bits == 0) {
        std::memcpy(&bits, at += 8, 8);
        base += 64;
      }
      const uint64_t upper = base + static_cast<uint64_t>(std::countr_zero(bits)) - i;
      bits &= bits - 1;
      uint64_t lower;
      std::memcpy(&lower, bytes.data() + i * low / 8, 8);
      to[i].value = static_cast<uint32_t>(upper << low | (lower >> i * low % 8 & mask));
    }
  }
};

template <typename Code>
void Decode(benchmark::State& state) {
  const auto sets = Sets(static_cast<size_t>(state.range(0)));
  std::vector<std::string> codes(kSets);
  std::vector<Fingerprint> to(static_cast<size_t>(state.range(0)));
  double bytes = 0, items = 0;
  for (size_t i = 0; i < kSets; ++i) {
    Code::Append(sets[i], codes[i]);
    bytes += static_cast<double>(codes[i].size());
    items += static_cast<double>(sets[i].size());
    const size_t length = codes[i].size();
    codes[i].append(kSlack, '\0');
    Code::Decode({codes[i].data(), length}, sets[i].size(), to.data());
    if (!std::equal(sets[i].begin(), sets[i].end(), to.begin())) return state.SkipWithError("wrong values");
  }
  size_t next = 0;
  for (auto _ : state) {
    const size_t i = next++ % kSets;
    Code::Decode({codes[i].data(), codes[i].size() - kSlack}, sets[i].size(), to.data());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.counters["item"] = benchmark::Counter(
      items / kSets, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["bits"] = 8 * bytes / items;
}

// The daemon reads a user's days like this: three codes side by side.
void DecodeRiceByThree(benchmark::State& state) {
  const auto sets = Sets(static_cast<size_t>(state.range(0)));
  std::vector<std::string> bytes(kSets);
  std::vector<RiceCode> codes(kSets);
  std::vector<Fingerprint> to(3 * static_cast<size_t>(state.range(0)));
  for (size_t i = 0; i < kSets; ++i) {
    Rice::Append(sets[i], bytes[i]);
    const size_t length = bytes[i].size();
    bytes[i].append(kSlack, '\0');
    codes[i] = {std::string_view(bytes[i]).substr(1, length - 1), static_cast<uint32_t>(sets[i].size()),
                static_cast<uint32_t>(bytes[i][0]), kSlack};
  }
  size_t next = 0;
  for (auto _ : state) {
    next = next + 6 <= kSets ? next + 3 : 0;
    if (!RiceDecode(std::span(codes).subspan(next, 3), to.data())) std::abort();
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.counters["item"] =
      benchmark::Counter(static_cast<double>(3 * state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(DecodeRiceByThree)->Arg(3)->Arg(100)->Arg(3000);
BENCHMARK_TEMPLATE(Decode, Rice)->Arg(3)->Arg(100)->Arg(3000);
BENCHMARK_TEMPLATE(Decode, EliasFano)->Arg(3)->Arg(100)->Arg(3000);
BENCHMARK_TEMPLATE(Decode, GroupVarint)->Arg(3)->Arg(100)->Arg(3000);
BENCHMARK_TEMPLATE(Decode, Varint)->Arg(3)->Arg(100)->Arg(3000);

}  // namespace
}  // namespace seen::micro
