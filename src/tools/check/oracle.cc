#include "tools/check/oracle.h"

#include <algorithm>

namespace seen {

uint32_t Oracle::NumberOf(std::string_view item) {
  if (const auto known = items_.find(item); known != items_.end()) return known->second;
  const auto number = static_cast<uint32_t>(ids_.size());
  ids_.push_back(&items_.emplace(std::string(item), number).first->first);
  fingerprints_.push_back(FingerprintOf(item));
  return number;
}

void Oracle::Add(const JudgedEvent& event) {
  auto at = users_.find(event.user_id);
  if (at == users_.end()) at = users_.emplace(std::string(event.user_id), std::vector<UserEntry>()).first;
  std::vector<UserEntry>& entries = at->second;
  UserEntry entry{.item = UserEntry::kNoItem,
                  .second = event.second,
                  .created = 0,
                  .filters = 0,
                  .source = event.source,
                  .kind = event.kind};
  if (event.kind == EventKind::kErased) entries.push_back(entry);
  for (const JudgedItem& item : event.items) {
    entry.item = NumberOf(item.id);
    entry.created = static_cast<uint16_t>(std::clamp(item.created.since_epoch, 0, 65'535));
    entry.filters = item.filters;
    entries.push_back(entry);
  }
}

std::span<const UserEntry> Oracle::EntriesOf(std::string_view user_id) const {
  const auto at = users_.find(user_id);
  return at == users_.end() ? std::span<const UserEntry>() : std::span<const UserEntry>(at->second);
}

SeenItems Oracle::Seen(std::string_view user_id, const Moment& moment, size_t filter) const {
  return WhatIsSeen(EntriesOf(user_id), fingerprints_, rules_.filters[filter], filter, moment);
}

std::vector<uint32_t> Oracle::ItemsOf(std::string_view user_id) const {
  std::vector<uint32_t> items;
  for (const UserEntry& entry : EntriesOf(user_id)) {
    if (entry.item != UserEntry::kNoItem) items.push_back(entry.item);
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

std::vector<std::string_view> Oracle::Users() const {
  std::vector<std::string_view> ids;
  ids.reserve(users_.size());
  for (const auto& [id, entries] : users_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace seen
