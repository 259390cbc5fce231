// Reads a partition's tables in order, the kept published snapshots and the journal, and all rows as of one
// moment.
#include "store/rocks_scans.h"

#include <rocksdb/utilities/checkpoint.h>

#include <filesystem>

#include "base/byte_codec.h"
#include "base/result.h"
#include "rocks/rocks_status.h"
#include "rows/position_codec.h"
#include "state_stream/recording_writer.h"
#include "store/journal_families.h"
#include "store/rocks_database.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"

namespace seen {

// Calls `visit(key, value)` for the rows of `table` from `from` on, until it returns false. An error of a key
// names `what`.
template <typename Visit>
Status RocksPartitionStore::ScanTable(std::string_view what, Table table, std::string_view from,
                                      bool exclusive, const Visit& visit) const {
  const auto action = "can't read " + std::string(what);
  const auto db = database_->UseOrFail(action);
  if (!db) return Fail(db.error());
  TableScan at(**db, table, from, exclusive);
  for (; at->Valid(); at->Next()) {
    const Result<bool> more = visit(View(at->key()), View(at->value()));
    if (!more) return Fail(database_->About(more.error(), what));
    if (!*more) return {};
  }
  return at->status().ok() ? Status() : Fail(ToError(at->status(), database_->What(action)));
}

Result<std::vector<Mark>> RocksPartitionStore::ScanMarks(const std::optional<UserRef>& after,
                                                         size_t limit) const {
  std::vector<Mark> page;
  const StoredUserKey from = KeyOf(Table::kMarks, after.value_or(UserRef{}));
  const Status scanned = ScanTable("marks", Table::kMarks, View(from), after.has_value(),
                                   [&](std::string_view key, std::string_view value) -> Result<bool> {
                                     if (page.size() == limit) return false;
                                     const auto user = UserOf(Table::kMarks, key);
                                     if (!user) return Fail(user.error());
                                     page.push_back({*user, std::string(value)});
                                     return true;
                                   });
  if (!scanned) return Fail(scanned.error());
  return page;
}

Result<std::vector<Ending>> RocksPartitionStore::ScanEndings(const std::optional<Ending>& after,
                                                             uint32_t until_s, size_t limit) const {
  std::vector<Ending> page;
  const StoredEndingKey from = KeyOf(after.value_or(Ending{}));
  const Status scanned = ScanTable("endings", Table::kEndings, View(from), after.has_value(),
                                   [&](std::string_view key, std::string_view) -> Result<bool> {
                                     if (page.size() == limit) return false;
                                     const auto ending = EndingOf(key);
                                     if (!ending) return Fail(ending.error());
                                     if (ending->at_s > until_s) return false;
                                     page.push_back(*ending);
                                     return true;
                                   });
  if (!scanned) return Fail(scanned.error());
  return page;
}

Result<std::optional<UserRef>> RocksPartitionStore::ScanUsers(const std::optional<UserRef>& after,
                                                              size_t limit, const VisitUser& visit) const {
  std::optional<UserRef> last;
  size_t visited = 0;
  const StoredUserKey from = KeyOf(Table::kDeltas, after.value_or(UserRef{}));
  const Status scanned = ScanTable("users' state", Table::kDeltas, View(from), after.has_value(),
                                   [&](std::string_view key, std::string_view value) -> Result<bool> {
                                     if (visited++ == limit) return false;
                                     const auto user = UserOf(Table::kDeltas, key);
                                     if (!user) return Fail(user.error());
                                     visit(*user, value);
                                     last = *user;
                                     return true;
                                   });
  if (!scanned) return Fail(scanned.error());
  return last;
}

Result<PartitionStore::ServedPage> RocksPartitionStore::ScanServed(const std::optional<ServedRow>& after,
                                                                   uint32_t due_s, size_t limit) const {
  ServedPage page;
  const StoredServedKey from = KeyOf(after.value_or(ServedRow{}));
  const Status scanned = ScanTable("served items", Table::kServed, View(from), after.has_value(),
                                   [&](std::string_view key, std::string_view value) -> Result<bool> {
                                     if (page.size() == limit) return false;
                                     const auto row = ServedRowOf(key);
                                     if (!row) return Fail(row.error());
                                     if (row->due_s >= due_s) return false;
                                     page.emplace_back(*row, value);
                                     return true;
                                   });
  if (!scanned) return Fail(scanned.error());
  return page;
}

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
  value = reader.Rest();
  return user_id;
}

}  // namespace

Status RocksPartitionStore::KeepPublished(std::span<const PublishedRow> rows) {
  if (rows.empty()) return {};
  return database_->WriteFile(
      "can't keep published snapshots", database_->incoming_published_file(), [&](auto& file) {
        rocksdb::Status written;
        for (size_t i = 0; i < rows.size() && written.ok(); ++i) {
          const StoredUserKey key = KeyOf(Table::kPublished, rows[i].user);
          const bool gone = rows[i].snapshot.empty();
          const std::string value = gone ? std::string() : Encode(rows[i]);
          written = seen::AddRow(file, {gone ? RowOp::kDelete : RowOp::kPut, View(key), value});
        }
        return written;
      });
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
  std::vector<PublishedRow> page;
  const StoredUserKey from = KeyOf(Table::kPublished, after.value_or(UserRef{}));
  const Status scanned = ScanTable("published snapshots", Table::kPublished, View(from), after.has_value(),
                                   [&](std::string_view key, std::string_view value) -> Result<bool> {
                                     if (page.size() == limit) return false;
                                     const auto user = UserOf(Table::kPublished, key);
                                     if (!user) return Fail(user.error());
                                     auto user_id = TakeUserId(value);
                                     if (!user_id) return Fail(user_id.error());
                                     page.push_back({*user, std::move(*user_id), {}});
                                     return true;
                                   });
  if (!scanned) return Fail(scanned.error());
  return page;
}

// Reads the store's journal.

Result<std::optional<Day>> RocksPartitionStore::ReadJournalStart() const {
  const auto encoded = database_->Read("can't read the journal's start", JournalStartKey());
  if (!encoded) return Fail(encoded.error());
  if (!*encoded) return std::optional<Day>();
  const auto day = DecodeJournalStart(**encoded);
  if (!day) return Fail(database_->About(day.error()));
  return std::optional(*day);
}

Status RocksPartitionStore::ReadRows(const UserKey& user, Day from, const std::optional<JournalPlace>& after,
                                     const VisitJournalRow& visit) const {
  const auto db = database_->UseOrFail("can't read the journal");
  if (!db) return Fail(db.error());
  rocksdb::ReadOptions read;
  read.prefix_same_as_start = true;
  const auto families = database_->families().All();
  for (auto family = families.rbegin(); family != families.rend(); ++family) {
    const Day day = (*family)->day();
    if (after && day > DayOf(after->at)) continue;
    if (day < from) break;
    const std::unique_ptr<rocksdb::Iterator> at((*db)->NewIterator(read, (*family)->handle()));
    if (after && day == DayOf(after->at)) {
      const JournalKey key = JournalKeyOf(user, *after);
      const rocksdb::Slice slice(key.data(), key.size());
      at->Seek(slice);
      if (at->Valid() && at->key() == slice) at->Next();
    } else {
      at->Seek(JournalUserBegin(user));
    }
    for (; at->Valid(); at->Next()) {
      const auto place = JournalPlaceOf(day, {at->key().data(), at->key().size()});
      if (!place) {
        return Fail(database_->About({Code::kCorrupt, "the journal has a key that isn't a row's"}));
      }
      if (!visit(*place, {at->value().data(), at->value().size()})) return {};
    }
    if (!at->status().ok()) return Fail(ToError(at->status(), database_->What("can't read the journal")));
  }
  return {};
}

std::vector<JournalDay> RocksPartitionStore::JournalDays() const {
  std::vector<JournalDay> days;
  const auto db = database_->Use();  // the families must not outlive the database
  for (const auto& family : database_->families().All()) days.push_back({family->day(), family->Bytes()});
  return days;
}

// A store's rows as of one moment. RocksDB makes a checkpoint of its own, which links the files, and the
// cursor reads it. So a base that takes long delays nothing.

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
