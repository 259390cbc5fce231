#include "store/resting_rows.h"

#include <fmt/format.h>
#include <rocksdb/file_system.h>

#include "rocks/listener.h"
#include "rocks/rocks_status.h"
#include "rows/position_codec.h"
#include "store/journal_families.h"
#include "store/rocks_options.h"
#include "store/rocks_scans.h"
#include "store/store_directory.h"

namespace seen {

RestingRows::RestingRows(std::string folder, const StoreResources& resources)
    : folder_(std::move(folder)),
      rules_(std::make_shared<MergeRules>()),
      options_([&] {
        constexpr int32_t kNoPartition = -1;
        auto options = RocksOptions(resources, rocksdb::Env::Default(), rules_,
                                    std::make_shared<BackgroundErrors>(kNoPartition), kNoPartition);
        options.create_if_missing = false;
        options.listeners.clear();
        return options;
      }()),
      journal_options_(JournalOptions(resources)) {}

RestingRows::~RestingRows() {
  if (!rules_->IsLoaded()) rules_->Load({});
  for (rocksdb::ColumnFamilyHandle* const handle : handles_)
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
}

// A running store and a copy have different remedies: only a running store can start with --rebuild.
Status RestingRows::ToResult(const rocksdb::Status& status) const {
  if (status.ok()) return {};
  const Code code = status.IsCorruption() || status.IsPathNotFound() ? Code::kCorrupt
                    : IsNoSpace(status)                              ? Code::kNoSpace
                                                                     : Code::kUnavailable;
  const std::string_view remedy =
      code == Code::kCorrupt ? ". Remedy: check the disk; use another copy of this state" : "";
  return Fail(code, fmt::format("{}: {}{}", folder_, status.ToString(), remedy));
}

Status RestingRows::OpenRocks() {
  if (HasDatabase(*rocksdb::FileSystem::Default(), folder_).IsNotFound())
    return Fail(Code::kNotFound, folder_ + ": no state is there");
  std::vector<std::string> names;
  if (Status listed = ToResult(rocksdb::DB::ListColumnFamilies(options_, folder_, &names)); !listed)
    return listed;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) {
    const bool is_state = name == rocksdb::kDefaultColumnFamilyName;
    families.emplace_back(name, is_state ? rocksdb::ColumnFamilyOptions(options_) : journal_options_);
  }
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options_, folder_, families, &handles_, &opened);
  db_.reset(opened);
  if (!status.ok()) return ToResult(status);
  for (size_t i = 0; i < names.size(); ++i) {
    if (DayOfJournalFamily(names[i])) journal_.push_back(handles_[i]);
  }
  return {};
}

Result<std::optional<std::string>> RestingRows::Get(std::string_view key) {
  std::string value;
  const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), rocksdb::Slice(key), &value);
  if (read.IsNotFound()) return std::optional<std::string>();
  if (!read.ok()) return Fail(ToResult(read).error());
  return std::optional(std::move(value));
}

Result<std::unique_ptr<RestingRows>> RestingRows::Open(const std::string& folder,
                                                       const StoreResources& resources) {
  std::unique_ptr<RestingRows> rows(new RestingRows(folder, resources));
  if (Status opened = rows->OpenRocks(); !opened) return Fail(opened.error());
  const auto about = [&](const Error& error) {
    return Fail(error.code, fmt::format("{}: {}", folder, error.message));
  };
  const auto encoded = rows->Get(DescriptorKey());
  if (!encoded) return Fail(encoded.error());
  if (!*encoded) return Fail(Code::kNotFound, folder + ": no state is there: it was never begun");
  auto descriptor = DecodeDescriptor(**encoded);
  if (!descriptor) return about(descriptor.error());
  rows->descriptor_ = std::move(*descriptor);
  rows->rules_->Load(rows->descriptor_.filters);
  PositionRows stored;
  for (size_t i = 0; i < stored.size(); ++i) {
    auto row = rows->Get(PositionKeys()[i]);
    if (!row) return Fail(row.error());
    stored[i] = std::move(*row);
  }
  auto position = DecodePositionRows(stored);
  if (!position) return about(position.error());
  rows->position_ = std::move(*position);
  return rows;
}

Status RestingRows::ForEach(const Visit& visit) {
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(read));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    if (Status visited = visit(View(at->key()), View(at->value())); !visited) return visited;
  }
  return ToResult(at->status());
}

Result<bool> RestingRows::Cursor::Next(std::string_view& key, std::string_view& value) {
  if (begun_ && at_->Valid()) at_->Next();
  begun_ = true;
  if (!at_->Valid()) {
    if (Status read = rows_.ToResult(at_->status()); !read) return Fail(read.error());
    return false;
  }
  key = View(at_->key());
  value = View(at_->value());
  return true;
}

std::unique_ptr<RestingRows::Cursor> RestingRows::ReadFrom(Table table) {
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(read));
  const char first = static_cast<char>(table);
  at->Seek(rocksdb::Slice(&first, 1));
  return std::unique_ptr<Cursor>(new Cursor(*this, std::move(at)));
}

Result<std::string> RestingRows::DeltaOf(const UserRef& user) {
  auto delta = Get(View(KeyOf(Table::kDeltas, user)));
  if (!delta) return Fail(delta.error());
  return delta->value_or("");
}

Result<std::string> RestingRows::MarkedIdOf(const UserRef& user) {
  auto id = Get(View(KeyOf(Table::kMarks, user)));
  if (!id) return Fail(id.error());
  return id->value_or("");
}

Status RestingRows::ForEachJournalRow(const UserKey& user,
                                      const std::function<void(std::string_view value)>& visit) {
  const std::string begin = JournalUserBegin(user);
  const std::string end = JournalUserEnd(user);
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  read.iterate_upper_bound = &upper;
  for (rocksdb::ColumnFamilyHandle* const family : journal_) {
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(read, family));
    for (at->Seek(begin); at->Valid(); at->Next()) visit(View(at->value()));
    if (!at->status().ok()) return ToResult(at->status());
  }
  return {};
}

Status RestingRows::VerifyChecksums() { return ToResult(db_->VerifyChecksum()); }

Result<std::optional<RestingState>> ReadRestingState(const std::string& directory, int32_t partition) {
  const std::string path = StoreDirectory::PartitionPath(directory, partition);
  if (HasDatabase(*rocksdb::FileSystem::Default(), path).IsNotFound()) return std::optional<RestingState>();
  rocksdb::DB* opened = nullptr;
  rocksdb::Options options;
  options.create_if_missing = false;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, path, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (!status.ok()) return Fail(ToError(status, path));
  RestingState state;
  std::string value;
  const auto get = [&](std::string_view key) {
    return db->Get(rocksdb::ReadOptions(), rocksdb::Slice(key), &value);
  };
  rocksdb::Status read = get(DescriptorKey());
  if (read.IsNotFound()) return std::optional(std::move(state));  // its creation was interrupted
  if (!read.ok()) return Fail(ToError(read, path));
  auto descriptor = DecodeDescriptor(value);
  if (!descriptor) return Fail(descriptor.error());
  state.descriptor = std::move(*descriptor);
  PositionRows stored;
  for (size_t i = 0; i < stored.size(); ++i) {
    read = get(PositionKeys()[i]);
    if (read.ok()) stored[i] = value;
    if (!read.ok() && !read.IsNotFound()) return Fail(ToError(read, path));
  }
  const auto position = DecodePositionRows(stored);
  if (!position) return Fail(position.error());
  if (*position) state.read_to = (*position)->ReadTo();
  return std::optional(std::move(state));
}

}  // namespace seen
