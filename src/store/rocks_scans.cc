// Reads a partition's tables in order: marks, endings, everybody's state, served items.
#include "store/rocks_scans.h"

#include "base/result.h"
#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "store/rocks_database.h"
#include "store/rocks_partition_store.h"

namespace seen {

Result<std::vector<Mark>> RocksPartitionStore::ScanMarks(const std::optional<UserRef>& after,
                                                         size_t limit) const {
  const auto db = database_->UseOrFail("can't read marks");
  if (!db) return Fail(db.error());
  std::vector<Mark> page;
  const StoredUserKey from = KeyOf(Table::kMarks, after.value_or(UserRef{}));
  TableScan at(**db, Table::kMarks, View(from), after.has_value());
  for (; at->Valid() && page.size() < limit; at->Next()) {
    const auto user = UserOf(Table::kMarks, View(at->key()));
    if (!user) return Fail(database_->About(user.error(), "marks"));
    page.push_back({*user, at->value().ToString()});
  }
  if (!at->status().ok()) return Fail(ToError(at->status(), database_->What("can't read marks")));
  return page;
}

Result<std::vector<Ending>> RocksPartitionStore::ScanEndings(const std::optional<Ending>& after,
                                                             uint32_t until_s, size_t limit) const {
  const auto db = database_->UseOrFail("can't read endings");
  if (!db) return Fail(db.error());
  std::vector<Ending> page;
  const StoredEndingKey from = KeyOf(after.value_or(Ending{}));
  TableScan at(**db, Table::kEndings, View(from), after.has_value());
  for (; at->Valid() && page.size() < limit; at->Next()) {
    const auto ending = EndingOf(View(at->key()));
    if (!ending) return Fail(database_->About(ending.error(), "endings"));
    if (ending->at_s > until_s) break;
    page.push_back(*ending);
  }
  if (!at->status().ok()) return Fail(ToError(at->status(), database_->What("can't read endings")));
  return page;
}

Result<std::optional<UserRef>> RocksPartitionStore::ScanUsers(const std::optional<UserRef>& after,
                                                              size_t limit, const VisitUser& visit) const {
  const auto db = database_->UseOrFail("can't read users' state");
  if (!db) return Fail(db.error());
  std::optional<UserRef> last;
  const StoredUserKey from = KeyOf(Table::kDeltas, after.value_or(UserRef{}));
  TableScan at(**db, Table::kDeltas, View(from), after.has_value());
  for (size_t visited = 0; at->Valid() && visited < limit; at->Next(), ++visited) {
    const auto user = UserOf(Table::kDeltas, View(at->key()));
    if (!user) return Fail(database_->About(user.error(), "users"));
    visit(*user, View(at->value()));
    last = *user;
  }
  if (!at->status().ok()) return Fail(ToError(at->status(), database_->What("can't read users' state")));
  return last;
}

Result<PartitionStore::ServedPage> RocksPartitionStore::ScanServed(const std::optional<ServedRow>& after,
                                                                   uint32_t due_s, size_t limit) const {
  const auto db = database_->UseOrFail("can't read served items");
  if (!db) return Fail(db.error());
  ServedPage page;
  const StoredServedKey from = KeyOf(after.value_or(ServedRow{}));
  TableScan at(**db, Table::kServed, View(from), after.has_value());
  for (; at->Valid() && page.size() < limit; at->Next()) {
    const auto row = ServedRowOf(View(at->key()));
    if (!row) return Fail(database_->About(row.error(), "served items"));
    if (row->due_s >= due_s) break;
    page.emplace_back(*row, at->value().ToString());
  }
  if (!at->status().ok()) return Fail(ToError(at->status(), database_->What("can't read served items")));
  return page;
}

}  // namespace seen
