#pragma once
// A user's stored set as one line of JSON: docs/SEENCTL.md, "export".

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/delta.h"
#include "model/hashes.h"

namespace seen {

/// Item ids by fingerprint, as far as the journal knows them.
using ItemIds = std::map<uint32_t, std::string>;

struct StoredUser {
  int32_t partition = 0;
  std::string_view filter;
  UserKey key;
  std::string_view user_id;  // empty: the id is gone
  const Delta& delta;
  const ItemIds& ids;
  const std::vector<std::string>& kinds;  // declared kinds, by number - 16
};

/// Includes the newline.
std::string UserLine(const StoredUser& user);

}  // namespace seen
