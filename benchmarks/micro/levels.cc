// Writes hours of checkpoints to a partition's state, as fast as the disk takes them. Shows what RocksDB
// writes and reads for them, with any of its options. Random users come in sessions: 20 events within five
// minutes.
//
//   bench_levels directory=DIR [users=166000] [days=30] [items_a_day=100] [rate=4167] [checkpoints=360]
//                [seconds=10] [cache_mib=64] [bucket_days=30]
//                [options="max_bytes_for_level_base=33554432;..."]
//
// bucket_days: a user has one row for so many days, and rows are in the order of their days first. So the
// rows of old days aren't rewritten beside those of today, and a read of a user reads all of the user's rows.
//
// Prints a line of key=value. The CPU includes that of making the events. Between two checkpoints, it waits
// for compactions, because a live daemon has the time for them.
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/statistics.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "common/arguments.h"
#include "micro/users.h"
#include "rows/keys.h"
#include "store/rocks_options.h"

namespace {

using namespace seen;
using namespace seen::micro;
using bench::Die;
using SteadyClock = std::chrono::steady_clock;

void Must(const rocksdb::Status& status) {
  if (!status.ok()) Die(status.ToString());
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double CpuS() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

struct Session {
  uint64_t user;
  int events_left;
};

class Partition {
 public:
  /// `buckets`: each is a filter to RocksDB, because a filter's rows stand together.
  Partition(const std::string& directory, uint64_t cache_bytes, uint16_t buckets, const std::string& more)
      : resources_(cache_bytes, 1), rules_(std::make_shared<MergeRules>()), buckets_(buckets) {
    std::vector<StoredFilter> filters;
    for (uint16_t bucket = 0; bucket < buckets; ++bucket)
      filters.push_back({"bucket-" + std::to_string(bucket), 30, {}});
    rules_->Load(filters);
    options_ =
        RocksOptions(resources_, rocksdb::Env::Default(), rules_, std::make_shared<BackgroundErrors>(0), 0);
    rocksdb::Options made;
    Must(rocksdb::GetOptionsFromString(options_, more, &made));
    options_ = made;
    rocksdb::DB* db = nullptr;
    Must(rocksdb::DB::Open(options_, directory, &db));
    db_.reset(db);
    file_ = directory + "/incoming";
  }

  /// Writes a file with the deltas of `users` in some buckets, which `make` gives. Returns the bytes of the
  /// file.
  template <typename Make>
  uint64_t Write(const std::vector<uint64_t>& users, uint16_t from, uint16_t to, const Make& make) {
    std::map<UserRef, uint64_t> sorted;
    for (const uint64_t user : users) {
      for (uint16_t bucket = from; bucket < to; ++bucket) sorted[RefIn(bucket, user)] = user;
    }
    rocksdb::SstFileWriter file(rocksdb::EnvOptions(options_), options_);
    Must(file.Open(file_));
    for (const auto& [ref, user] : sorted) {
      const StoredUserKey key = KeyOf(Table::kDeltas, ref);
      Must(file.Merge(rocksdb::Slice(key.data(), key.size()), Encoded(make(ref.filter, user))));
    }
    Must(file.Finish());
    const uint64_t bytes = file.FileSize();
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    ingest.write_global_seqno = false;
    ingest.allow_blocking_flush = false;
    Must(db_->IngestExternalFile({file_}, ingest));
    return bytes;
  }

  void AwaitCompactions() {
    for (;;) {
      uint64_t running = 0, pending = 0;
      db_->GetIntProperty("rocksdb.num-running-compactions", &running);
      db_->GetIntProperty("rocksdb.compaction-pending", &pending);
      if (running == 0 && pending == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void Read(uint64_t user) {
    for (uint16_t bucket = 0; bucket < buckets_; ++bucket) {
      const StoredUserKey key = KeyOf(Table::kDeltas, RefIn(bucket, user));
      rocksdb::PinnableSlice value;
      const auto read = db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(),
                                 rocksdb::Slice(key.data(), key.size()), &value);
      if (!read.IsNotFound()) Must(read);
    }
  }

  uint64_t Ticker(rocksdb::Tickers ticker) const { return options_.statistics->getTickerCount(ticker); }
  std::string Levels() const {
    std::string text;
    for (int level = 0; level < options_.num_levels; ++level) {
      std::string files;
      db_->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &files);
      text += (level > 0 ? "," : "") + files;
    }
    return text;
  }
  uint64_t Bytes() const {
    uint64_t bytes = 0;
    db_->GetIntProperty("rocksdb.total-sst-files-size", &bytes);
    return bytes;
  }

 private:
  static UserRef RefIn(uint16_t bucket, uint64_t user) {
    UserRef ref = RefOf(user);
    ref.filter = FilterId(size_t{bucket});
    return ref;
  }

  StoreResources resources_;
  std::shared_ptr<MergeRules> rules_;
  uint16_t buckets_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::string file_;
};

/// Prints the blocks that a read of a user misses, and the time of a read in us. `users`: random ones, or
/// those of the last checkpoint.
void PrintReads(Partition& partition, const char* what, const std::vector<uint64_t>& users) {
  for (const uint64_t user : users) partition.Read(user);  // brings indexes and filters into the cache
  const uint64_t misses = partition.Ticker(rocksdb::BLOCK_CACHE_DATA_MISS);
  const auto begun = SteadyClock::now();
  for (const uint64_t user : users) partition.Read(user);
  const auto took = std::chrono::duration<double, std::micro>(SteadyClock::now() - begun).count();
  const auto count = static_cast<double>(users.size());
  std::printf(" %s_blocks=%.2f %s_us=%.1f", what,
              static_cast<double>(partition.Ticker(rocksdb::BLOCK_CACHE_DATA_MISS) - misses) / count, what,
              took / count);
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values);
  const auto users = static_cast<uint64_t>(arguments.Number("users", 166'000));
  const auto days = static_cast<int32_t>(arguments.Number("days", 30));
  const auto items_a_day = static_cast<size_t>(arguments.Number("items_a_day", 100));
  const auto rate = static_cast<uint64_t>(arguments.Number("rate", 4'167));
  const int64_t checkpoints = arguments.Number("checkpoints", 360);
  const auto seconds = static_cast<uint64_t>(arguments.Number("seconds", 10));
  const std::string directory = arguments.Text("directory");
  if (directory.empty()) Die("directory=DIR: where the state goes; it is emptied");
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto bucket_days = static_cast<int32_t>(arguments.Number("bucket_days", days));
  const auto buckets = static_cast<uint16_t>((days + bucket_days - 1) / bucket_days);
  Partition partition(directory, static_cast<uint64_t>(arguments.Number("cache_mib", 64)) << 20, buckets,
                      arguments.Text("options"));
  std::vector<uint64_t> all(users);
  for (uint64_t user = 0; user < users; ++user) all[user] = user;
  const uint64_t state = partition.Write(all, 0, buckets, [&](FilterId bucket, uint64_t user) {
    std::mt19937_64 its_own(user * buckets + bucket.number());
    Delta delta;
    delta.user_id = "user-" + std::to_string(user);
    const int32_t from = bucket.number() * bucket_days;
    for (int32_t day = from; day < std::min(days, from + bucket_days); ++day)
      delta.segments.push_back(RandomDay(its_own, kFirstDay + day, items_a_day));
    return delta;
  });

  std::mt19937_64 random(1);
  std::vector<Session> sessions(std::max<uint64_t>(1, rate * 300 / 20));
  for (Session& session : sessions) session = {random() % users, 1 + static_cast<int>(random() % 20)};
  uint64_t fed = 0, events = 0, fed_late = 0, compacted_late = 0;
  std::vector<uint64_t> lately;
  const double cpu = CpuS();
  for (int64_t checkpoint = 0; checkpoint < checkpoints; ++checkpoint) {
    if (checkpoint == checkpoints / 2) {
      fed_late = fed;
      compacted_late = partition.Ticker(rocksdb::COMPACT_WRITE_BYTES);
    }
    std::map<uint64_t, size_t> items;
    for (uint64_t event = 0; event < rate * seconds; ++event, ++events) {
      Session& session = sessions[random() % sessions.size()];
      ++items[session.user];
      if (--session.events_left == 0) session = {random() % users, 20};
    }
    std::vector<uint64_t> changed;
    for (const auto& [user, amount] : items) changed.push_back(user);
    fed +=
        partition.Write(changed, static_cast<uint16_t>(buckets - 1), buckets, [&](FilterId, uint64_t user) {
          Delta delta;
          delta.user_id = "user-" + std::to_string(user);
          delta.segments.push_back(RandomDay(random, kFirstDay + days - 1, items[user]));
          return delta;
        });
    if (checkpoint + 1 == checkpoints) lately.assign(changed.begin(), changed.end());
    partition.AwaitCompactions();
  }
  const uint64_t compacted = partition.Ticker(rocksdb::COMPACT_WRITE_BYTES);
  std::printf(
      "state=%llu events=%llu fed=%llu bytes_an_event=%.1f write_amplification=%.1f second_half=%.1f "
      "cpu_us_an_event=%.3f grown=%.3f levels=%s",
      static_cast<unsigned long long>(state), static_cast<unsigned long long>(events),
      static_cast<unsigned long long>(fed), static_cast<double>(fed) / static_cast<double>(events),
      1 + static_cast<double>(compacted) / static_cast<double>(fed),
      1 + static_cast<double>(compacted - compacted_late) / static_cast<double>(fed - fed_late),
      (CpuS() - cpu) / static_cast<double>(events) * 1e6,
      static_cast<double>(partition.Bytes()) / static_cast<double>(state), partition.Levels().c_str());
  std::vector<uint64_t> cold;
  for (int i = 0; i < 20'000; ++i) cold.push_back(random() % users);
  std::shuffle(lately.begin(), lately.end(), random);
  lately.resize(std::min<size_t>(lately.size(), 20'000));
  PrintReads(partition, "cold", cold);
  PrintReads(partition, "active", lately);
  std::printf("\n");
  std::filesystem::remove_all(directory);
  return 0;
}
