#pragma once
// What is held in memory of a bucket's keys (item_store/item_presence.h), as rows: schemas/store.md, "The
// index of items". Each checkpoint writes the hashes that were noted since the one before. So a start reads
// six bytes a hash, 60 an item, and not the items. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "item_store/item_presence.h"

namespace seen {

struct PresenceHashes {
  std::vector<uint64_t> keys;    // as ItemPresence::Add takes them
  std::vector<uint64_t> listed;  // as ItemPresence::AddListed does
};

/// Values of rows, of some 400 KB at most.
std::vector<std::string> EncodePresence(const PresenceHashes& hashes);

/// False: EncodePresence didn't write it.
[[nodiscard]] bool AddPresence(std::string_view row, ItemPresence& presence);

}  // namespace seen
