#pragma once
// The journal's column families of an open RocksDB: one a UTC day, so that dropping a day needs no
// compaction.
//
// Threads: call Adopt and Clear while nobody else uses the database. Call Make and Drop from one thread at a
// time, the rest from any. A dropped family stays readable for its holders.

#include <rocksdb/db.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "flow/store_port.h"
#include "model/day.h"
#include "model/hashes.h"

namespace seen {

// Names of the journal's column families, and keys in them: schemas/store.md, "Journal".

/// "journal-20000".
std::string JournalFamilyName(Day day);
/// nullopt for anything JournalFamilyName doesn't return.
std::optional<Day> DayOfJournalFamily(std::string_view name);

inline constexpr size_t kJournalUserBytes = 16;  // what a user's keys begin with
inline constexpr size_t kJournalKeyBytes = kJournalUserBytes + 4 + 8;
using JournalKey = std::array<char, kJournalKeyBytes>;
/// A key in the family of DayOf(place.at). Bytewise order: users, then places, newest first.
JournalKey JournalKeyOf(const UserKey& user, const JournalPlace& place);
/// The place of `key`, which is in the family of `day`. nullopt: `key` isn't such a key.
std::optional<JournalPlace> JournalPlaceOf(Day day, std::string_view key);

// The range of a user's keys in a family: from Begin on, below End.
std::string JournalUserBegin(const UserKey& user);
std::string JournalUserEnd(const UserKey& user);

/// The value under JournalStartKey.
std::string EncodeJournalStart(Day day);
Result<Day> DecodeJournalStart(std::string_view bytes);

/// Release it before the database.
class JournalFamily {
 public:
  JournalFamily(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* handle, Day day)
      : db_(db), handle_(handle), day_(day) {}
  ~JournalFamily();
  JournalFamily(const JournalFamily&) = delete;
  JournalFamily& operator=(const JournalFamily&) = delete;

  rocksdb::ColumnFamilyHandle* handle() const { return handle_; }
  Day day() const { return day_; }
  uint64_t Bytes() const;

 private:
  rocksdb::DB& db_;
  rocksdb::ColumnFamilyHandle* const handle_;
  const Day day_;
};

class JournalFamilies {
 public:
  using Pointer = std::shared_ptr<const JournalFamily>;

  /// `options`: for the families that Make creates.
  explicit JournalFamilies(rocksdb::ColumnFamilyOptions options) : options_(std::move(options)) {}

  /// Takes over the families that the database was opened with.
  void Adopt(std::vector<Pointer> families);
  /// Call it before the database is closed.
  void Clear();

  const rocksdb::ColumnFamilyOptions& options() const { return options_; }
  /// nullptr: none.
  Pointer Find(Day day) const;
  /// Ascending by day.
  std::vector<Pointer> All() const;
  /// The day's family, created if there is none. It is durable when Make returns.
  rocksdb::Status Make(rocksdb::DB& db, Day day, Pointer& family);
  rocksdb::Status Drop(rocksdb::DB& db, const Pointer& family);

 private:
  const rocksdb::ColumnFamilyOptions options_;
  mutable Mutex mutex_;
  std::map<Day, Pointer> families_ GUARDED_BY(mutex_);
};

}  // namespace seen
