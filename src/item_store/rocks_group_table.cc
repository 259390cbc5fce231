#include "item_store/rocks_group_table.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "base/log.h"
#include "decode/item_group_json.h"
#include "items/item_window.h"
#include "model/day.h"
#include "model/similar_fingerprint.h"
#include "rocks/listener.h"
#include "rocks/status.h"

namespace seen {
namespace {

using namespace group_rows;

constexpr size_t kMiB = 1024 * 1024;
constexpr size_t kPresenceKeysMin = 64 * 1024;
constexpr int64_t kFutureMax = kMsPerDay;  // an item's time beyond its record's by more isn't believed
constexpr auto kNever = std::numeric_limits<int64_t>::min();

// Of a row; before 1970 and after 2106 the nearest.
uint32_t SecondOf(std::string_view row) {
  const auto time = TimeOf(row);
  return time ? static_cast<uint32_t>(std::clamp<int64_t>(time->value / 1000, 0, UINT32_MAX)) : 0;
}

uint64_t PresenceKey(Fingerprint item) { return uint64_t{item.value} << 32; }

// Rows whose item has left the window.
class WindowFilter final : public rocksdb::CompactionFilter {
 public:
  explicit WindowFilter(const std::atomic<int64_t>& first_ms) : first_ms_(first_ms) {}
  const char* Name() const override { return "seen.groups.window"; }
  bool Filter(int /*level*/, const rocksdb::Slice& key, const rocksdb::Slice& value, std::string* /*changed*/,
              bool* /*is_changed*/) const override {
    if (!LeavesWithWindow(key.ToStringView())) return false;
    const auto time = TimeOf(value.ToStringView());
    return time && time->value < first_ms_.load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<int64_t>& first_ms_;
};

}  // namespace

struct RocksGroupTable::Impl {
  explicit Impl(GroupTableOptions given)
      : options(std::move(given)),
        env(options.file_system ? rocksdb::NewCompositeEnv(options.file_system) : nullptr),
        filter(first_ms),
        cache(options.memory_bytes * 7 / 8) {
    AddPresence(0);
  }
  ~Impl() {
    if (db) (void)db->Flush(rocksdb::FlushOptions());
  }

  rocksdb::Options RocksOptions() const {
    rocksdb::Options rocks;
    if (env) rocks.env = env.get();
    rocks.create_if_missing = true;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = options.resources.block_cache();
    // Some bytes an item, in memory: in the cache they are blocks of megabytes, of which a small one reads
    // and unpacks the same again for every item.
    table.cache_index_and_filter_blocks = false;
    table.enable_index_compression = false;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_size = 4096;
    table.checksum = rocksdb::kXXH3;
    table.format_version = 5;
    rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocks.compaction_filter = &filter;
    rocks.level_compaction_dynamic_level_bytes = true;
    rocks.periodic_compaction_seconds = 86'400;
    rocks.write_buffer_size = 8 * kMiB;
    rocks.max_write_buffer_number = 2;
    rocks.max_background_jobs = options.resources.background_threads() + 1;
    rocks.max_open_files = 128;
    rocks.stats_dump_period_sec = 0;
    rocks.stats_persist_period_sec = 0;
    rocks.info_log = MakeRocksLogger(kGroupTable);
    return rocks;
  }

  // kCorrupt: it isn't what we would have written; why is in the message.
  Status OpenRocks() {
    const auto files = options.file_system ? options.file_system : rocksdb::FileSystem::Default();
    const rocksdb::Status made = files->CreateDirIfMissing(options.path, rocksdb::IOOptions(), nullptr);
    if (!made.ok()) return ToStatus(made, "can't make " + options.path);
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(RocksOptions(), options.path, &opened);
    if (!status.ok()) return ToStatus(status, "can't open " + options.path);
    db.reset(opened);
    std::string stored;
    const rocksdb::Status read = db->Get(rocksdb::ReadOptions(), DescriptorKey(), &stored);
    if (!read.ok() && !read.IsNotFound()) return ToStatus(read, "can't read " + options.path);
    if (read.ok() && (stored.empty() || stored[0] != kFormat)) {
      return Fail(Code::kCorrupt, options.path + ": of another version");
    }
    const std::unique_ptr<rocksdb::Iterator> row(db->NewIterator(rocksdb::ReadOptions()));
    for (row->Seek(PositionKey(0)); row->Valid() && !LeavesWithWindow(row->key().ToStringView());
         row->Next()) {
      const auto position = DecodePosition(row->value().ToStringView());
      if (!position) return Fail(Code::kCorrupt, options.path + ": a position that isn't one");
      NoteNewest(position->newest);
    }
    if (!row->status().ok()) return ToStatus(row->status(), "can't read " + options.path);
    return BuildPresence();
  }

  template <typename Fill>
  Status Write(Fill fill) {
    rocksdb::WriteBatch batch;
    fill(batch);
    return WriteAll(&batch);
  }
  Status WriteAll(rocksdb::WriteBatch* batch) {
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    return ToStatus(db->Write(write, batch), "can't write " + options.path);
  }

  Result<std::optional<Position>> ReadPosition(int32_t partition) const {
    std::string value;
    const rocksdb::Status read = db->Get(rocksdb::ReadOptions(), PositionKey(partition), &value);
    if (read.IsNotFound()) return std::optional<Position>();
    if (!read.ok()) return Fail(ToError(read, "can't read " + options.path));
    const auto position = DecodePosition(value);
    if (!position) return Fail(Code::kCorrupt, options.path + ": a position that isn't one");
    return position;
  }

  void NoteNewest(TimeMs time) {
    newest = std::max(newest, time);
    if (newest.value <= kNever) return;
    first_ms.store(newest.value - KeptDays(options.window_days) * kMsPerDay, std::memory_order_relaxed);
  }
  bool InWindow(std::optional<TimeMs> time) const {
    return time && time->value >= first_ms.load(std::memory_order_relaxed);
  }

  void AddPresence(size_t keys) {
    const size_t keys_max = std::bit_floor(
        std::max<size_t>(options.memory_bytes / 8 / PresenceBits::kBytesAKey, PresenceBits::kKeysMin));
    const size_t wanted = std::min(std::bit_ceil(std::max(keys, kPresenceKeysMin)), keys_max);
    PresenceBits* const current = presence.load(std::memory_order_relaxed);
    const auto spare = std::find_if(all_presence.begin(), all_presence.end(), [&](const auto& bits) {
      return bits.get() != current && bits->keys_max() == wanted;
    });
    if (spare != all_presence.end()) {
      (*spare)->Clear();
      std::rotate(spare, spare + 1, all_presence.end());
    } else {
      all_presence.push_back(std::make_unique<PresenceBits>(wanted));
    }
  }

  // Of what is stored; whoever reads meanwhile goes on with the former one.
  Status BuildPresence() {
    size_t keys = 0;
    const auto each = [&](auto&& take) -> Status {
      rocksdb::ReadOptions read;
      read.fill_cache = false;
      const std::string from{static_cast<char>(group_rows::Table::kLikes)};
      const std::string to{static_cast<char>(group_rows::Table::kMember)};
      const rocksdb::Slice end(to);
      read.iterate_upper_bound = &end;
      const std::unique_ptr<rocksdb::Iterator> row(db->NewIterator(read));
      for (row->Seek(from); row->Valid(); row->Next()) {
        const std::string_view key = row->key().ToStringView();
        if (key.size() != 5 || !InWindow(TimeOf(row->value().ToStringView()))) continue;
        uint32_t value = 0;
        for (size_t i = 1; i < 5; ++i) value = value << 8 | static_cast<unsigned char>(key[i]);
        take(Fingerprint{value}, row->value().ToStringView());
      }
      return ToStatus(row->status(), "can't read " + options.path);
    };
    if (Status counted = each([&](Fingerprint, std::string_view) { ++keys; }); !counted) return counted;
    AddPresence(keys * 2);
    PresenceBits& bits = *all_presence.back();
    const Status added = each([&](Fingerprint item, std::string_view likes) {
      bits.Add(PresenceKey(item));
      Cache(item, likes, /*only_where_there_is_room=*/true);
    });
    if (!added) return added;
    present = keys;
    rebuild_at = std::max(bits.keys_max(), keys * 2);
    presence.store(&bits, std::memory_order_release);
    return {};
  }

  /// By the writer, who knows that the row is as it is stored.
  void Cache(Fingerprint item, std::string_view row, bool only_where_there_is_room) {
    const auto view = InWindow(TimeOf(row)) ? ParseLikes(row) : std::nullopt;
    if (!view || (only_where_there_is_room && !cache.HasRoom(item, view->count()))) return;
    LikeCache::Likes likes;
    for (size_t i = 0; i < view->count(); ++i) likes[i] = view->at(i);
    cache.Fill(item, cache.Begin(item), SecondOf(row), std::span(likes).first(view->count()));
  }

  void NoteError(const Error& error) const {
    errors_total.fetch_add(1, std::memory_order_relaxed);
    if (log_budget.Allow()) log::Error("the table of groups can't be read", {{"reason", error.message}});
  }

  const GroupTableOptions options;
  const std::unique_ptr<rocksdb::Env> env;
  std::atomic<int64_t> first_ms{kNever};  // items older than it have left
  const WindowFilter filter;
  TimeMs newest{kNever};
  LikeCache cache;
  std::vector<std::unique_ptr<PresenceBits>> all_presence;  // the writer's; readers may be in any
  std::atomic<PresenceBits*> presence{nullptr};
  size_t present = 0;  // about so many keys are in it
  size_t rebuild_at = 0;
  mutable std::atomic<uint64_t> disk_reads_total{0};
  mutable std::atomic<uint64_t> errors_total{0};
  mutable LogBudget log_budget;
  std::unique_ptr<rocksdb::DB> db;  // uses all of the above
};

RocksGroupTable::RocksGroupTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RocksGroupTable::~RocksGroupTable() = default;

Result<std::unique_ptr<RocksGroupTable>> RocksGroupTable::Open(GroupTableOptions options,
                                                               std::string* dropped) {
  auto impl = std::make_unique<Impl>(options);
  Status opened = impl->OpenRocks();
  if (!opened && opened.error().code == Code::kCorrupt) {
    if (dropped) *dropped = opened.error().message;
    const rocksdb::Options rocks = impl->RocksOptions();
    impl->db.reset();
    const rocksdb::Status gone = rocksdb::DestroyDB(options.path, rocks);
    if (!gone.ok()) return Fail(ToError(gone, "can't drop " + options.path));
    impl = std::make_unique<Impl>(std::move(options));
    opened = impl->OpenRocks();
  }
  if (!opened) return Fail(opened.error());
  if (impl->presence.load() == nullptr) impl->presence.store(impl->all_presence.back().get());
  return std::unique_ptr<RocksGroupTable>(new RocksGroupTable(std::move(impl)));
}

Result<bool> RocksGroupTable::Identify(std::string_view cluster, std::string_view topic, int32_t partitions) {
  Impl& impl = *impl_;
  const std::string wanted = DescriptorOf(cluster, topic, partitions);
  std::string stored;
  const rocksdb::Status read = impl.db->Get(rocksdb::ReadOptions(), DescriptorKey(), &stored);
  if (!read.ok() && !read.IsNotFound()) return Fail(ToError(read, "can't read " + impl.options.path));
  if (read.ok() && stored == wanted) return false;
  if (Status gone = Reset(); !gone) return Fail(gone.error());
  const Status written = impl.Write([&](rocksdb::WriteBatch& batch) { batch.Put(DescriptorKey(), wanted); });
  if (!written) return Fail(written.error());
  return read.ok();
}

Result<std::optional<RocksGroupTable::Position>> RocksGroupTable::PositionOf(int32_t partition) const {
  return impl_->ReadPosition(partition);
}

Status RocksGroupTable::Apply(int32_t partition, const Position& reached,
                              std::span<const GroupRecord> records) {
  Impl& impl = *impl_;
  rocksdb::WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
  std::vector<std::pair<Fingerprint, std::string>> changed;  // with their likes; none: alone, or look it up
  changed.reserve(records.size());
  PresenceBits& presence = *impl.presence.load(std::memory_order_relaxed);
  const auto read = [&](const std::string& key, std::string& value) {
    return batch.GetFromBatchAndDB(impl.db.get(), rocksdb::ReadOptions(), key, &value);
  };
  std::string stored;
  for (const GroupRecord& record : records) {
    const Fingerprint item = FingerprintOf(record.item_id);
    changed.emplace_back(item, std::string());
    const std::string key = RecordKey(item, record.item_id);
    const rocksdb::Status found = read(key, stored);
    if (!found.ok() && !found.IsNotFound()) return ToStatus(found, "can't read " + impl.options.path);
    if (found.ok()) {
      const auto before = ParseRecord(stored);
      if (before && before->group_id != record.item_id &&
          (record.group == nullptr || record.group->group_id != before->group_id)) {
        batch.Delete(MemberPrefix(before->group_id).append(record.item_id));
      }
    }
    if (record.group == nullptr) {
      batch.Delete(key);
    } else {
      batch.Put(key, RecordValue(*record.group, record.json));
      if (record.group->group_id != record.item_id) {
        batch.Put(MemberPrefix(record.group->group_id).append(record.item_id),
                  RecordValue(*record.group, {}).substr(0, sizeof(int64_t)));
      }
      impl.NoteNewest({std::min(record.group->created_at.value, record.timestamp.value + kFutureMax)});
    }
    if (record.group != nullptr && !record.group->IsAlone()) {
      if (presence.Add(PresenceKey(item))) ++impl.present;
      changed.back().second = LikesValue(*record.group);
      batch.Put(LikesKey(item), changed.back().second);
    } else if (presence.Test(PresenceKey(item))) {
      const rocksdb::Status had = read(LikesKey(item), stored);
      if (!had.ok() && !had.IsNotFound()) return ToStatus(had, "can't read " + impl.options.path);
      const auto likes = had.ok() ? ParseLikes(stored) : std::nullopt;
      if (likes && likes->check == CheckOf(record.item_id)) batch.Delete(LikesKey(item));
    }
  }
  Position position = reached;
  position.newest = impl.newest;
  batch.Put(PositionKey(partition), EncodePosition(position));
  if (Status written = impl.WriteAll(batch.GetWriteBatch()); !written) return written;
  // Behind the write: whoever read the old rows before it has an old ticket.
  for (const auto& [item, likes] : changed) {
    impl.cache.Invalidate(item);
    if (!likes.empty()) impl.Cache(item, likes, false);
  }
  return impl.present > impl.rebuild_at ? impl.BuildPresence() : Status();
}

Status RocksGroupTable::Reset() {
  Impl& impl = *impl_;
  const Status gone = impl.Write([&](rocksdb::WriteBatch& batch) {
    batch.DeleteRange(std::string{static_cast<char>(group_rows::Table::kPosition)}, std::string{'\xff'});
  });
  if (!gone) return gone;
  impl.newest = {kNever};
  impl.first_ms.store(kNever, std::memory_order_relaxed);
  if (Status built = impl.BuildPresence(); !built) return built;
  impl.cache.Clear();
  return {};
}

Status RocksGroupTable::Flush() {
  return ToStatus(impl_->db->Flush(rocksdb::FlushOptions()), "can't write " + impl_->options.path);
}

void RocksGroupTable::Prefetch(Fingerprint item) const {
  impl_->presence.load(std::memory_order_acquire)->Prefetch(PresenceKey(item));
}

void RocksGroupTable::PrefetchLikes(Fingerprint item) const {
  if (impl_->presence.load(std::memory_order_acquire)->Test(PresenceKey(item))) impl_->cache.Prefetch(item);
}

// How many were put into `likes`: its group's first, then the near ones; 0 where it is alone or unknown.
size_t RocksGroupTable::LikesOf(Fingerprint item, LikeCache::Likes& likes) const {
  Impl& impl = *impl_;
  if (!impl.presence.load(std::memory_order_acquire)->Test(PresenceKey(item))) return 0;
  if (const auto cached = impl.cache.Find(item, likes)) {
    return impl.InWindow(TimeMs{int64_t{cached->created_s} * 1000}) ? cached->count : 0;
  }
  const LikeCache::Ticket ticket = impl.cache.Begin(item);
  thread_local std::string value;
  impl.disk_reads_total.fetch_add(1, std::memory_order_relaxed);
  const rocksdb::Status read = impl.db->Get(rocksdb::ReadOptions(), LikesKey(item), &value);
  if (!read.ok() && !read.IsNotFound()) {
    impl.NoteError(ToError(read, "can't read " + impl.options.path));
    return 0;
  }
  size_t count = 0;
  if (read.ok() && impl.InWindow(TimeOf(value))) {
    const auto view = ParseLikes(value);
    if (!view) {
      impl.NoteError({Code::kCorrupt, impl.options.path + ": a list that isn't one"});
      return 0;
    }
    count = view->count();
    for (size_t i = 0; i < count; ++i) likes[i] = view->at(i);
  }
  impl.cache.Fill(item, ticket, SecondOf(value), std::span(likes).first(count));
  return count;
}

void RocksGroupTable::AppendSimilar(Fingerprint item, std::vector<Fingerprint>& out) const {
  LikeCache::Likes likes;
  const size_t count = LikesOf(item, likes);
  if (count == 0) return;
  for (size_t i = 1; i < count; ++i) out.push_back(NearFingerprintOf(likes[i]));
  out.push_back(GroupFingerprintOf(likes[0]));
}

bool RocksGroupTable::AppendLike(Fingerprint item, std::vector<Fingerprint>& out) const {
  LikeCache::Likes likes;
  const size_t count = LikesOf(item, likes);
  out.insert(out.end(), likes.begin(), likes.begin() + static_cast<std::ptrdiff_t>(count));
  return count > 0;
}

Result<std::optional<ItemGroup>> RocksGroupTable::Find(std::string_view item_id) const {
  const Impl& impl = *impl_;
  rocksdb::PinnableSlice value;
  const rocksdb::Status read = impl.db->Get(rocksdb::ReadOptions(), impl.db->DefaultColumnFamily(),
                                            RecordKey(FingerprintOf(item_id), item_id), &value);
  if (read.IsNotFound()) return std::optional<ItemGroup>();
  if (!read.ok()) return Fail(ToError(read, "can't read " + impl.options.path));
  const auto record = ParseRecord(value.ToStringView());
  if (!record) return Fail(Code::kCorrupt, impl.options.path + ": a record that isn't one");
  if (!impl.InWindow(record->created_at)) return std::optional<ItemGroup>();
  auto group = ReadItemGroup(record->json);
  if (!group) return Fail(Code::kCorrupt, impl.options.path + ": " + group.error().message);
  return std::optional<ItemGroup>(std::move(*group));
}

Result<std::vector<std::string>> RocksGroupTable::Members(std::string_view group_id, std::string_view after,
                                                          size_t limit) const {
  const Impl& impl = *impl_;
  std::vector<std::string> members;
  const std::string prefix = MemberPrefix(group_id);
  // The group's first item has no row of its own.
  const auto first = Find(group_id);
  if (!first) return Fail(first.error());
  bool first_to_come = *first && (*first)->group_id == group_id && group_id > after;
  const std::unique_ptr<rocksdb::Iterator> row(impl.db->NewIterator(rocksdb::ReadOptions()));
  const auto add_first = [&] {
    if (first_to_come && members.size() < limit) members.emplace_back(group_id);
    first_to_come = false;
  };
  for (row->Seek(prefix + std::string(after)); row->Valid() && members.size() < limit; row->Next()) {
    std::string_view key = row->key().ToStringView();
    if (!key.starts_with(prefix)) break;
    key.remove_prefix(prefix.size());
    if (key <= after || !impl.InWindow(TimeOf(row->value().ToStringView()))) continue;
    if (group_id < key) add_first();
    if (members.size() < limit) members.emplace_back(key);
  }
  if (!row->status().ok()) return Fail(ToError(row->status(), "can't read " + impl.options.path));
  add_first();
  return members;
}

GroupTableFigures RocksGroupTable::Figures() const {
  const Impl& impl = *impl_;
  GroupTableFigures figures;
  (void)impl.db->GetIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &figures.rows);
  (void)impl.db->GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &figures.bytes);
  figures.disk_reads_total = impl.disk_reads_total.load(std::memory_order_relaxed);
  figures.errors_total = impl.errors_total.load(std::memory_order_relaxed);
  figures.memory_bytes = impl.cache.bytes() + impl.presence.load(std::memory_order_acquire)->bytes();
  return figures;
}

}  // namespace seen
