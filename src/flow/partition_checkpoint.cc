// A frozen tail becomes a checkpoint: users, marks, endings and the position in one step of the store.
#include <algorithm>
#include <iterator>
#include <limits>

#include "base/check.h"
#include "flow/partition_flow.h"
#include "model/change.h"
#include "model/delta_view.h"

namespace seen {
namespace {
constexpr size_t kPrefetchedUsers = 8;  // ahead of the one that is written
}  // namespace

Result<int64_t> PartitionFlow::WriteFrozen() {
  Check(HasFrozen(), "nothing is frozen");
  const Instant begun = clock_.Now();
  Frozen& frozen = *frozen_;
  Position position = frozen.position;
  const int64_t oldest = dead_letters_.OldestUnacknowledged(options_.partition);
  if (oldest >= 0 && oldest < position.next_offset) {
    // The state may be ahead of the offset: what is read again changes nothing.
    position.next_offset = oldest;
    const auto held = std::find_if(frozen.rejected.begin(), frozen.rejected.end(),
                                   [&](const Anchor& anchor) { return anchor.offset == oldest; });
    position.anchor = held == frozen.rejected.end() ? Anchor{} : *held;
  }
  const TimeMs wall = clock_.WallNow();
  for (const FilterPolicy& filter : options_.filters) {
    store_.SetHorizon(filter.id,
                      filter.ByteHorizon(wall, position.partition_time, republisher_.SweptThrough()));
  }
  if (unexposed_) store_.SetHorizon(kResolvingFilter, unexposed_->ResolvingHorizon());

  CheckpointReport report;
  report.next_offset = position.next_offset;
  const auto write = [&]() -> Status {
    auto writer = store_.BeginCheckpoint(position);
    if (!writer) return Fail(writer.error());
    if (journal_) {
      if (Status kept = journal_->Begin(**writer, wall, position.partition_time, report); !kept) return kept;
    }
    republished_ = republisher_.Collect();
    if (!republished_.progress.empty()) {
      if (Status put = (*writer)->PutSweep(republished_.progress); !put) return put;
    }
    if (Status users = WriteUsers(frozen, **writer, report); !users) return users;
    if (journal_) {
      if (Status rows = journal_->Write(**writer, report); !rows) return rows;
    }
    return (*writer)->Commit();
  };
  const Status written = write();
  if (!written) {
    publish_.MarksFailed();
    republisher_.Failed();
    reporter_.CheckpointFailed(options_.partition, written.error());
    const std::lock_guard lock(status_mutex_);
    checkpoint_problem_ = written.error().message;
    return Fail(written.error());
  }
  publish_.MarksCommitted();
  if (journal_) journal_->Committed();
  republisher_.Committed(endings_.empty() ? std::nullopt : std::optional(endings_.front().at_s));
  if (unexposed_) unexposed_->Committed(first_served_);
  checkpoint_time_ms_.store(position.partition_time.value, std::memory_order_release);
  tails_since_ms_.store(frozen.next_since_ms, std::memory_order_release);
  {
    // Readers who took the frozen tail keep it; the store has it all now.
    const std::lock_guard lock(tails_mutex_);
    tails_.frozen = nullptr;
  }
  checkpoint_offset_.store(position.next_offset, std::memory_order_release);
  report.duration = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - begun);
  {
    const std::lock_guard lock(status_mutex_);
    checkpoint_problem_.clear();
    last_checkpoint_at_ = wall;
    last_checkpoint_ = report;
  }
  reporter_.CheckpointWritten(options_.partition, report);
  frozen_.reset();
  has_frozen_.store(false, std::memory_order_release);
  return position.next_offset;
}

Status PartitionFlow::WriteUsers(const Frozen& frozen, CheckpointWriter& writer, CheckpointReport& report) {
  const std::vector<const Tail::UserSlot*> users = frozen.tail->SortedUsers();
  std::vector<Change> changes;
  ChangeEncoder encoder;
  std::string encoded;
  endings_.clear();
  erased_.clear();
  for (const size_t index : filters_by_id_) {
    const FilterPolicy& filter = options_.filters[index];
    for (size_t i = 0; i < users.size(); ++i) {
      if (i + 2 * kPrefetchedUsers < users.size()) __builtin_prefetch(users[i + 2 * kPrefetchedUsers]);
      if (i + kPrefetchedUsers < users.size()) frozen.tail->PrefetchBlock(*users[i + kPrefetchedUsers]);
      const Tail::UserSlot* const user = users[i];
      changes.clear();
      frozen.tail->ReadSlot(*user, static_cast<FilterMask>(1u << index), changes);
      if (changes.empty()) continue;
      encoded.clear();
      encoder.Encode(user->user_id(), changes, filter.limits, encoded);
      if (Status added = writer.AddDelta({filter.id, user->key}, encoded); !added) return added;
      if (frozen.has_served && filter.snapshot) NoteEndings(filter, user->key, changes);
      if (frozen.has_erased && std::any_of(changes.begin(), changes.end(), [](const Change& change) {
            return change.kind == ChangeKind::kErased;
          })) {
        erased_.push_back({filter.id, user->key});
      }
      ++report.users;
      report.bytes += encoded.size();
    }
  }
  if (Status resolving = WriteResolving(frozen, writer); !resolving) return resolving;
  if (Status marked = WriteMarks(users, writer, report); !marked) return marked;
  if (Status endings = WriteEndings(writer); !endings) return endings;
  return WriteServed(frozen, writer);
}

Status PartitionFlow::WriteMarks(const std::vector<const Tail::UserSlot*>& users, CheckpointWriter& writer,
                                 CheckpointReport& report) {
  std::vector<UserRef> deferred;
  for (const size_t index : filters_by_id_) {
    for (const Tail::UserSlot* user : users) {
      if (user->deferred >> index & 1) deferred.push_back({options_.filters[index].id, user->key});
    }
  }
  // Of the erased also where a mark stands: those that older versions wrote have no id.
  const MarkChanges marks = publish_.CollectMarks(std::move(deferred), erased_);
  report.marks_set = marks.set.size();
  report.marks_cleared = marks.clear.size();
  const Tails tails = GetTails();
  auto set = marks.set.begin();
  auto clear = marks.clear.begin();
  auto user = users.begin();  // follows `set` through each filter's
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
      auto stored = StoredId(*set);
      if (!stored) return Fail(stored.error());
      mark.user_id = std::move(*stored);
    }
    if (Status marked = writer.SetMark(mark); !marked) return marked;
    ++set;
  }
  return {};
}

// Of a user whom no tail knows: by the mark, else by the state, which has no id where nothing is left.
Result<std::string> PartitionFlow::StoredId(const UserRef& user) const {
  std::optional<UserRef> before = user;
  if (user.user.low > 0) {
    --before->user.low;
  } else if (user.user.high > 0) {
    before->user = {user.user.high - 1, std::numeric_limits<uint64_t>::max()};
  } else {
    before.reset();
    if (user.filter > 0) {
      constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
      before = UserRef{static_cast<FilterId>(user.filter - 1), {kMost, kMost}};
    }
  }
  const auto marks = store_.ScanMarks(before, 1);
  if (!marks) return Fail(marks.error());
  if (!marks->empty() && marks->front().user == user && !marks->front().user_id.empty()) {
    return marks->front().user_id;
  }
  std::string stored;
  const auto found = store_.ReadDelta(user, stored);
  if (!found) return Fail(found.error());
  DeltaView view;
  if (!*found || !ParseDelta(stored, view)) return std::string();
  return std::string(view.user_id);
}

// When what was served to the user ends by itself. Of one that has ended already the user is told nothing:
// whoever is unclean will be rendered without it, and who is clean may have it in the last snapshot.
void PartitionFlow::NoteEndings(const FilterPolicy& filter, const UserKey& user,
                                std::span<const Change> changes) {
  const size_t before = endings_.size();
  for (const Change& change : changes) {
    if (change.kind != ChangeKind::kServed) continue;
    const Ending ending{filter.ServedEnd(change.second), {filter.id, user}};
    if (std::find(endings_.begin() + static_cast<std::ptrdiff_t>(before), endings_.end(), ending) ==
        endings_.end()) {
      endings_.push_back(ending);
    }
  }
}

Status PartitionFlow::WriteEndings(CheckpointWriter& writer) {
  const uint32_t done = republished_.endings_done;
  if (done > 0) {
    if (Status dropped = writer.DropEndings(done); !dropped) return dropped;
  }
  // What is dropped must not be added: then it ends at once.
  for (Ending& ending : endings_) ending.at_s = std::max(ending.at_s, done);
  std::sort(endings_.begin(), endings_.end());
  endings_.erase(std::unique(endings_.begin(), endings_.end()), endings_.end());
  for (const Ending& ending : endings_) {
    if (Status added = writer.AddEnding(ending); !added) return added;
  }
  return {};
}

Status PartitionFlow::WriteResolving(const Frozen& frozen, CheckpointWriter& writer) {
  if (!frozen.unexposed) return {};
  frozen.unexposed->Sort();
  std::string encoded;
  for (const UnexposedLog::Resolved& resolved : frozen.unexposed->ResolvedUsers()) {
    encoded.clear();
    EncodeDelta(resolved.delta, encoded);
    if (Status added = writer.AddDelta({kResolvingFilter, resolved.user}, encoded); !added) return added;
  }
  return {};
}

Status PartitionFlow::WriteServed(const Frozen& frozen, CheckpointWriter& writer) {
  first_served_.reset();
  if (!frozen.unexposed) return {};
  const uint32_t done = unexposed_->Collect();
  if (done > 0) {
    if (Status dropped = writer.DropServed(done); !dropped) return dropped;
  }
  const auto& erased = frozen.unexposed->erased();
  // Of each second at which something is due: the rows of the erased.
  std::optional<ServedRow> after;
  while (!erased.empty()) {
    const auto next = store_.ScanServed(after, std::numeric_limits<uint32_t>::max(), 1);
    if (!next) return Fail(next.error());
    if (next->empty()) break;
    const uint32_t due_s = next->front().first.due_s;
    for (const UserKey& user : erased) {
      if (Status dropped = writer.DropServedOf(due_s, user); !dropped) return dropped;
    }
    after = ServedRow::LastOf(due_s);
  }
  // What came so late that its like is done with is due at once.
  std::map<ServedRow, const UnexposedLog::Served*> late;
  const auto& served = frozen.unexposed->served();
  auto at = served.begin();
  for (; at != served.end() && at->row.due_s < done; ++at) {
    ServedRow row = at->row;
    row.due_s = done;
    late.emplace(row, &*at);
  }
  while (at != served.end() || !late.empty()) {
    const bool late_is_next = !late.empty() && (at == served.end() || late.begin()->first < at->row);
    const ServedRow row = late_is_next ? late.begin()->first : at->row;
    const UnexposedLog::Served& from = late_is_next ? *late.begin()->second : *at;
    if (!first_served_) first_served_ = row;
    if (Status added = writer.AddServed(row, frozen.unexposed->TextOf(from)); !added) return added;
    if (late_is_next) {
      late.erase(late.begin());
    } else {
      ++at;
    }
  }
  return {};
}

Status PartitionFlow::StepUnexposed(SnapshotSink& sink, uint64_t ticket_tag) {
  if (!unexposed_) return {};
  return unexposed_->Step(store_, {checkpoint_time_ms_.load(std::memory_order_acquire)}, sink, ticket_tag);
}

void PartitionFlow::MarksScanned(std::span<const Mark> marks, size_t limit) {
  publish_.Scanned(marks, limit, clock_.Now());
}

Status PartitionFlow::Republish() {
  return republisher_.Step(store_, clock_.Now(), clock_.WallNow(),
                           {tails_since_ms_.load(std::memory_order_acquire)});
}

}  // namespace seen
