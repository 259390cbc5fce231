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
  kPosition = 0x00,    // two keys; the smallest, so that every checkpoint's file begins with them
  kDescriptor = 0x01,  // one key
  kJournal = 0x02,     // one key: the day from which on the journal is complete
  kSweep = 0x03,       // one key
  kDeltas = 0x10,      // a user's encoded delta
  kPublished = 0x11,   // the user's last snapshot that was published before the state began
  kMarks = 0x20,       // the user's snapshot isn't acknowledged; the value: the user id
  kEndings = 0x21,     // by time, no value: re-render the user's snapshot at that second
  kServed = 0x30,      // by time: served items that may turn out unexposed
};

inline constexpr size_t kUserKeyBytes = 19;  // table, filter (big-endian), user key
using StoredUserKey = std::array<char, kUserKeyBytes>;

std::string_view PositionKey();
/// Written with the position, behind it.
std::string_view WholenessKey();
std::string_view OffsetsKey();
std::string_view DescriptorKey();
std::string_view JournalStartKey();
std::string_view SweepKey();
StoredUserKey KeyOf(Table table, const UserRef& user);
/// The first key past `table`.
std::string_view EndOf(Table table);

/// kCorrupt unless `key` is one of KeyOf(`table`, ...).
Result<UserRef> UserOf(Table table, std::string_view key);

inline constexpr size_t kEndingKeyBytes = 23;  // table, second (big-endian), filter, user key
using StoredEndingKey = std::array<char, kEndingKeyBytes>;
StoredEndingKey KeyOf(const Ending& ending);
/// kCorrupt unless `key` is an ending's.
Result<Ending> EndingOf(std::string_view key);

inline constexpr size_t kServedKeyBytes = 35;  // table, due second, user key, item, offset, place: big-endian
using StoredServedKey = std::array<char, kServedKeyBytes>;
StoredServedKey KeyOf(const ServedRow& row);
/// kCorrupt unless `key` is a served row's.
Result<ServedRow> ServedRowOf(std::string_view key);

template <size_t kBytes>
std::string_view View(const std::array<char, kBytes>& key) {
  return {key.data(), key.size()};
}

}  // namespace seen
