#include "rows/keys.h"

#include <algorithm>
#include <string>

#include "base/byte_codec.h"

namespace seen {

std::string_view PositionKey() { return std::string_view("\x00", 1); }
std::string_view WholenessKey() { return std::string_view("\x00\x01", 2); }
std::string_view OffsetsKey() { return std::string_view("\x00\x02", 2); }
std::string_view DescriptorKey() { return "\x01"; }
std::string_view JournalStartKey() { return "\x02"; }
std::string_view SweepKey() { return "\x03"; }
std::string_view EndOf(Table table) {
  switch (table) {
    case Table::kPublished:
      return "\x12";
    case Table::kMarks:
      return "\x21";
    case Table::kEndings:
      return "\x22";
    case Table::kServed:
      return "\x31";
    default:
      return "\x11";
  }
}

StoredUserKey KeyOf(Table table, const UserRef& user) {
  StoredUserKey key;
  key[0] = static_cast<char>(table);
  key[1] = static_cast<char>(user.filter.number() >> 8);
  key[2] = static_cast<char>(user.filter.number() & 0xff);
  const auto bytes = ToBytes(user.user);
  std::copy(bytes.begin(), bytes.end(), key.begin() + 3);
  return key;
}

StoredEndingKey KeyOf(const Ending& ending) {
  StoredEndingKey key;
  key[0] = static_cast<char>(Table::kEndings);
  char* to = key.data() + 1;
  PutBigEndian(ending.at_s, to);
  const StoredUserKey user = KeyOf(Table::kEndings, ending.user);
  std::copy(user.begin() + 1, user.end(), key.begin() + 5);
  return key;
}

Result<Ending> EndingOf(std::string_view key) {
  if (key.size() != kEndingKeyBytes || key[0] != static_cast<char>(Table::kEndings)) {
    return Fail(Code::kCorrupt, "a key of " + std::to_string(key.size()) + " bytes that isn't an ending's");
  }
  Ending ending;
  const char* from = key.data() + 1;
  ending.at_s = GetBigEndian<uint32_t>(from);
  StoredUserKey user;
  user[0] = key[0];
  std::copy(key.begin() + 5, key.end(), user.begin() + 1);
  ending.user = *UserOf(Table::kEndings, View(user));
  return ending;
}

StoredServedKey KeyOf(const ServedRow& row) {
  StoredServedKey key;
  char* to = key.data();
  *to++ = static_cast<char>(Table::kServed);
  PutBigEndian(row.due_s, to);
  PutBigEndian(row.user.high, to);
  PutBigEndian(row.user.low, to);
  PutBigEndian(row.item.value, to);
  PutBigEndian(row.offset, to);
  PutBigEndian(row.place, to);
  return key;
}

Result<ServedRow> ServedRowOf(std::string_view key) {
  if (key.size() != kServedKeyBytes || key[0] != static_cast<char>(Table::kServed)) {
    return Fail(Code::kCorrupt,
                "a key of " + std::to_string(key.size()) + " bytes that isn't a served item's");
  }
  const char* from = key.data() + 1;
  ServedRow row;
  row.due_s = GetBigEndian<uint32_t>(from);
  row.user.high = GetBigEndian<uint64_t>(from);
  row.user.low = GetBigEndian<uint64_t>(from);
  row.item.value = GetBigEndian<uint32_t>(from);
  row.offset = GetBigEndian<int64_t>(from);
  row.place = GetBigEndian<uint16_t>(from);
  return row;
}

Result<UserRef> UserOf(Table table, std::string_view key) {
  if (key.size() != kUserKeyBytes || key[0] != static_cast<char>(table)) {
    return Fail(Code::kCorrupt, "a key of " + std::to_string(key.size()) + " bytes that isn't a user's");
  }
  const auto high = static_cast<unsigned char>(key[1]);
  const auto low = static_cast<unsigned char>(key[2]);
  return UserRef{FilterId(size_t{high} << 8 | low), UserKeyFromBytes(key.data() + 3)};
}

}  // namespace seen
