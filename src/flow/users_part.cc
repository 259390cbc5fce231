#include "flow/users_part.h"

#include <algorithm>

#include "base/prefetch.h"
#include "model/delta.h"

namespace seen {
namespace {
constexpr size_t kPrefetchedUsers = 8;  // ahead of the one that is written
}  // namespace

Status UsersPart::Write(Checkpoint& checkpoint, CheckpointWriter& writer) {
  const std::vector<FilterId>& retired = state_.options().retired_filters;
  auto next_retired = retired.begin();
  for (const FilterIndex index : state_.filters().by_id) {
    for (; next_retired != retired.end() && *next_retired < state_.options().filters[index].id;
         ++next_retired) {
      if (Status written = WriteErasures(*next_retired, checkpoint, writer); !written) return written;
    }
    if (Status written = WriteFilter(index, checkpoint, writer); !written) return written;
  }
  for (; next_retired != retired.end(); ++next_retired) {
    if (Status written = WriteErasures(*next_retired, checkpoint, writer); !written) return written;
  }
  return WriteResolving(checkpoint, writer);
}

Status UsersPart::WriteErasures(FilterId retired, const Checkpoint& checkpoint, CheckpointWriter& writer) {
  const FrozenTail& frozen = checkpoint.frozen;
  if (!frozen.has_erased) return {};
  std::vector<Change> changes;
  std::string encoded;
  for (const Tail::UserSlot* const user : checkpoint.users) {
    changes.clear();
    frozen.tail->ReadSlot(*user, FilterMask{1}, changes);  // an erasure stands in every configured filter
    std::erase_if(changes, [](const Change& change) { return change.kind != ChangeKind::kErased; });
    if (changes.empty()) continue;
    encoded.clear();
    encoder_.Encode(user->user_id(), changes, DeltaLimits(), encoded);
    if (Status added = writer.AddDelta({retired, user->key}, encoded); !added) return added;
  }
  return {};
}

Status UsersPart::WriteFilter(FilterIndex filter_index, Checkpoint& checkpoint, CheckpointWriter& writer) {
  const FilterPolicy& filter = state_.options().filters[filter_index];
  const FrozenTail& frozen = checkpoint.frozen;
  const auto& users = checkpoint.users;
  std::vector<Change> changes;
  std::string encoded;
  for (size_t i = 0; i < users.size(); ++i) {
    if (i + 2 * kPrefetchedUsers < users.size()) PrefetchLine(users[i + 2 * kPrefetchedUsers]);
    if (i + kPrefetchedUsers < users.size()) {
      frozen.tail->PrefetchBlock(*users[i + kPrefetchedUsers]);
      Tail::PrefetchId(*users[i + kPrefetchedUsers]);
    }
    const Tail::UserSlot& user = *users[i];
    changes.clear();
    frozen.tail->ReadSlot(user, static_cast<FilterMask>(1u << filter_index), changes);
    if (changes.empty()) continue;
    encoded.clear();
    encoder_.Encode(user.user_id(), changes, filter.limits, encoded);
    if (Status added = writer.AddDelta({filter.id, user.key}, encoded); !added) return added;
    if (frozen.has_served && filter.snapshot) NoteEndings(filter, user.key, changes, checkpoint.endings);
    if (frozen.has_erased && std::any_of(changes.begin(), changes.end(), [](const Change& change) {
          return change.kind == ChangeKind::kErased;
        })) {
      checkpoint.erased.push_back({filter.id, user.key});
    }
    ++checkpoint.report.users;
    checkpoint.report.bytes += encoded.size();
  }
  return {};
}

// Notes when the user's served items end. Endings of the past are written as well, because the last snapshot
// may hold the items.
void UsersPart::NoteEndings(const FilterPolicy& filter, const UserKey& user, std::span<const Change> changes,
                            std::vector<Ending>& endings) {
  const auto before = static_cast<std::ptrdiff_t>(endings.size());
  for (const Change& change : changes) {
    if (change.kind != ChangeKind::kServed) continue;
    const Ending ending{filter.ServedEnd(change.second), {filter.id, user}};
    if (std::find(endings.begin() + before, endings.end(), ending) == endings.end())
      endings.push_back(ending);
  }
}

Status UsersPart::WriteResolving(const Checkpoint& checkpoint, CheckpointWriter& writer) {
  if (!checkpoint.frozen.unexposed) return {};
  std::string encoded;
  for (const UnexposedLog::Resolved& resolved : checkpoint.frozen.unexposed->ResolvedUsers()) {
    encoded.clear();
    EncodeDelta(resolved.delta, encoded);
    if (Status added = writer.AddDelta({kResolvingFilter, resolved.user}, encoded); !added) return added;
  }
  return {};
}

}  // namespace seen
