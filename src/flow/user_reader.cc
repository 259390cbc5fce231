#include "flow/user_reader.h"

#include <algorithm>

#include "flow/heavy_turn.h"
#include "flow/user_rows.h"
#include "model/change.h"
#include "model/delta_fold.h"
#include "model/delta_view.h"

namespace seen {
namespace {

bool IsErased(std::string_view stored, std::span<const Change> changes) {
  DeltaView view;
  if (!stored.empty() && ParseDelta(stored, view) && view.erased) return true;
  return std::any_of(changes.begin(), changes.end(),
                     [](const Change& change) { return change.kind == ChangeKind::kErased; });
}

TimeMs SecondOf(Day day, uint32_t second) { return {StartOf(day).value + int64_t{second} * 1000}; }

TimeMs NewestIn(const OtherView& other) {
  if (other.kind == SegmentKind::kByCreation) return StartOf(other.day());
  return {static_cast<int64_t>(other.StartSecond() + other.last_second) * 1000};
}

TimeMs TimeOf(const Change& change) {
  if (change.kind == ChangeKind::kExposedOfCreation)
    return StartOf({static_cast<int32_t>(change.second & kPackedDayMax)});
  return {int64_t{change.second} * 1000};
}

void TakeNewer(TimeMs time, TimeMs until, std::optional<TimeMs>& newest) {
  if (time <= until && (!newest || time > *newest)) newest = time;
}

}  // namespace

Result<bool> UserReader::ReadStored(const UserRef& user, size_t changes, std::string& stored) const {
  auto found = store_.ReadDelta(user, stored);
  return found && HeavyTurn::Await(stored, changes) ? store_.ReadDelta(user, stored) : std::move(found);
}

Result<std::string> UserReader::ReadUser(FilterIndex filter_index, const UserKey& user) const {
  const FilterPolicy& filter = state_.options().filters[filter_index];
  const auto mask = static_cast<FilterMask>(1u << filter_index);
  // Tails first: changes that move to the store meanwhile are then seen twice, which is harmless, and not
  // missed.
  const Tails tails = state_.GetTails();
  std::string stored;
  const auto found = ReadStored({filter.id, user}, 0, stored);
  if (!found) return Fail(found.error());
  std::vector<std::string> encoded;
  encoded.push_back(std::move(stored));
  std::vector<Change> changes;
  for (const auto& tail : {tails.frozen, tails.active}) {
    if (!tail) continue;
    changes.clear();
    const std::string_view user_id = tail->Read(user, mask, changes);
    if (changes.empty()) continue;
    EncodeDelta(DeltaOf(std::string(user_id), changes, filter.limits), encoded.emplace_back());
  }
  if (*found && encoded.size() == 1) return std::move(encoded.front());
  const std::vector<std::string_view> parts(encoded.begin() + (*found ? 0 : 1), encoded.end());
  std::string folded;
  if (!FoldEncoded(parts, filter.limits, {}, folded)) return Fail(NotADelta(encoded.front()));
  return folded;
}

Status UserReader::ReadSeen(FilterIndex filter_index, const UserKey& user, const AnswerLimits& limits,
                            SeenReader& reader) const {
  auto& [changes, stored, own_reader] = HeavyTurn::OfThread();
  const FilterPolicy& filter = state_.options().filters[filter_index];
  const auto mask = static_cast<FilterMask>(1u << filter_index);
  const Tails tails = state_.GetTails();  // before the store: see ReadUser
  changes.clear();
  const std::string_view user_id = ReadTails(tails, mask, user, changes);
  const auto found = ReadStored({filter.id, user}, changes.size(), stored);
  if (!found) return Fail(found.error());
  Status read = reader.Read(*found ? std::string_view(stored) : std::string_view(), user_id, changes, limits);
  if (read) NoteRead(filter_index, user, reader);
  return read;
}

Result<std::optional<TimeMs>> UserReader::Newest(const UserKey& user, TimeMs until) const {
  std::vector<Change>& changes = HeavyTurn::OfThread().changes;
  const Tails tails = state_.GetTails();  // before the store: see ReadUser
  changes.clear();
  ReadTails(tails, state_.filters().all, user, changes);
  std::optional<TimeMs> newest;
  for (const Change& change : changes) {
    if (!TakesBack(change.kind)) TakeNewer(TimeOf(change), until, newest);
  }
  const PartitionOptions& options = state_.options();
  for (const FilterPolicy& filter : options.filters) {
    if (Status read = FindNewest({filter.id, user}, changes.size(), until, newest); !read)
      return Fail(read.error());
  }
  for (const FilterId retired : options.retired_filters) {
    if (Status read = FindNewest({retired, user}, changes.size(), until, newest); !read)
      return Fail(read.error());
  }
  return newest;
}

Status UserReader::FindNewest(const UserRef& user, size_t changes, TimeMs until,
                              std::optional<TimeMs>& newest) const {
  std::string& stored = HeavyTurn::OfThread().stored;
  const auto found = ReadStored(user, changes, stored);
  if (!found) return Fail(found.error());
  if (!*found) return {};
  thread_local DeltaView view;
  if (!ParseDelta(stored, view)) return Fail(Code::kCorrupt, "delta: its bytes can't be read");
  for (const SegmentView& segment : view.segments)
    TakeNewer(SecondOf(segment.day, segment.last_second), until, newest);
  for (const OtherView& other : view.others) TakeNewer(NewestIn(other), until, newest);
  return {};
}

void UserReader::NoteRead(FilterIndex filter_index, const UserKey& user, const SeenReader& reader) const {
  heavy_users_.Note(filter_index, user, reader.user_id(), reader.kept_items(), reader.met_daily_limit());
}

SnapshotMeta UserReader::MetaAt(TimeMs wall_now, FilterIndex filter_index) const {
  SnapshotMeta meta;
  meta.as_of = state_.partition_time();
  meta.input_offset = state_.next_offset();
  meta.horizon = state_.options().filters[filter_index].AnswerHorizon(wall_now);
  meta.partition = state_.options().partition;
  meta.complete_since = state_.wholeness().IncompleteSince(filter_index, wall_now);
  return meta;
}

Status UserReader::Render(const FilterPolicy& filter, const SnapshotShape& shape, const SnapshotMeta& meta,
                          SeenReader& reader, std::string& bytes) {
  SnapshotItems items{reader.seen().values(), {}};
  thread_local ItemsByDay by_day;
  if (NeedsDays(shape.format)) {
    const auto ends = reader.Ends();
    if (!ends) return Fail(ends.error());
    items.days =
        by_day.Group(*ends, shape.format == SnapshotFormat::kDayChain ? DayBy::kWindow : DayBy::kTime);
  }
  RenderSnapshot(shape, meta, items, SimilarOf(filter, reader), bytes);
  if (HeavyTurn::IsHeld()) by_day = {};
  return {};
}

std::optional<std::span<const Fingerprint>> UserReader::SimilarOf(const FilterPolicy& filter,
                                                                  const SeenReader& reader) {
  if (filter.similar == Similar::kOff) return std::nullopt;
  return reader.similar().values();
}

// kState: `bytes` are still to be rendered.
PublishFlow::Origin UserReader::Merge(const FilterPolicy& filter, const SnapshotShape& shape,
                                      const SnapshotMeta& meta, const SeenReader& reader,
                                      const std::string& published, std::string& bytes) {
  using Origin = PublishFlow::Origin;
  const auto view = SnapshotView::Parse(published);
  if (!view) return Origin::kState;
  // Everything in a snapshot from before `counts_from` has left the window.
  const Day counts_from = meta.horizon + filter.window_days - filter.LongestWindowDays();
  if (DayOf(view->meta().as_of) < counts_from) return Origin::kState;
  if (RenderUnion(*view, shape, meta, reader.seen().values(), SimilarOf(filter, reader), bytes))
    return Origin::kUnion;
  // The snapshot with fewer items lacks more of the other's items: docs/decisions/0007.
  if (reader.seen().size() >= view->meta().item_count) return Origin::kState;
  bytes = published;
  return Origin::kPublished;
}

// Reads the kept snapshots of the group's users, in their order. An entry is empty if nothing is kept.
// `published` is empty if no filter of the group is merged.
Status UserReader::ReadPublishedOf(TimeMs wall_now, std::span<const PublishFlow::Rendering> group,
                                   std::span<const UserRef> refs,
                                   std::vector<PublishedRow>& published) const {
  published.clear();
  const auto is_merged = [&](const PublishFlow::Rendering& one) {
    return last_published_.IsMerged(one.filter_index, wall_now);
  };
  if (std::none_of(group.begin(), group.end(), is_merged)) [[likely]]
    return {};
  published.resize(refs.size());
  if (Status read = store_.ReadPublished(refs, published); !read) return read;
  for (size_t i = 0; i < group.size(); ++i) {
    if (!is_merged(group[i])) published[i] = {};
  }
  return {};
}

Result<std::string> UserReader::ReadPublished(FilterIndex filter_index, const UserKey& user) const {
  const TimeMs wall_now = clock_.WallNow();
  if (!last_published_.IsMerged(filter_index, wall_now)) return std::string();
  const FilterPolicy& filter = state_.options().filters[filter_index];
  const auto encoded = ReadUser(filter_index, user);
  if (!encoded) return Fail(encoded.error());
  if (IsErased(*encoded, {})) return std::string();
  const UserRef ref{filter.id, user};
  PublishedRow row;
  if (Status read = store_.ReadPublished({&ref, 1}, {&row, 1}); !read) return Fail(read.error());
  const auto view = SnapshotView::Parse(row.snapshot);
  const Day counts_from = DayOf(wall_now) - filter.LongestWindowDays();
  if (!view || DayOf(view->meta().as_of) < counts_from) return std::string();
  return std::move(row.snapshot);
}

// Heavy users are rendered one by one: a thread holds the state of one at a time.
Status UserReader::RenderUsers(TimeMs wall_now, uint32_t served_second,
                               std::span<PublishFlow::Rendering> group) const {
  for (size_t from = 0; from < group.size();) {
    size_t to = from + 1;
    if (!HeavyTurn::WasHeavy(group[from].user)) {
      while (to < group.size() && !HeavyTurn::WasHeavy(group[to].user)) ++to;
    }
    Status rendered = RenderTogether(wall_now, served_second, group.subspan(from, to - from));
    if (!rendered) return rendered;
    from = to;
  }
  return {};
}

Status UserReader::RenderTogether(TimeMs wall_now, uint32_t served_second,
                                  std::span<PublishFlow::Rendering> group) const {
  struct Read {
    SnapshotMeta meta;
    std::string_view user_id;
    size_t changes_from = 0, changes_to = 0;
  };
  thread_local SeenReader reader;
  thread_local std::vector<Read> reads;
  thread_local std::vector<UserRef> refs;
  thread_local std::vector<Change> changes;
  thread_local std::vector<std::string> stored;
  reads.resize(group.size());
  refs.clear();
  changes.clear();
  if (stored.size() < group.size()) stored.resize(group.size());
  thread_local std::vector<AnswerLimits> answer_limits;
  answer_limits.clear();
  for (const FilterPolicy& filter : state_.options().filters)
    answer_limits.emplace_back(filter.AnswerAt(wall_now)).now_s = served_second;
  for (size_t i = 0; i < group.size(); ++i) {
    const FilterPolicy& filter = state_.options().filters[group[i].filter_index];
    refs.push_back({filter.id, group[i].user});
    reads[i] = {MetaAt(wall_now, group[i].filter_index), {}, 0, 0};
    if (filter.updates) reads[i].meta.generation = state_.generation();
  }
  const Tails tails = state_.GetTails();  // before the store: see ReadUser
  for (const auto& tail : {tails.frozen, tails.active}) {
    if (!tail) continue;
    for (const UserRef& ref : refs) tail->PrefetchIndex(ref.user);
  }
  for (const auto& tail : {tails.frozen, tails.active}) {
    if (!tail) continue;
    for (const UserRef& ref : refs) tail->PrefetchSlot(ref.user);
  }
  for (size_t i = 0; i < group.size(); ++i) {
    reads[i].changes_from = changes.size();
    const auto mask = static_cast<FilterMask>(1u << group[i].filter_index);
    reads[i].user_id = ReadTails(tails, mask, group[i].user, changes);
    reads[i].changes_to = changes.size();
  }
  if (Status found = store_.ReadDeltas(refs, std::span(stored).first(group.size())); !found) return found;
  thread_local std::vector<PublishedRow> published;
  if (Status found = ReadPublishedOf(wall_now, group, refs, published); !found) return found;
  for (size_t i = 0; i < group.size(); ++i) {
    const Read& read = reads[i];
    const auto changed = std::span(changes).subspan(read.changes_from, read.changes_to - read.changes_from);
    if (Status done = reader.Read(stored[i], read.user_id, changed, answer_limits[group[i].filter_index]);
        !done) {
      return done;
    }
    NoteRead(group[i].filter_index, group[i].user, reader);
    group[i].user_id = reader.user_id();
    group[i].origin = PublishFlow::Origin::kState;
    group[i].ends_by_itself = reader.has_served();
    if (!published.empty() && !published[i].snapshot.empty()) [[unlikely]] {
      if (IsErased(stored[i], changed)) {
        last_published_.DropErased(refs[i]);
      } else {
        const FilterPolicy& filter = state_.options().filters[group[i].filter_index];
        group[i].origin =
            Merge(filter, filter.snapshot->shape(), read.meta, reader, published[i].snapshot, group[i].bytes);
        if (group[i].user_id.empty()) group[i].user_id = published[i].user_id;
        if (group[i].origin != PublishFlow::Origin::kState) continue;
      }
    }
    // Items may not count as seen yet, because that takes several exposures. There may still be items similar
    // to them.
    if (reader.seen().size() == 0 && reader.similar().size() == 0) {
      group[i].bytes.clear();
      if (group[i].user_id.empty()) {  // the mark may have outlived the user's state
        auto id = StoredUserId(store_, refs[i]);
        if (!id) return Fail(id.error());
        group[i].user_id = id->empty() ? foreign_.IdOf(refs[i].filter, refs[i].user) : std::move(*id);
      }
      continue;
    }
    const FilterPolicy& filter = state_.options().filters[group[i].filter_index];
    if (Status done = Render(filter, filter.snapshot->shape(), read.meta, reader, group[i].bytes); !done) {
      return done;
    }
  }
  bool some_heavy = false;
  for (size_t i = 0; i < group.size(); ++i) some_heavy |= HeavyTurn::DropHeavy(group[i].user, stored[i]);
  if (some_heavy) reader = {};
  return {};
}

Status UserReader::NameRetired(std::span<PublishFlow::Rendering> group) const {
  for (PublishFlow::Rendering& one : group) {
    auto id = StoredUserId(store_, {one.retired->id, one.user});
    if (!id) return Fail(id.error());
    one.user_id = std::move(*id);
    one.bytes.clear();
    one.origin = PublishFlow::Origin::kState;
  }
  return {};
}

// Appends the user's changes in the tails, in log order. Returns the id that the tails have for the user,
// empty if none.
std::string_view UserReader::ReadTails(const Tails& tails, FilterMask filters, const UserKey& user,
                                       std::vector<Change>& changes) {
  std::string_view user_id;
  for (const auto& tail : {tails.frozen, tails.active}) {
    if (!tail) continue;
    const size_t before = changes.size();
    const std::string_view id = tail->Read(user, filters, changes);
    if (changes.size() > before && (user_id.empty() || id < user_id)) user_id = id;
  }
  return user_id;
}

Status UserReader::RenderUser(FilterIndex filter_index, const UserKey& user, const SnapshotShape& shape,
                              std::string& user_id, std::string& bytes) const {
  SeenReader& reader = HeavyTurn::OfThread().reader;
  const TimeMs wall_now = clock_.WallNow();
  const SnapshotMeta meta = MetaAt(wall_now, filter_index);
  const FilterPolicy& filter = state_.options().filters[filter_index];
  if (Status read = ReadSeen(filter_index, user, filter.AnswerAt(wall_now), reader); !read) {
    return read;
  }
  user_id = reader.user_id();
  const auto published = ReadPublished(filter_index, user);
  if (!published) return Fail(published.error());
  if (!published->empty()) {
    const auto origin = Merge(filter, shape, meta, reader, *published, bytes);
    if (origin == PublishFlow::Origin::kUnion) return {};
    // A published snapshot of another format than the one asked for is no answer.
    const auto view = SnapshotView::Parse(bytes);
    if (origin == PublishFlow::Origin::kPublished && view && view->meta().format == shape.format) {
      DropGeneration(bytes);
      return {};
    }
  }
  return Render(filter, shape, meta, reader, bytes);
}

void UserReader::FillHeaviestUsers(PartitionStatus& status) const {
  for (auto& [filter_index, user] : heavy_users_.Heaviest()) {
    user.filter = state_.options().filters[filter_index].name;
    status.heaviest_users.push_back(std::move(user));
  }
  status.users_at_daily_limit = heavy_users_.Limited();
}

}  // namespace seen
