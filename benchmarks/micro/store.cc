// From a user in RocksDB to a finished snapshot, and to an answered question. This is the cost of RenderUser
// and `unseen` without HTTP, if the tail has nothing of the user. Users have 30 days x 100 items. `operands`:
// how many more checkpoints RocksDB hasn't merged yet, each of three items of the last day.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "filter/snapshot.h"
#include "flow/user_rows.h"
#include "model/delta_seen.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"
#include "users.h"

namespace seen::micro {
namespace {

constexpr uint64_t kUsers = 5'000;  // 54 MB
constexpr int32_t kDays = 30;

class Stored {
 public:
  explicit Stored(int64_t operands) {
    std::string path = (std::filesystem::temp_directory_path() / "seen-micro-XXXXXX").string();
    path_ = ::mkdtemp(path.data());
    directory_ = std::move(*StoreDirectory::Open(path_));
    store_ = std::move(*RocksPartitionStore::Open(
        {path_, {"t", 0, 1, "murmur2"}, {{"default", 30, {}}}, StoreResources(256 << 20, 1)}));
    Commit(1, [](uint64_t number) { return RandomUser(number, kDays, 100); });
    if (!store_->CompactAll()) std::abort();
    for (int64_t i = 0; i < operands; ++i) {
      Commit(2 + i, [&](uint64_t number) {
        std::mt19937_64 random(number * 1'000 + static_cast<uint64_t>(i));
        Delta delta;
        delta.user_id = "user-" + std::to_string(number);
        delta.segments.push_back(RandomDay(random, kFirstDay + kDays - 1, 3));
        return delta;
      });
    }
  }
  ~Stored() {
    store_.reset();
    directory_.reset();
    std::filesystem::remove_all(path_);
  }

  void Read(uint64_t number, SeenReader& reader) const {
    if (!store_->ReadDelta(RefOf(number % kUsers), bytes_)) std::abort();
    if (!reader.Read(bytes_, {}, {}, {})) std::abort();
  }

 private:
  template <typename Make>
  void Commit(int64_t offset, Make make) {
    std::map<UserRef, uint64_t> users;
    for (uint64_t number = 0; number < kUsers; ++number) users[RefOf(number)] = number;
    Position position;
    position.next_offset = offset;
    auto writer = store_->BeginCheckpoint(position);
    if (!writer) std::abort();
    for (const auto& [user, number] : users) {
      if (!(*writer)->AddDelta(user, Encoded(make(number)))) std::abort();
    }
    if (!(*writer)->Commit()) std::abort();
  }

  std::string path_;
  std::unique_ptr<StoreDirectory> directory_;
  std::unique_ptr<RocksPartitionStore> store_;
  mutable std::string bytes_;
};

void RenderStoredUser(benchmark::State& state) {
  const Stored stored(state.range(0));
  SeenReader reader;
  std::string snapshot;
  uint64_t number = 0;
  for (auto _ : state) {
    stored.Read(number += 7, reader);
    RenderSnapshot({}, {}, {reader.seen().values(), {}}, snapshot);
    benchmark::DoNotOptimize(snapshot.data());
  }
}
BENCHMARK(RenderStoredUser)->ArgName("operands")->Arg(0)->Arg(1)->Arg(3);

// Snapshots of each kind at 1%, numbered as in schemas/snapshot.md. 0: the kind with the fewest bytes.
void RenderStoredUserAs(benchmark::State& state) {
  const Stored stored(0);
  const SnapshotShape shape{static_cast<SnapshotFormat>(state.range(0)), 0.01, false};
  SeenReader reader;
  ItemsByDay by_day;
  std::string snapshot;
  uint64_t number = 0;
  for (auto _ : state) {
    stored.Read(number += 7, reader);
    SnapshotItems items{reader.seen().values(), {}};
    if (NeedsDays(shape.format)) items.days = by_day.Group(*reader.Ends(), DayBy::kWindow);
    RenderSnapshot(shape, {}, items, snapshot);
    benchmark::DoNotOptimize(snapshot.data());
  }
  state.SetLabel(std::string(SnapshotFormatName(shape.format)) + ", " + std::to_string(snapshot.size()) +
                 " bytes");
}
BENCHMARK(RenderStoredUserAs)->ArgName("kind")->DenseRange(0, kSnapshotFormatCount - 1);

void AskForCandidates(benchmark::State& state) {
  const Stored stored(0);
  std::vector<std::string> candidates;
  for (int64_t i = 0; i < state.range(0); ++i) candidates.push_back("item-" + std::to_string(i * 7919));
  std::vector<Fingerprint> fingerprints;
  std::vector<uint8_t> answers(candidates.size());
  SeenReader reader;
  uint64_t number = 0;
  for (auto _ : state) {
    stored.Read(number += 7, reader);
    fingerprints.clear();
    for (const std::string& id : candidates) fingerprints.push_back(FingerprintOf(id));
    reader.seen().ContainsEach(fingerprints, answers);
    benchmark::DoNotOptimize(answers.data());
  }
}
BENCHMARK(AskForCandidates)->ArgName("candidates")->Arg(2'000)->Arg(10'000);

}  // namespace
}  // namespace seen::micro
