#include "item_store/presence_rows.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/byte_codec.h"

namespace seen {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kHashBytes = 6;
constexpr size_t kRowHashes = 64 * 1024;
constexpr size_t kHeadBytes = 1 + sizeof(uint32_t);

void PutHash(uint64_t hash, std::string& out) {
  PutLittleEndian(static_cast<uint16_t>(hash >> 16), out);
  PutLittleEndian(static_cast<uint32_t>(hash >> 32), out);
}

std::string EncodeRow(std::span<const uint64_t> keys, std::span<const uint64_t> listed) {
  std::string row;
  row.reserve(kHeadBytes + (keys.size() + listed.size()) * kHashBytes);
  PutLittleEndian(kVersion, row);
  PutLittleEndian(static_cast<uint32_t>(keys.size()), row);
  for (const uint64_t hash : keys) PutHash(hash, row);
  for (const uint64_t hash : listed) PutHash(hash, row);
  return row;
}

}  // namespace

std::vector<std::string> EncodePresence(const PresenceHashes& hashes) {
  std::vector<std::string> rows;
  std::span<const uint64_t> keys(hashes.keys), listed(hashes.listed);
  while (!keys.empty() || !listed.empty()) {
    const auto first_keys = keys.first(std::min(keys.size(), kRowHashes));
    const auto first_listed = listed.first(std::min(listed.size(), kRowHashes - first_keys.size()));
    rows.push_back(EncodeRow(first_keys, first_listed));
    keys = keys.subspan(first_keys.size());
    listed = listed.subspan(first_listed.size());
  }
  return rows;
}

bool AddPresence(std::string_view row, ItemPresence& presence) {
  FieldReader fields(row);
  if (fields.Get<uint8_t>() != kVersion) return false;
  const auto keys = fields.Get<uint32_t>();
  if (!fields.ok() || (row.size() - kHeadBytes) % kHashBytes != 0) return false;
  const size_t count = (row.size() - kHeadBytes) / kHashBytes;
  if (keys > count) return false;
  // Each hash is in another cache line: prefetch it while the hashes before it are added.
  constexpr size_t kAhead = 16;
  std::array<uint64_t, kAhead> ahead;
  for (size_t i = 0; i < count + kAhead; ++i) {
    uint64_t& hash = ahead[i % kAhead];
    if (i >= kAhead && i - kAhead < keys) {
      presence.Add(hash);
    } else if (i >= kAhead) {
      presence.AddListed(hash);
    }
    if (i >= count) continue;
    hash = static_cast<uint64_t>(fields.Get<uint16_t>()) << 16;
    hash |= static_cast<uint64_t>(fields.Get<uint32_t>()) << 32;
    presence.Prefetch(hash);
  }
  return fields.Complete();
}

}  // namespace seen
