// Users' last snapshots that were published before the state began: schemas/store.md, "Keys", under `11`.
#include <rocksdb/sst_file_writer.h>

#include "base/byte_codec.h"
#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "store/rocks_database.h"
#include "store/rocks_partition_store.h"
#include "store/rocks_scans.h"

namespace seen {
namespace {

constexpr uint8_t kVersion = 1;

std::string Encode(const PublishedRow& row) {
  std::string value;
  PutLittleEndian(kVersion, value);
  PutText(row.user_id, value);
  return value += row.snapshot;
}

// Takes the user's id from `value`; the bytes behind the id stay in `value`.
Result<std::string> TakeUserId(std::string_view& value) {
  FieldReader reader(value);
  const auto version = reader.Get<uint8_t>();
  std::string user_id = reader.GetText();
  if (!reader.ok() || version != kVersion) {
    return Fail(Code::kCorrupt, std::to_string(value.size()) + " bytes that are not a published snapshot's");
  }
  value.remove_prefix(sizeof(kVersion) + sizeof(uint16_t) + user_id.size());
  return user_id;
}

}  // namespace

Status RocksPartitionStore::KeepPublished(std::span<const PublishedRow> rows) {
  if (rows.empty()) return {};
  const std::string path = database_->incoming_published_file();
  rocksdb::SstFileWriter file(rocksdb::EnvOptions(database_->rocks_options()), database_->rocks_options());
  rocksdb::Status written = file.Open(path);
  for (const PublishedRow& row : rows) {
    if (!written.ok()) break;
    const StoredUserKey key = KeyOf(Table::kPublished, row.user);
    const rocksdb::Slice slice(key.data(), key.size());
    written = row.snapshot.empty() ? file.Delete(slice) : file.Put(slice, Encode(row));
  }
  if (written.ok()) written = file.Finish();
  Status done = ToStatus(written, database_->What("can't keep published snapshots"));
  if (done) done = database_->Ingest(path);
  if (!done) database_->RemoveIncoming(path);
  return done;
}

Status RocksPartitionStore::ReadPublished(std::span<const UserRef> users, std::span<PublishedRow> out) const {
  const auto db = database_->UseOrFail("can't read published snapshots");
  if (!db) return Fail(db.error());
  std::vector<StoredUserKey> stored_keys(users.size());
  std::vector<rocksdb::Slice> keys(users.size());
  std::vector<rocksdb::PinnableSlice> values(users.size());
  std::vector<rocksdb::Status> read(users.size());
  for (size_t i = 0; i < users.size(); ++i) {
    stored_keys[i] = KeyOf(Table::kPublished, users[i]);
    keys[i] = rocksdb::Slice(stored_keys[i].data(), stored_keys[i].size());
  }
  (*db)->MultiGet(rocksdb::ReadOptions(), (*db)->DefaultColumnFamily(), users.size(), keys.data(),
                  values.data(), read.data());
  for (size_t i = 0; i < users.size(); ++i) {
    out[i] = {users[i], {}, {}};
    if (read[i].IsNotFound()) continue;
    if (!read[i].ok()) return Fail(ToError(read[i], database_->What("can't read published snapshots")));
    std::string_view value(values[i].data(), values[i].size());
    auto user_id = TakeUserId(value);
    if (!user_id) return Fail(database_->About(user_id.error(), "published snapshots"));
    out[i].user_id = std::move(*user_id);
    out[i].snapshot = value;
  }
  return {};
}

Result<std::vector<PublishedRow>> RocksPartitionStore::ScanPublished(const std::optional<UserRef>& after,
                                                                     size_t limit) const {
  const auto db = database_->UseOrFail("can't read published snapshots");
  if (!db) return Fail(db.error());
  std::vector<PublishedRow> page;
  const StoredUserKey from = KeyOf(Table::kPublished, after.value_or(UserRef{}));
  TableScan at(**db, Table::kPublished, View(from), after.has_value());
  for (; at->Valid() && page.size() < limit; at->Next()) {
    const auto user = UserOf(Table::kPublished, View(at->key()));
    if (!user) return Fail(database_->About(user.error(), "published snapshots"));
    std::string_view value = View(at->value());
    auto user_id = TakeUserId(value);
    if (!user_id) return Fail(database_->About(user_id.error(), "published snapshots"));
    page.push_back({*user, std::move(*user_id), {}});
  }
  if (!at->status().ok())
    return Fail(ToError(at->status(), database_->What("can't read published snapshots")));
  return page;
}

}  // namespace seen
