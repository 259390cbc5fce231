// Deltas: decoding, encoding, composing, and from bytes to a rendered filter. Arguments: days, items a day.
// `item` is the time for one fingerprint of the result.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "filter/snapshot.h"
#include "model/delta_fold.h"
#include "model/delta_seen.h"
#include "users.h"

namespace seen::micro {
namespace {

constexpr size_t kUsers = 64;

int32_t Days(const benchmark::State& state) { return static_cast<int32_t>(state.range(0)); }
size_t ItemsADay(const benchmark::State& state) { return static_cast<size_t>(state.range(1)); }

void CountItems(benchmark::State& state) {
  const double items = static_cast<double>(state.range(0) * state.range(1));
  state.counters["item"] =
      benchmark::Counter(items, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({30, 100})->Args({30, 10})->Args({1, 100})->Args({1, 3});
}

void DecodeDelta(benchmark::State& state) {
  const auto users = EncodedUsers(kUsers, Days(state), ItemsADay(state));
  size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(seen::DecodeDelta(users[next++ % kUsers]));
  CountItems(state);
}
BENCHMARK(DecodeDelta)->Apply(Shapes);

void EncodeDelta(benchmark::State& state) {
  const Delta delta = RandomUser(1, Days(state), ItemsADay(state));
  std::string bytes;
  for (auto _ : state) {
    bytes.clear();
    seen::EncodeDelta(delta, bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  CountItems(state);
}
BENCHMARK(EncodeDelta)->Apply(Shapes);

// Merges an encoded value and an encoded operand of three items of its last day, as a merge in RocksDB does.
void MergeAnOperand(benchmark::State& state) {
  const auto users = EncodedUsers(kUsers, Days(state), ItemsADay(state));
  Delta operand;
  operand.user_id = "user-1";
  std::mt19937_64 random(99);
  operand.segments.push_back(RandomDay(random, kFirstDay + Days(state) - 1, 3));
  const std::string encoded = Encoded(operand);
  std::string out;
  size_t next = 0;
  for (auto _ : state) {
    const std::string_view parts[] = {users[next++ % kUsers], encoded};
    benchmark::DoNotOptimize(FoldEncoded(parts, {}, Horizon::Of({kFirstDay - 1}), out));
  }
  CountItems(state);
}
BENCHMARK(MergeAnOperand)->Apply(Shapes);

void RenderFingerprints(benchmark::State& state) {
  const auto seen = SeenFingerprints(RandomUser(1, Days(state), ItemsADay(state)), {0}, 10'000);
  std::string bytes;
  for (auto _ : state) {
    RenderSnapshot({}, {}, {seen, {}}, bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  CountItems(state);
}
BENCHMARK(RenderFingerprints)->Apply(Shapes);

// From an encoded delta to the set of items that count.
void ReadSeen(benchmark::State& state) {
  const auto users = EncodedUsers(kUsers, Days(state), ItemsADay(state));
  SeenReader reader;
  size_t next = 0;
  for (auto _ : state) {
    if (!reader.Read(users[next++ % kUsers], {}, {}, {})) std::abort();
    benchmark::DoNotOptimize(reader.seen().size());
  }
  CountItems(state);
}
BENCHMARK(ReadSeen)->Apply(Shapes);

// Expiry of a value that stays as it is, and of a value whose first day expires.
void ExpireDelta(benchmark::State& state) {
  const auto users = EncodedUsers(kUsers, Days(state), ItemsADay(state));
  const Horizon horizon = Horizon::Of({kFirstDay + static_cast<int32_t>(state.range(2))});
  std::string out;
  size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ExpireEncoded(users[next++ % kUsers], horizon, out));
  CountItems(state);
}
BENCHMARK(ExpireDelta)->Args({30, 100, 0})->Args({30, 100, 1});

// From an encoded delta to a finished snapshot, without RocksDB.
void RenderDelta(benchmark::State& state) {
  const auto users = EncodedUsers(kUsers, Days(state), ItemsADay(state));
  SeenReader reader;
  size_t next = 0;
  std::string bytes;
  for (auto _ : state) {
    if (!reader.Read(users[next++ % kUsers], {}, {}, {})) std::abort();
    RenderSnapshot({}, {}, {reader.seen().values(), {}}, bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  CountItems(state);
}
BENCHMARK(RenderDelta)->Apply(Shapes);

}  // namespace
}  // namespace seen::micro
