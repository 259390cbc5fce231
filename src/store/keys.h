#pragma once
// The keys of a partition's RocksDB: schemas/store.md, "Keys". Bytewise order is the order of UserRef.

#include <array>
#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "flow/store_port.h"

namespace seen {

/// A key's first byte.
enum class Table : unsigned char {
  kPosition = 0x00,    // one key; the smallest, so that every checkpoint's file begins with it
  kDescriptor = 0x01,  // one key
  kJournal = 0x02,     // one key: the day from which on nothing is missing in the journal
  kDeltas = 0x10,      // a user's encoded delta
  kMarks = 0x20,       // no value: the user's snapshot isn't acknowledged
};

inline constexpr size_t kUserKeyBytes = 19;  // table, filter (big-endian), user key
using StoredUserKey = std::array<char, kUserKeyBytes>;

std::string_view PositionKey();
std::string_view DescriptorKey();
std::string_view JournalStartKey();
StoredUserKey KeyOf(Table table, const UserRef& user);
/// The first key past `table`.
std::string_view EndOf(Table table);

/// kCorrupt unless `key` is one of KeyOf(`table`, ...).
Result<UserRef> UserOf(Table table, std::string_view key);

inline std::string_view View(const StoredUserKey& key) { return {key.data(), key.size()}; }

}  // namespace seen
