// A store's rows as of one moment. RocksDB makes a checkpoint of its own, which links the files, and the
// cursor reads it. So a base that takes long delays nothing.

#include <fmt/format.h>
#include <rocksdb/utilities/checkpoint.h>

#include <filesystem>

#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "rows/position_codec.h"
#include "state_stream/recording_writer.h"
#include "store/rocks_database.h"
#include "store/rocks_scans.h"
#include "store/store_directory.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

class Cursor final : public RowCursor {
 public:
  Cursor(std::string folder, std::unique_ptr<rocksdb::DB> db)
      : folder_(std::move(folder)), db_(std::move(db)) {
    rocksdb::ReadOptions read;
    read.fill_cache = false;  // the cache is for users who are asked for
    at_.reset(db_->NewIterator(read));
    at_->SeekToFirst();
  }
  ~Cursor() override {
    at_.reset();
    db_.reset();
    std::error_code ignored;  // if this fails, the directory's next opening removes it
    fs::remove_all(folder_, ignored);
  }

  Result<bool> Next(Row& row) override {
    if (begun_ && at_->Valid()) at_->Next();
    begun_ = true;
    while (at_->Valid() && StaysBehind(View(at_->key()))) at_->Next();
    if (!at_->Valid()) {
      if (Status read = ToStatus(at_->status(), "base"); !read) return Fail(read.error());
      return false;
    }
    row = {RowOp::kPut, View(at_->key()), View(at_->value())};
    if (row.key == WholenessKey()) {
      auto filters = DecodeWholeness(row.value);
      if (!filters) return Fail(filters.error());
      Position position;
      position.filters = std::move(*filters);
      wholeness_ = EncodeWholeness(TravellingPosition(std::move(position)).filters);
      row.value = wholeness_;
    }
    return true;
  }

 private:
  static bool StaysBehind(std::string_view key) {
    const auto table = static_cast<Table>(key.empty() ? '\0' : key[0]);
    return table == Table::kJournal || table == Table::kPublished;
  }

  const std::string folder_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::Iterator> at_;
  bool begun_ = false;
  std::string wholeness_;
};

}  // namespace

Result<std::unique_ptr<RowCursor>> RocksPartitionStore::ReadRows() {
  const auto position = ReadPosition();
  if (!position) return Fail(position.error());
  if (!*position) return nullptr;
  const std::string folder = database_->base_folder();
  std::error_code code;
  fs::remove_all(folder, code);
  if (Status linked = LinkTo(folder); !linked) return Fail(linked.error());
  rocksdb::Options options = database_->rocks_options();
  options.listeners.clear();
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, folder, &opened);
  if (!status.ok()) return Fail(ToError(status, database_->What("base")));
  return std::make_unique<Cursor>(folder, std::unique_ptr<rocksdb::DB>(opened));
}

Status RocksPartitionStore::LinkTo(const std::string& folder) {
  const auto db = database_->UseOrFail("copy");
  if (!db) return Fail(db.error());
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(db->get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(folder);
  return ToStatus(status, database_->What("copy to " + folder));
}

std::string RocksPartitionStore::EncodedDescriptor() const { return database_->encoded_descriptor(); }

}  // namespace seen
