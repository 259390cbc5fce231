// Reads the store's journal.
#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "store/journal_families.h"
#include "store/rocks_database.h"
#include "store/rocks_partition_store.h"

namespace seen {

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

}  // namespace seen
