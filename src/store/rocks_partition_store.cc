#include "store/rocks_partition_store.h"

#include <rocksdb/statistics.h>

#include <algorithm>
#include <array>

#include "rocks/rocks_status.h"
#include "rows/position_codec.h"
#include "store/delta_cache.h"
#include "store/rocks_checkpoint_writer.h"
#include "store/rocks_database.h"

namespace seen {
namespace {

constexpr size_t kAtOnce = DeltaCache::kAtOnce;  // users of one MultiGet

uint64_t PropertyOf(rocksdb::DB& db, const std::string& name) {
  uint64_t value = 0;
  return db.GetIntProperty(name, &value) ? value : 0;
}

}  // namespace

RocksPartitionStore::RocksPartitionStore(std::unique_ptr<Database> database, uint64_t delta_cache_bytes)
    : database_(std::move(database)),
      cache_(std::make_unique<DeltaCache>(delta_cache_bytes, database_->rules())) {}
RocksPartitionStore::~RocksPartitionStore() = default;

Result<std::unique_ptr<RocksPartitionStore>> RocksPartitionStore::Open(StoreOptions options) {
  const uint64_t delta_cache_bytes = options.delta_cache_bytes;
  auto database = std::make_unique<Database>(std::move(options));
  if (Status opened = database->Open(); !opened) return Fail(opened.error());
  return std::unique_ptr<RocksPartitionStore>(
      new RocksPartitionStore(std::move(database), delta_cache_bytes));
}

const std::vector<FilterId>& RocksPartitionStore::filter_ids() const { return database_->filter_ids(); }
const std::vector<FilterId>& RocksPartitionStore::retired_filters() const {
  return database_->retired_filters();
}
const std::vector<RetiredTopic>& RocksPartitionStore::retired_topics() const {
  return database_->retired_topics();
}
const std::vector<uint8_t>& RocksPartitionStore::kind_numbers() const { return database_->kind_numbers(); }
const std::vector<std::vector<KindPolicy>>& RocksPartitionStore::past_kinds() const {
  return database_->past_kinds();
}

Result<std::optional<Position>> RocksPartitionStore::ReadPosition() const {
  PositionRows rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto row = database_->Read("can't read the position", PositionKeys()[i]);
    if (!row) return Fail(row.error());
    rows[i] = std::move(*row);
  }
  auto position = DecodePositionRows(rows);
  if (!position) return Fail(database_->About(position.error()));
  return position;
}

Result<std::string> RocksPartitionStore::ReadSweep() const {
  auto encoded = database_->Read("can't read the sweep's progress", SweepKey());
  if (!encoded) return Fail(encoded.error());
  return std::move(*encoded).value_or("");
}

Result<std::optional<Mark>> RocksPartitionStore::ReadMark(const UserRef& user) const {
  auto user_id = database_->Read("can't read a mark", View(KeyOf(Table::kMarks, user)));
  if (!user_id) return Fail(user_id.error());
  if (!*user_id) return std::optional<Mark>();
  return Mark{user, std::move(**user_id)};
}

Result<std::unique_ptr<CheckpointWriter>> RocksPartitionStore::BeginCheckpoint(const Position& position) {
  if (Status resumed = database_->Resume(); !resumed) return Fail(resumed.error());
  auto writer = std::make_unique<Writer>(*database_, *cache_);
  if (Status begun = writer->Begin(position); !begun) return Fail(begun.error());
  return writer;
}

Result<bool> RocksPartitionStore::ReadDelta(const UserRef& user, std::string& out) const {
  if (Status read = ReadDeltas({&user, 1}, {&out, 1}); !read) return Fail(read.error());
  return !out.empty();
}

Status RocksPartitionStore::ReadDeltas(std::span<const UserRef> users, std::span<std::string> out) const {
  for (size_t from = 0; from < users.size(); from += kAtOnce) {
    const uint64_t era = cache_->Era();
    std::array<size_t, kAtOnce> missing;
    size_t count = 0;
    const size_t to = std::min(from + kAtOnce, users.size());
    const uint32_t cached = cache_->GetEach(users.subspan(from, to - from), out.subspan(from, to - from));
    for (size_t i = from; i < to; ++i) {
      if (!(cached >> (i - from) & 1)) missing[count++] = i;
    }
    if (count == 0) continue;
    if (Status read = ReadFromDisk(users, std::span(missing).first(count), out); !read) return read;
    for (const size_t i : std::span(missing).first(count)) cache_->Offer(users[i], out[i], era);
  }
  return {};
}

// Reads the users at the indexes in `which`, kAtOnce at most.
Status RocksPartitionStore::ReadFromDisk(std::span<const UserRef> users, std::span<const size_t> which,
                                         std::span<std::string> out) const {
  const auto db = database_->UseOrFail("can't read users' state");
  if (!db) return Fail(db.error());
  std::array<StoredUserKey, kAtOnce> stored_keys;
  std::array<rocksdb::Slice, kAtOnce> keys;
  std::array<rocksdb::PinnableSlice, kAtOnce> values;
  std::array<rocksdb::Status, kAtOnce> read;
  for (size_t i = 0; i < which.size(); ++i) {
    stored_keys[i] = KeyOf(Table::kDeltas, users[which[i]]);
    keys[i] = rocksdb::Slice(stored_keys[i].data(), stored_keys[i].size());
  }
  (*db)->MultiGet(rocksdb::ReadOptions(), (*db)->DefaultColumnFamily(), which.size(), keys.data(),
                  values.data(), read.data());
  for (size_t i = 0; i < which.size(); ++i) {
    std::string& value = out[which[i]];
    value.clear();
    if (read[i].ok()) {
      value.assign(values[i].data(), values[i].size());
    } else if (!read[i].IsNotFound()) {
      return Fail(ToError(read[i], database_->What("can't read users' state")));
    }
  }
  return {};
}

void RocksPartitionStore::SetHorizon(FilterId filter, const Horizon& horizon) {
  Check(database_->rules().Knows(filter), "a horizon is set for a filter of the store");
  database_->rules().SetHorizon(filter, horizon);
}

uint32_t RocksPartitionStore::Level0Files() const {
  std::string value;
  const auto db = database_->Use();
  if (!db || !db->GetProperty("rocksdb.num-files-at-level0", &value)) return 0;
  return static_cast<uint32_t>(std::stoul(value));
}

StoreFigures RocksPartitionStore::Figures() const {
  const auto db = database_->Use();
  const rocksdb::Statistics& statistics = *database_->rocks_options().statistics;
  StoreFigures figures;
  if (!db) return figures;
  figures.bytes = PropertyOf(*db, rocksdb::DB::Properties::kLiveSstFilesSize);
  figures.level0_files = Level0Files();
  figures.compaction_pending_bytes =
      PropertyOf(*db, rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
  figures.block_cache_hits = statistics.getTickerCount(rocksdb::BLOCK_CACHE_HIT);
  figures.block_cache_misses = statistics.getTickerCount(rocksdb::BLOCK_CACHE_MISS);
  figures.delta_cache_bytes = cache_->bytes();
  figures.compaction_bytes_total = statistics.getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
  for (const auto& family : database_->families().All()) {
    figures.journal_bytes += family->Bytes();
    ++figures.journal_days;
  }
  return figures;
}

Status RocksPartitionStore::CompactAll() {
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  const auto db = database_->UseOrFail("compaction");
  if (!db) return Fail(db.error());
  rocksdb::Status compacted = (*db)->CompactRange(compact, nullptr, nullptr);
  for (const auto& family : database_->families().All()) {
    if (compacted.ok()) compacted = (*db)->CompactRange(compact, family->handle(), nullptr, nullptr);
  }
  return ToStatus(compacted, database_->What("compaction"));
}

}  // namespace seen
