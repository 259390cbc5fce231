#include "tools/replay/state_sample.h"

#include <algorithm>

#include "model/delta.h"

namespace seen {

namespace {

constexpr uint64_t kKeyBytes = 20;  // about the filter and user key of a row

void MakeUnique(std::vector<Fingerprint>& fingerprints) {
  std::sort(fingerprints.begin(), fingerprints.end());
  fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
}

}  // namespace

void StateSample::Add(const UserKey& user, std::string_view user_id, Day day,
                      std::span<const ExposedItem> items) {
  if (!Keeps(user)) return;
  User& kept = users_[user];
  if (kept.id.empty()) kept.id = user_id;
  auto& fingerprints = kept.days[day.since_epoch];
  for (const ExposedItem& item : items) fingerprints.push_back(item.fingerprint);
  fingerprints_ += items.size();
  if (fingerprints_ > fingerprints_max_) Thin();
}

void StateSample::Thin() {
  fingerprints_ = 0;
  for (auto& [key, user] : users_) {
    for (auto& [day, fingerprints] : user.days) {
      MakeUnique(fingerprints);
      fingerprints_ += fingerprints.size();
    }
  }
  while (fingerprints_ > fingerprints_max_ / 2 && thinned_ < 40) {
    ++thinned_;
    std::erase_if(users_, [&](const auto& entry) {
      if (Keeps(entry.first)) return false;
      for (const auto& [day, fingerprints] : entry.second.days) fingerprints_ -= fingerprints.size();
      return true;
    });
  }
}

uint64_t StateSample::EstimatedBytes(std::span<const FilterConfig> filters, Day today) const {
  uint64_t bytes = 0;
  std::string row;
  for (const auto& [key, user] : users_) {
    for (const FilterConfig& filter : filters) {
      Delta delta{.user_id = user.id, .erased = {}, .removals = {}, .segments = {}};
      for (const auto& [day, fingerprints] : user.days) {
        if (day < today.since_epoch - filter.window_days) continue;
        delta.segments.push_back({Day{day}, 0, 86'399, fingerprints});
        MakeUnique(delta.segments.back().fingerprints);
      }
      if (delta.segments.empty()) continue;
      row.clear();
      EncodeDelta(delta, row);
      bytes += row.size() + kKeyBytes;
    }
  }
  return bytes << thinned_;
}

}  // namespace seen
