#include "similar/store/group_database.h"

#include <rocksdb/compaction_filter.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table.h>

#include "base/byte_codec.h"
#include "rocks/listener.h"
#include "rocks/rocks_status.h"

namespace seen {

using group_rows::Position;

// Removes the rows of items that have left the window.
class GroupDatabase::WindowFilter final : public rocksdb::CompactionFilter {
 public:
  explicit WindowFilter(const std::atomic<int64_t>& first_ms) : first_ms_(first_ms) {}
  const char* Name() const override { return "seen.groups.window"; }
  bool Filter(int /*level*/, const rocksdb::Slice& key, const rocksdb::Slice& value, std::string* /*changed*/,
              bool* /*is_changed*/) const override {
    if (!group_rows::LeavesWithWindow(key.ToStringView())) return false;
    const auto time = group_rows::TimeOf(value.ToStringView());
    return time && time->value < first_ms_.load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<int64_t>& first_ms_;
};

GroupDatabase::GroupDatabase(std::string path, const StoreResources& resources,
                             const std::shared_ptr<rocksdb::FileSystem>& file_system,
                             const std::atomic<int64_t>& first_ms)
    : path_(std::move(path)),
      resources_(resources),
      file_system_(file_system ? file_system : rocksdb::FileSystem::Default()),
      env_(file_system ? rocksdb::NewCompositeEnv(file_system) : nullptr),
      filter_(std::make_unique<WindowFilter>(first_ms)) {}

GroupDatabase::~GroupDatabase() {
  if (db_) (void)db_->Flush(rocksdb::FlushOptions());
}

rocksdb::Options GroupDatabase::RocksOptions() const {
  constexpr size_t kMiB = 1024 * 1024;
  rocksdb::Options rocks;
  SetDatabase(rocks, resources_, kGroupTable);
  if (env_) rocks.env = env_.get();
  rocksdb::BlockBasedTableOptions table = SmallTableOptions(resources_);
  table.enable_index_compression = false;
  rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocks.compaction_filter = filter_.get();
  rocks.level_compaction_dynamic_level_bytes = true;
  rocks.periodic_compaction_seconds = 86'400;
  rocks.write_buffer_size = 8 * kMiB;
  rocks.max_write_buffer_number = 2;
  rocks.max_open_files = 128;
  return rocks;
}

Status GroupDatabase::Open() {
  const rocksdb::Status made = file_system_->CreateDirIfMissing(path_, rocksdb::IOOptions(), nullptr);
  if (!made.ok()) return ToStatus(made, "can't make " + path_);
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(RocksOptions(), path_, &opened);
  if (!status.ok()) return ToStatus(status, "can't open " + path_);
  db_.reset(opened);
  std::string stored;
  const auto found = Read(group_rows::DescriptorKey(), stored);
  if (!found) return Fail(found.error());
  if (*found && (stored.empty() || stored[0] != group_rows::kFormat)) {
    return Fail(Code::kCorrupt, path_ + ": of another version");
  }
  return {};
}

Status GroupDatabase::Destroy() {
  db_.reset();
  return ToStatus(rocksdb::DestroyDB(path_, RocksOptions()), "can't drop " + path_);
}

Error GroupDatabase::Corrupt(std::string_view what) const {
  return {Code::kCorrupt, path_ + ": " + std::string(what)};
}

Status GroupDatabase::ToRead(const rocksdb::Status& status) const {
  return ToStatus(status, "can't read " + path_);
}

Result<bool> GroupDatabase::Found(const rocksdb::Status& read) const {
  if (!read.ok() && !read.IsNotFound()) return Fail(ToError(read, "can't read " + path_));
  return read.ok();
}

Result<bool> GroupDatabase::Read(std::string_view key, std::string& value) const {
  return Found(db_->Get(rocksdb::ReadOptions(), rocksdb::Slice(key), &value));
}

Result<bool> GroupDatabase::Read(std::string_view key, rocksdb::PinnableSlice& value) const {
  return Found(db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), rocksdb::Slice(key), &value));
}

Result<bool> GroupDatabase::Read(rocksdb::WriteBatchWithIndex& batch, const std::string& key,
                                 std::string& value) const {
  return Found(batch.GetFromBatchAndDB(db_.get(), rocksdb::ReadOptions(), key, &value));
}

std::unique_ptr<rocksdb::Iterator> GroupDatabase::Scan() const {
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(rocksdb::ReadOptions()));
}

Result<std::optional<bool>> GroupDatabase::IsOf(std::string_view descriptor) const {
  std::string stored;
  const auto found = Read(group_rows::DescriptorKey(), stored);
  if (!found) return Fail(found.error());
  return *found ? std::optional(stored == descriptor) : std::nullopt;
}

Result<std::optional<Position>> GroupDatabase::PositionOf(int32_t partition) const {
  std::string value;
  const auto found = Read(group_rows::PositionKey(partition), value);
  if (!found) return Fail(found.error());
  if (!*found) return std::optional<Position>();
  const auto position = group_rows::DecodePosition(value);
  if (!position) return Fail(Corrupt("a malformed position"));
  return position;
}

Status GroupDatabase::EachPosition(const std::function<Status(const Position&)>& take) const {
  const auto row = Scan();
  for (row->Seek(group_rows::PositionKey(0));
       row->Valid() && !group_rows::LeavesWithWindow(row->key().ToStringView()); row->Next()) {
    const auto position = group_rows::DecodePosition(row->value().ToStringView());
    if (!position) return Fail(Corrupt("a malformed position"));
    if (Status taken = take(*position); !taken) return taken;
  }
  return ToRead(row->status());
}

Status GroupDatabase::EachSimilarList(const std::function<void(Fingerprint, std::string_view)>& take) const {
  constexpr size_t kKeyBytes = 5;
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  const std::string from{static_cast<char>(group_rows::Table::kSimilarLists)};
  const std::string to{static_cast<char>(group_rows::Table::kMember)};
  const rocksdb::Slice end(to);
  read.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> row(db_->NewIterator(read));
  for (row->Seek(from); row->Valid(); row->Next()) {
    const std::string_view key = row->key().ToStringView();
    if (key.size() != kKeyBytes) continue;
    take(Fingerprint{static_cast<uint32_t>(GetBigEndian(&key[1], 4))}, row->value().ToStringView());
  }
  return ToRead(row->status());
}

Status GroupDatabase::Write(rocksdb::WriteBatch& batch) {
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  return ToStatus(db_->Write(write, &batch), "can't write " + path_);
}

Status GroupDatabase::Forget(std::string_view descriptor) {
  rocksdb::WriteBatch batch;
  batch.DeleteRange(std::string{static_cast<char>(group_rows::Table::kPosition)}, std::string{'\xff'});
  if (!descriptor.empty()) batch.Put(group_rows::DescriptorKey(), rocksdb::Slice(descriptor));
  return Write(batch);
}

Status GroupDatabase::Flush() {
  return ToStatus(db_->Flush(rocksdb::FlushOptions()), "can't write " + path_);
}

uint64_t GroupDatabase::Figure(const std::string& property) const {
  uint64_t figure = 0;
  (void)db_->GetIntProperty(property, &figure);
  return figure;
}

}  // namespace seen
