#include "flow/last_published.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "filter/snapshot.h"
#include "model/day.h"

namespace seen {
namespace {
constexpr size_t kSnapshotsAPage = 256;
}  // namespace

std::vector<FilterIndex> LastPublishedSnapshots::ToRead(TimeMs wall) const {
  std::vector<FilterIndex> filters;
  if (state_.options().publish_incomplete) return filters;
  for (FilterIndex i; i < state_.options().filters.size(); i = FilterIndex(i + 1)) {
    if (FilterAt(i).snapshot && state_.wholeness().last_published(i) == LastPublished::kUnread &&
        state_.wholeness().IncompleteSince(i, wall)) {
      filters.push_back(i);
    }
  }
  return filters;
}

Status LastPublishedSnapshots::Keep(FilterIndex filter_index, std::span<const Published> records) {
  std::map<UserRef, PublishedRow> rows;  // the last one of a user counts
  for (const Published& record : records) {
    if (!record.snapshot.empty()) {
      if (const auto view = SnapshotView::Parse(record.snapshot); !view) {
        if (unreadable_.fetch_add(1) == 0) {
          log::Warning(
              "a record of a snapshot topic can't be read, and is skipped; later ones are only counted",
              {{"partition", state_.options().partition},
               {"filter", FilterAt(filter_index).name},
               {"reason", view.error().message}});
        }
        continue;
      }
    }
    const UserRef user{FilterAt(filter_index).id, UserKeyOf(record.user_id)};
    rows[user] = {user, std::string(record.user_id), std::string(record.snapshot)};
  }
  std::vector<PublishedRow> ascending;
  ascending.reserve(rows.size());
  for (auto& [user, row] : rows) ascending.push_back(std::move(row));
  return store_.KeepPublished(ascending);
}

void LastPublishedSnapshots::EndReading(FilterIndex filter_index) {
  state_.wholeness().SetLastPublished(filter_index, LastPublished::kKept);
}

bool LastPublishedSnapshots::IsMerged(FilterIndex filter_index, TimeMs wall) const {
  return state_.wholeness().last_published(filter_index) == LastPublished::kKept &&
         !state_.options().publish_incomplete &&
         state_.wholeness().IncompleteSince(filter_index, wall).has_value();
}

bool LastPublishedSnapshots::Withholds(FilterIndex filter_index, TimeMs wall) const {
  const bool takes_union = CanGrow(FilterAt(filter_index).snapshot->shape().format);
  return publish_.Withholds(filter_index) || (IsMerged(filter_index, wall) && !takes_union);
}

void LastPublishedSnapshots::DropErased(const UserRef& user) {
  const MutexLock lock(mutex_);
  erased_.push_back(user);
}

Status LastPublishedSnapshots::Step(Instant now, TimeMs wall) {
  // A drop can't be undone, so both clocks must say that the window has passed.
  const TimeMs at = std::min(wall, state_.partition_time());
  if (!ending_) {
    for (FilterIndex i; i < state_.options().filters.size() && !ending_; i = FilterIndex(i + 1)) {
      if (state_.wholeness().last_published(i) != LastPublished::kKept) continue;
      if (state_.wholeness().IncompleteSince(i, at)) continue;
      const MutexLock lock(mutex_);
      const auto has = [&](const std::vector<FilterIndex>& some) {
        return std::count(some.begin(), some.end(), i) > 0;
      };
      if (has(ended_) || has(ended_under_way_)) continue;
      ending_ = i;
      ending_after_ = UserRef{FilterAt(i).id, {}};
    }
    if (!ending_) return {};
  }
  if (!publish_.TakesMore(kSnapshotsAPage)) return {};
  const auto page = store_.ScanPublished(ending_after_, kSnapshotsAPage);
  if (!page) return Fail(page.error());
  std::vector<UserRef> due;
  for (const PublishedRow& row : *page) {
    if (row.user.filter == FilterAt(*ending_).id) due.push_back(row.user);
  }
  if (FilterAt(*ending_).snapshot) publish_.AddDue(due, now);
  if (!due.empty()) ending_after_ = due.back();
  if (due.size() == kSnapshotsAPage) return {};
  // The kept snapshots have the users' ids. So they are dropped by a checkpoint that marks the users who
  // became due.
  const MutexLock lock(mutex_);
  ended_.push_back(*ending_);
  ending_.reset();
  return {};
}

bool LastPublishedSnapshots::HasChanges() const {
  const MutexLock lock(mutex_);
  return !erased_.empty() || !ended_.empty();
}

Status LastPublishedSnapshots::Write(Checkpoint&, CheckpointWriter& writer) {
  std::vector<FilterIndex> ended;
  {
    const MutexLock lock(mutex_);
    erased_under_way_.insert(erased_under_way_.end(), erased_.begin(), erased_.end());
    ended_under_way_.insert(ended_under_way_.end(), ended_.begin(), ended_.end());
    erased_.clear();
    ended_.clear();
    ended = ended_under_way_;
  }
  std::sort(erased_under_way_.begin(), erased_under_way_.end());
  erased_under_way_.erase(std::unique(erased_under_way_.begin(), erased_under_way_.end()),
                          erased_under_way_.end());
  for (const UserRef& user : erased_under_way_) {
    if (Status dropped = writer.DropPublished(user); !dropped) return dropped;
  }
  for (const size_t filter : ended) {
    if (Status dropped = writer.DropAllPublished(FilterAt(filter).id); !dropped) return dropped;
  }
  return {};
}

void LastPublishedSnapshots::Committed(const Checkpoint&) {
  std::vector<FilterIndex> ended;
  {
    const MutexLock lock(mutex_);
    erased_under_way_.clear();
    ended.swap(ended_under_way_);
  }
  for (const FilterIndex filter : ended) state_.wholeness().SetLastPublished(filter, LastPublished::kInState);
}

void LastPublishedSnapshots::Failed() {
  const MutexLock lock(mutex_);
  erased_.insert(erased_.end(), erased_under_way_.begin(), erased_under_way_.end());
  ended_.insert(ended_.end(), ended_under_way_.begin(), ended_under_way_.end());
  erased_under_way_.clear();
  ended_under_way_.clear();
}

}  // namespace seen
