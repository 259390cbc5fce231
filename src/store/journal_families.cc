#include "store/journal_families.h"

#include <utility>

#include "store/journal_keys.h"

namespace seen {

JournalFamily::~JournalFamily() { db_.DestroyColumnFamilyHandle(handle_).PermitUncheckedError(); }

uint64_t JournalFamily::Bytes() const {
  uint64_t bytes = 0;
  return db_.GetIntProperty(handle_, rocksdb::DB::Properties::kLiveSstFilesSize, &bytes) ? bytes : 0;
}

void JournalFamilies::Adopt(std::vector<Pointer> families) {
  const MutexLock lock(mutex_);
  for (Pointer& family : families) families_[family->day()] = std::move(family);
}

void JournalFamilies::Clear() {
  std::map<Day, Pointer> gone;
  const MutexLock lock(mutex_);
  gone.swap(families_);
}

JournalFamilies::Pointer JournalFamilies::Find(Day day) const {
  const MutexLock lock(mutex_);
  const auto found = families_.find(day);
  return found == families_.end() ? nullptr : found->second;
}

std::vector<JournalFamilies::Pointer> JournalFamilies::All() const {
  const MutexLock lock(mutex_);
  std::vector<Pointer> all;
  all.reserve(families_.size());
  for (const auto& [day, family] : families_) all.push_back(family);
  return all;
}

rocksdb::Status JournalFamilies::Make(rocksdb::DB& db, Day day, Pointer& family) {
  family = Find(day);
  if (family) return rocksdb::Status::OK();
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  rocksdb::Status made = db.CreateColumnFamily(options_, JournalFamilyName(day), &handle);
  if (!made.ok()) return made;
  family = std::make_shared<JournalFamily>(db, handle, day);
  const MutexLock lock(mutex_);
  families_[day] = family;
  return made;
}

rocksdb::Status JournalFamilies::Drop(rocksdb::DB& db, const Pointer& family) {
  rocksdb::Status dropped = db.DropColumnFamily(family->handle());
  if (!dropped.ok()) return dropped;
  const MutexLock lock(mutex_);
  families_.erase(family->day());
  return dropped;
}

}  // namespace seen
