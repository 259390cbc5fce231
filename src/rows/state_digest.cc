#include "rows/state_digest.h"

#include <algorithm>
#include <limits>

#include "rows/keys.h"

namespace seen {

Horizon DigestHorizon(const StoreDescriptor& descriptor, const StoredFilter& filter, TimeMs as_of) {
  const Day today = DayOf(as_of);
  Horizon horizon;
  horizon.exposed = horizon.by_creation = horizon.taken_back = today - filter.window_days;
  horizon.served_second =
      static_cast<uint32_t>(std::clamp<int64_t>(as_of.value / 1000, 0, std::numeric_limits<uint32_t>::max()));
  for (const StoredKind& kind : filter.kinds) {
    const auto known = std::find(descriptor.kinds.begin(), descriptor.kinds.end(), kind.name);
    if (known == descriptor.kinds.end()) continue;
    const Day first = today - kind.window_days;
    horizon.declared[static_cast<size_t>(known - descriptor.kinds.begin())] = first;
    horizon.taken_back = std::min(horizon.taken_back, first);
  }
  return horizon;
}

StateDigester::StateDigester(const StoreDescriptor& descriptor, const std::optional<Position>& position,
                             TimeMs as_of)
    : filters_(descriptor.filters) {
  digest_.partition = descriptor.identity.partition;
  digest_.as_of = as_of;
  if (position) {
    digest_.next_offset = position->next_offset;
    digest_.partition_time = position->partition_time;
  }
  std::array<std::string, kDeclaredKindsMax> declared;
  std::copy_n(descriptor.kinds.begin(), std::min(descriptor.kinds.size(), declared.size()), declared.begin());
  for (const StoredFilter& filter : filters_)
    digesters_.emplace_back(filter.name, declared, DigestHorizon(descriptor, filter, as_of));
}

Status StateDigester::Add(std::string_view key, std::string_view value) {
  if (key.empty() || static_cast<Table>(key[0]) != Table::kDeltas) return {};
  const auto user = UserOf(Table::kDeltas, key);
  if (!user) return Fail(user.error());
  if (user->filter == kResolvingFilter) return {};
  if (user->filter.number() >= digesters_.size())
    return Fail(Code::kCorrupt, "digest: a set of a filter that the descriptor doesn't have");
  return digesters_[user->filter.number()].Add(user->user, value);
}

PartitionDigest StateDigester::Finish() const {
  PartitionDigest digest = digest_;
  for (size_t i = 0; i < filters_.size(); ++i)
    digest.filters.push_back({filters_[i].name, filters_[i].window_days, digesters_[i].sum()});
  return digest;
}

void AddDigests(const std::vector<FilterDigest>& more, std::vector<FilterDigest>& sum) {
  for (const FilterDigest& digest : more) {
    const auto known = std::find_if(sum.begin(), sum.end(),
                                    [&](const FilterDigest& one) { return one.filter == digest.filter; });
    if (known == sum.end()) {
      sum.push_back(digest);
    } else {
      known->set += digest.set;
    }
  }
}

}  // namespace seen
