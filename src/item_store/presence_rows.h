#pragma once
// A bucket's presence (item_store/item_presence.h) as rows: schemas/store.md, "The index of items". Each
// checkpoint writes the hashes that were noted since the one before. So a start reads six bytes per hash, 60
// per item, instead of the items. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "item_store/item_presence.h"

namespace seen {

struct PresenceHashes {
  std::vector<uint64_t> keys;    // as ItemPresence::Add takes them
  std::vector<uint64_t> listed;  // as ItemPresence::AddListed takes them
};

/// The values of rows, about 400 KB each at most.
std::vector<std::string> EncodePresence(const PresenceHashes& hashes);

/// False: EncodePresence didn't write it.
[[nodiscard]] bool AddPresence(std::string_view row, ItemPresence& presence);

}  // namespace seen
