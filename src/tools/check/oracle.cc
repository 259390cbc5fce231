#include "tools/check/oracle.h"

#include <algorithm>

namespace seen {
namespace {

template <typename T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// As the daemon does by default, kinds and all.
std::shared_ptr<const EventPlan> PlanWithKinds() {
  EventFormat format;
  format.wanted.kind = true;
  return *EventPlan::Make(format);
}

}  // namespace

Oracle::Oracle(const OracleRules& rules) : rules_(rules), decoder_(rules.event_bytes_max, PlanWithKinds()) {}

Oracle::User::User(const User& other)
    : exposures(other.exposures), compact(other.compact), doubtful(other.doubtful), total(other.total) {}

// What was shown up to the day, and came before; what comes later from before it is late.
void Oracle::TakeBack(User& user, std::optional<uint32_t> item, Day day) {
  if (!user.taken_back) user.taken_back = std::make_unique<TakenBack>();
  if (item) {
    const auto [at, is_new] = user.taken_back->items.try_emplace(*item, day);
    if (!is_new) at->second = std::max(at->second, day);
  } else {
    user.taken_back->all = std::max(user.taken_back->all.value_or(day), day);
  }
  const auto gone = [&](const Exposure& exposure) {
    return exposure.day <= day && (!item || exposure.item == *item);
  };
  std::erase_if(user.exposures, gone);
  std::erase_if(user.doubtful, gone);
  user.compact = 0;
}

bool Oracle::CameTooLate(const User& user, uint32_t item, Day day) {
  if (!user.taken_back) return false;
  if (user.taken_back->all && day < *user.taken_back->all) return true;
  const auto found = user.taken_back->items.find(item);
  return found != user.taken_back->items.end() && day < found->second;
}

void Oracle::Compact(User& user) {
  SortUnique(user.exposures);
  user.compact = user.exposures.size();
}

void Oracle::AddRecord(TimeMs timestamp, std::string_view value, bool value_is_null) {
  ++counts_.records;
  if (value_is_null || value.size() > rules_.event_bytes_max) {
    ++counts_.malformed;
    return;
  }
  const auto event = decoder_.Decode(value);
  if (!event || event->exposed_at.value > timestamp.value + rules_.future_skew_s_max * int64_t{1000}) {
    ++counts_.malformed;
    return;
  }
  auto at = users_.find(event->user_id);
  if (at == users_.end()) at = users_.emplace(std::string(event->user_id), User{}).first;
  User& user = at->second;
  const Day day = DayOf(event->exposed_at);
  if (event->kind == EventKind::kErased) TakeBack(user, std::nullopt, day);
  for (const ExposedItem& exposed : event->items) {
    auto known = item_index_.find(exposed.item_id);
    if (known == item_index_.end()) {
      known = item_index_.emplace(std::string(exposed.item_id), static_cast<uint32_t>(items_.size())).first;
      items_.push_back({&known->first, FingerprintOf(exposed.item_id)});
    }
    if (event->kind == EventKind::kRemoved) {
      TakeBack(user, known->second, day);
      continue;
    }
    if (CameTooLate(user, known->second, day)) continue;
    if (event->kind != EventKind::kExposed) {  // seen for a while, or after all
      user.doubtful.push_back({day, known->second});
      continue;
    }
    if (day < Horizon(timestamp)) {
      ++counts_.too_old;
      user.doubtful.push_back({day, known->second});
      continue;
    }
    ++counts_.exposures;
    ++user.total;
    user.exposures.push_back({day, known->second});
    if (user.exposures.size() > 64 && user.exposures.size() > user.compact * 2) Compact(user);
  }
}

SeenItems Oracle::Seen(std::string_view user_id, Day horizon) const {
  SeenItems seen;
  const auto at = users_.find(user_id);
  if (at == users_.end()) return seen;
  User user = at->second;
  Compact(user);
  for (const Exposure& exposure : user.doubtful) {
    if (exposure.day >= horizon) seen.may.push_back(exposure.item);
  }

  // Newest day first, as the limits are applied. Counted in fingerprints, as the daemon does.
  std::vector<Fingerprint> held;
  bool full = false;
  for (size_t end = user.exposures.size(); end > 0;) {
    const Day day = user.exposures[end - 1].day;
    if (day < horizon) break;
    size_t begin = end;
    while (begin > 0 && user.exposures[begin - 1].day == day) --begin;
    std::vector<Fingerprint> of_day;
    for (size_t i = begin; i < end; ++i) of_day.push_back(items_[user.exposures[i].item].fingerprint);
    SortUnique(of_day);
    if (of_day.size() > rules_.items_per_day_max) of_day.resize(rules_.items_per_day_max);
    std::vector<Fingerprint> with_day;
    std::set_union(held.begin(), held.end(), of_day.begin(), of_day.end(), std::back_inserter(with_day));
    const bool crossing = !full && with_day.size() > rules_.items_max;
    for (size_t i = begin; i < end; ++i) {
      const uint32_t item = user.exposures[i].item;
      const bool kept = std::binary_search(of_day.begin(), of_day.end(), items_[item].fingerprint);
      if (!full && !crossing && kept) {
        seen.must.push_back(item);
      } else {
        seen.may.push_back(item);
      }
    }
    held = std::move(with_day);
    full = full || crossing;
    end = begin;
  }
  SortUnique(seen.must);
  SortUnique(seen.may);
  std::vector<uint32_t> only_may;
  std::set_difference(seen.may.begin(), seen.may.end(), seen.must.begin(), seen.must.end(),
                      std::back_inserter(only_may));
  seen.may = std::move(only_may);
  return seen;
}

std::vector<std::string_view> Oracle::Users() const {
  std::vector<std::string_view> ids;
  ids.reserve(users_.size());
  for (const auto& [id, user] : users_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

uint64_t Oracle::ExposuresOf(std::string_view user_id) const {
  const auto at = users_.find(user_id);
  return at == users_.end() ? 0 : at->second.total;
}

std::string_view Oracle::BusiestUser() const {
  std::string_view busiest;
  uint64_t most = 0;
  for (const auto& [id, user] : users_) {
    if (user.total > most || (user.total == most && (busiest.empty() || id < busiest))) {
      busiest = id;
      most = user.total;
    }
  }
  return busiest;
}

}  // namespace seen
