#include "flow/partition_checkpoint.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "base/probed_cells.h"
#include "flow/endings.h"
#include "flow/last_published.h"
#include "flow/log_port.h"
#include "flow/partition_journal.h"
#include "flow/publish_flow.h"
#include "flow/reporter.h"
#include "flow/sweep.h"
#include "flow/unexposed_flow.h"
#include "flow/update_stream.h"
#include "flow/user_rows.h"
#include "model/change.h"
#include "model/delta.h"
#include "owner/foreign_users.h"

namespace seen {
namespace {

constexpr size_t kPrefetchedUsers = 8;  // ahead of the one that is written
// Dead letters usually need milliseconds. After this time the checkpoint no longer waits, and its offset is
// held back instead.
constexpr std::chrono::seconds kDeadLettersAwaited{5};

/// The part of a checkpoint that marks the users whose snapshot isn't acknowledged, and clears the marks of
/// users whose snapshot is.
class MarksPart final : public CheckpointPart {
 public:
  /// All references outlive this.
  MarksPart(const PartitionState& state, const PartitionStore& store, PublishFlow& publish,
            const ForeignUsers& foreign, const Sweep& sweep)
      : state_(state), store_(store), publish_(publish), foreign_(foreign), sweep_(sweep) {}

  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override {
    publish_.MarksCommitted(checkpoint.frozen.deferred);
    if (checkpoint.frozen.ends_replays) publish_.HoldMarks(false);
    if (checkpoint.frozen.defers_live) publish_.LetMarksGo();
  }
  void Failed() override { publish_.MarksFailed(); }
  bool HasChanges() const override { return publish_.HasMarkChanges(); }

 private:
  std::vector<UserRef> DeferredUsers(const Checkpoint& checkpoint) const;

  const PartitionState& state_;
  const PartitionStore& store_;
  PublishFlow& publish_;
  const ForeignUsers& foreign_;
  const Sweep& sweep_;
  MarkChanges marks_;  // of the checkpoint under way
};

// Users whose publication the worker left to a mark, and erased users, who need marks for retired topics.
std::vector<UserRef> MarksPart::DeferredUsers(const Checkpoint& checkpoint) const {
  std::vector<UserRef> deferred;
  for (const size_t index : state_.filters().by_id) {
    for (const Tail::UserSlot* const user : checkpoint.users) {
      if (user->deferred >> index & 1) deferred.push_back({state_.options().filters[index].id, user->key});
    }
  }
  // A retired topic gets only tombstones, each by its mark.
  for (const RetiredTopic& retired : state_.options().retired_topics) {
    for (const UserRef& erased : checkpoint.erased) {
      if (erased.filter == checkpoint.erased.front().filter) deferred.push_back({retired.id, erased.user});
    }
  }
  return deferred;
}

Status MarksPart::Begin(Checkpoint& checkpoint, CheckpointWriter&) {
  // Marks of erased users are written even if one stands already: marks of older versions have no id.
  // Where readers begin at what was published, no user may be missing in the topic.
  const auto some_missing = [&] { return state_.filters().updates != 0 && sweep_.OwesAll(); };
  const bool were_missing = some_missing();
  marks_ = publish_.CollectMarks(DeferredUsers(checkpoint), checkpoint.erased,
                                 were_missing ? PublishFlow::kNoOffset : checkpoint.position.next_offset,
                                 checkpoint.frozen.at);
  if (!were_missing && some_missing()) publish_.TakeBackPublishedTo();  // a topic was cut meanwhile
  return {};
}

Status MarksPart::Write(Checkpoint& checkpoint, CheckpointWriter& writer) {
  const MarkChanges marks = std::exchange(marks_, {});
  checkpoint.report.marks_set = marks.set.size();
  checkpoint.report.marks_cleared = marks.clear.size();
  const auto& users = checkpoint.users;
  const PartitionState::Tails tails = state_.GetTails();
  auto set = marks.set.begin();
  auto clear = marks.clear.begin();
  auto user = users.begin();  // follows `set` through the users of each filter
  while (set != marks.set.end() || clear != marks.clear.end()) {
    const bool set_is_next = clear == marks.clear.end() || (set != marks.set.end() && *set < *clear);
    if (!set_is_next) {
      if (Status cleared = writer.ClearMark(*clear++); !cleared) return cleared;
      continue;
    }
    if (set != marks.set.begin() && set->filter != std::prev(set)->filter) user = users.begin();
    while (user != users.end() && (*user)->key < set->user) ++user;
    Mark mark{*set, {}};
    if (user != users.end() && (*user)->key == set->user) {
      mark.user_id = (*user)->user_id();
    } else if (const std::string_view id = tails.active->IdOf(set->user); !id.empty()) {
      mark.user_id = id;
    } else {
      auto stored = StoredUserId(store_, *set);
      if (!stored) return Fail(stored.error());
      mark.user_id = stored->empty() ? foreign_.IdOf(set->filter, set->user) : std::move(*stored);
    }
    if (Status marked = writer.SetMark(mark); !marked) return marked;
    ++set;
  }
  return {};
}

/// The part of a checkpoint that writes the users of the frozen tail: their deltas in each filter, and the
/// exposures that resolve served items.
class UsersPart final : public CheckpointPart {
 public:
  /// `state` outlives this.
  explicit UsersPart(const PartitionState& state) : state_(state) {}

  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;

 private:
  // Writes the erasures in the tail to a filter that isn't configured any more.
  Status WriteErasures(FilterId retired, const Checkpoint& checkpoint, CheckpointWriter& writer);
  Status WriteFilter(FilterIndex filter_index, Checkpoint& checkpoint, CheckpointWriter& writer);
  static Status WriteResolving(const Checkpoint& checkpoint, CheckpointWriter& writer);
  static void NoteEndings(const FilterPolicy& filter, const UserKey& user, std::span<const Change> changes,
                          std::vector<Ending>& endings);

  const PartitionState& state_;
  ChangeEncoder encoder_;  // checkpoint thread
};

Status UsersPart::Begin(Checkpoint& checkpoint, CheckpointWriter&) {
  if (!checkpoint.frozen.has_erased) return {};
  std::vector<Change> changes;
  for (const FilterIndex index : state_.filters().by_id) {
    for (const Tail::UserSlot* const user : checkpoint.users) {
      changes.clear();
      checkpoint.frozen.tail->ReadSlot(*user, static_cast<FilterMask>(1u << index), changes);
      if (std::any_of(changes.begin(), changes.end(),
                      [](const Change& change) { return change.kind == ChangeKind::kErased; })) {
        checkpoint.erased.push_back({state_.options().filters[index].id, user->key});
      }
    }
  }
  return {};
}

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
    if (frozen.has_served && filter.snapshot && !filter.updates)
      NoteEndings(filter, user.key, changes, checkpoint.endings);
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

}  // namespace

PartitionCheckpoint::PartitionCheckpoint(PartitionState& state, const Parts& parts, PartitionStore& store,
                                         const DeadLetterSink& dead_letters, Reporter& reporter,
                                         const Clock& clock)
    : state_(state),
      parts_(parts),
      store_(store),
      dead_letters_(dead_letters),
      reporter_(reporter),
      clock_(clock) {
  own_.push_back(std::make_unique<UsersPart>(state));
  own_.push_back(std::make_unique<MarksPart>(state, store, parts.publish, parts.foreign_users, parts.sweep));
  // The sweep first: it collects before the marks are collected, and writes afterwards.
  in_order_ = {&parts.sweep, own_[0].get(), &parts.last_published, own_[1].get(), &parts.endings};
  if (parts.journal) in_order_.insert(in_order_.begin() + 1, parts.journal);
  if (parts.unexposed) in_order_.push_back(parts.unexposed);
}

bool PartitionCheckpoint::PartsHaveChanges() const {
  return std::any_of(in_order_.begin(), in_order_.end(), [](const auto* part) { return part->HasChanges(); });
}

bool PartitionCheckpoint::IsUrgent() const {
  return std::any_of(in_order_.begin(), in_order_.end(), [](const auto* part) { return part->IsUrgent(); });
}

bool PartitionCheckpoint::AwaitsDeadLetters() const {
  const FrozenTail& frozen = state_.frozen();
  const int64_t oldest = dead_letters_.OldestUnacknowledged(state_.options().partition);
  return oldest >= 0 && oldest < frozen.position.next_offset &&
         clock_.Now() - frozen.at < kDeadLettersAwaited;
}

// The state may be ahead of the offset, because reading a record again changes nothing.
Position PartitionCheckpoint::PositionNow() const {
  const FrozenTail& frozen = state_.frozen();
  Position position = frozen.position;
  position.read_to = std::max(position.next_offset, state_.opened_read_to());
  if (parts_.updates != nullptr) {
    const auto held = parts_.updates->HeldAt();
    if (held && held->offset < position.next_offset) {
      position.next_offset = held->offset;
      position.anchor = held->anchor;
    }
  }
  const int64_t oldest = dead_letters_.OldestUnacknowledged(state_.options().partition);
  if (oldest < 0 || oldest >= position.next_offset) return position;
  position.next_offset = oldest;
  const auto held = std::find_if(frozen.rejected.begin(), frozen.rejected.end(),
                                 [&](const Anchor& anchor) { return anchor.offset == oldest; });
  position.anchor = held == frozen.rejected.end() ? Anchor{} : *held;
  return position;
}

void PartitionCheckpoint::SetHorizons(TimeMs wall, TimeMs partition_time) {
  const Day swept_through = parts_.sweep.SweptThrough();
  for (const FilterPolicy& filter : state_.options().filters) {
    store_.SetHorizon(filter.id, filter.ByteHorizon(wall, partition_time, swept_through));
  }
  if (parts_.unexposed) store_.SetHorizon(kResolvingFilter, parts_.unexposed->ResolvingHorizon());
}

Status PartitionCheckpoint::WriteParts(Checkpoint& checkpoint) {
  auto writer = BeginCheckpoint(state_.options(), store_, checkpoint.position);
  if (!writer) return Fail(writer.error());
  for (CheckpointPart* const part : in_order_) {
    if (Status begun = part->Begin(checkpoint, **writer); !begun) return begun;
  }
  for (CheckpointPart* const part : in_order_) {
    if (Status written = part->Write(checkpoint, **writer); !written) return written;
  }
  return (*writer)->Commit();
}

Result<int64_t> PartitionCheckpoint::Write() {
  Check(state_.HasFrozen(), "nothing is frozen");
  const Instant begun = clock_.Now();
  FrozenTail& frozen = state_.frozen();
  const int32_t partition = state_.options().partition;
  const TimeMs wall = clock_.WallNow();
  Checkpoint checkpoint{frozen, PositionNow(), wall, frozen.tail->SortedUsers(), {}, {}, {}};
  checkpoint.report.next_offset = checkpoint.position.next_offset;
  SetHorizons(wall, checkpoint.position.partition_time);
  if (const Status written = WriteParts(checkpoint); !written) {
    for (CheckpointPart* const part : in_order_) part->Failed();
    state_.NoteCheckpointProblem(written.error().message);
    reporter_.CheckpointFailed(partition, written.error());
    return Fail(written.error());
  }
  for (CheckpointPart* const part : in_order_) part->Committed(checkpoint);
  const Position position = checkpoint.position;
  CheckpointReport report = checkpoint.report;
  report.duration = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - begun);
  state_.NoteCheckpoint(report, wall);
  reporter_.CheckpointWritten(partition, report);
  state_.DropFrozen(position);  // `checkpoint` refers to the frozen tail: don't use it after this
  return position.next_offset;
}

}  // namespace seen
