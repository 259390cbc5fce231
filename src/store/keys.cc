#include "store/keys.h"

#include <algorithm>
#include <string>

namespace seen {

std::string_view PositionKey() { return std::string_view("\x00", 1); }
std::string_view DescriptorKey() { return "\x01"; }
std::string_view JournalStartKey() { return "\x02"; }
std::string_view EndOf(Table table) { return table == Table::kMarks ? "\x21" : "\x11"; }

StoredUserKey KeyOf(Table table, const UserRef& user) {
  StoredUserKey key;
  key[0] = static_cast<char>(table);
  key[1] = static_cast<char>(user.filter >> 8);
  key[2] = static_cast<char>(user.filter & 0xff);
  const auto bytes = ToBytes(user.user);
  std::copy(bytes.begin(), bytes.end(), key.begin() + 3);
  return key;
}

Result<UserRef> UserOf(Table table, std::string_view key) {
  if (key.size() != kUserKeyBytes || key[0] != static_cast<char>(table)) {
    return Fail(Code::kCorrupt, "a key of " + std::to_string(key.size()) + " bytes that isn't a user's");
  }
  const auto high = static_cast<unsigned char>(key[1]);
  const auto low = static_cast<unsigned char>(key[2]);
  return UserRef{static_cast<FilterId>(high << 8 | low), UserKeyFromBytes(key.data() + 3)};
}

}  // namespace seen
