#include "flow/partition_journal.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/result.h"
#include "model/delta.h"

namespace seen {
namespace {

constexpr int32_t kNoDay = std::numeric_limits<int32_t>::max();

// The head of a row in memory. The encoded row follows, or nothing.
struct Head {
  int64_t at;
  int64_t offset;
  uint8_t erases;  // this is no row: the user was erased
  uint8_t late;    // of a day before that of its record
};
constexpr size_t kHeadBytes = 18;

void PutHead(const Head& head, std::string& out) {
  char bytes[kHeadBytes];
  std::memcpy(bytes, &head.at, 8);
  std::memcpy(bytes + 8, &head.offset, 8);
  bytes[16] = static_cast<char>(head.erases);
  bytes[17] = static_cast<char>(head.late);
  out.append(bytes, kHeadBytes);
}

Head HeadOf(std::string_view row) {
  Head head;
  std::memcpy(&head.at, row.data(), 8);
  std::memcpy(&head.offset, row.data() + 8, 8);
  head.erases = static_cast<uint8_t>(row[16]);
  head.late = static_cast<uint8_t>(row[17]);
  return head;
}

}  // namespace

struct PartitionJournal::TailRow {
  JournalPlace place;
  std::string_view row;
  bool late = false;
};

PartitionJournal::PartitionJournal(JournalPolicy policy, Options options,
                                   const std::optional<Position>& position, const PartitionStore& store)
    : policy_(std::move(policy)),
      options_(std::move(options)),
      store_(store),
      memory_(std::make_shared<TailMemory>(options_.tail_bytes_max)),
      rows_(std::make_shared<UserRows>(memory_)),
      active_(rows_),
      whole_from_(std::numeric_limits<int32_t>::min()),
      oldest_day_(kNoDay) {
  // Records that were read before the journal existed aren't in it.
  if (position) {
    const TimeMs newest{position->partition_time.value + options_.future_skew_max.count()};
    whole_from_ = DayOf(newest).since_epoch + 1;
  }
  if (const auto start = store.ReadJournalStart(); start && *start) whole_from_ = (*start)->since_epoch;
  NoteStored();
}

PartitionJournal::~PartitionJournal() { policy_.budget->Forget(options_.partition); }

void PartitionJournal::NoteStored() {
  std::vector<JournalDay> days = store_.JournalDays();
  oldest_day_ = days.empty() ? kNoDay : days.front().day.since_epoch;
  policy_.budget->Report(options_.partition, std::move(days));
}

void PartitionJournal::BeginBlock() {
  block_.clear();
  block_bytes_.clear();
  next_noted_ = 0;
}

void PartitionJournal::Note(size_t number, const Event& event, FilterMask filters, const Record& record,
                            const UserKey& user) {
  if (filters == 0) return;
  const Day day = DayOf(event.exposed_at);
  const Day record_day = DayOf(record.timestamp);
  const bool erases = event.kind == EventKind::kErased;
  if (!erases && day < record_day - policy_.days) return;
  const size_t from = block_bytes_.size();
  PutHead({event.exposed_at.value, record.offset, erases, day < record_day}, block_bytes_);
  if (!erases) {
    if (filters != row_filters_) {
      row_filters_ = filters;
      row_.filters.clear();
      for (size_t i = 0; i < options_.filters.size(); ++i) {
        if (filters >> i & 1) row_.filters.push_back(options_.filters[i]);
      }
      std::sort(row_.filters.begin(), row_.filters.end());
    }
    const auto kind = static_cast<uint8_t>(event.kind);
    // The store's number of the kind, which the configuration doesn't change.
    row_.kind = kind < kDeclaredKindFirst ? kind : options_.kinds[kind - kDeclaredKindFirst];
    row_.scene = event.scene;
    row_.request_id = event.request_id;
    row_.items.clear();
    for (size_t i = 0; i < event.items.size(); ++i) {
      row_.items.push_back(
          {event.items[i].item_id, i < event.details.size() ? event.details[i].position : std::nullopt});
    }
    EncodeJournalRow(row_, block_bytes_);
  }
  block_.push_back({number, from, block_bytes_.size()});
  rows_->Prefetch(user);
}

void PartitionJournal::Append(size_t number, const UserKey& user) {
  while (next_noted_ < block_.size() && block_[next_noted_].number < number) ++next_noted_;
  if (next_noted_ == block_.size() || block_[next_noted_].number != number) return;
  const Noted& noted = block_[next_noted_++];
  rows_->Append(user, std::string_view(block_bytes_).substr(noted.from, noted.to - noted.from));
}

void PartitionJournal::Freeze() {
  auto fresh = std::make_shared<UserRows>(memory_);
  const MutexLock lock(mutex_);
  Check(!frozen_, "rows are still frozen");
  frozen_ = std::exchange(active_, fresh);
  rows_ = std::move(fresh);
}

std::shared_ptr<UserRows> PartitionJournal::Frozen() const {
  const MutexLock lock(mutex_);
  return frozen_;
}

uint64_t PartitionJournal::AllBytes() const {
  const MutexLock lock(mutex_);
  return active_->bytes() + (frozen_ ? frozen_->bytes() : 0);
}

bool PartitionJournal::HasChanges() const {
  return policy_.budget->Floor().since_epoch > oldest_day_.load(std::memory_order_relaxed);
}

Status PartitionJournal::Begin(Checkpoint& checkpoint, CheckpointWriter& writer) {
  const Day today = DayOf(std::min(checkpoint.wall, checkpoint.position.partition_time));
  keep_from_ = std::max(today - policy_.days, policy_.budget->Floor());
  next_whole_from_ = std::max(keep_from_, WholeFrom());
  for (const JournalDay& day : store_.JournalDays()) {
    if (day.day < keep_from_) ++checkpoint.report.journal_days_dropped;
  }
  return writer.KeepRowsFrom(keep_from_, next_whole_from_);
}

// Appends the rows from `newest` on, except those that a later erasure in the log hides. `hidden`: the latest
// day of the erasures so far, and on return of those found here as well.
void PartitionJournal::Collect(const UserRows::Row* newest, std::optional<Day>& hidden,
                               std::vector<TailRow>& out) {
  for (const UserRows::Row* row = newest; row; row = row->older) {
    const Head head = HeadOf(row->bytes());
    const Day day = DayOf({head.at});
    if (head.erases != 0) {
      hidden = hidden ? std::max(*hidden, day) : day;
    } else if (!hidden || day > *hidden) {
      out.push_back({{{head.at}, head.offset}, row->bytes().substr(kHeadBytes), head.late != 0});
    }
  }
}

// As in the delta, an erasure also takes rows that come after it in the log, if their day is earlier.
void PartitionJournal::Arrange(Day erased, std::vector<TailRow>& rows) {
  std::erase_if(rows, [&](const TailRow& row) { return DayOf(row.place.at) < erased; });
  std::sort(rows.begin(), rows.end(),
            [](const TailRow& a, const TailRow& b) { return a.place.IsBefore(b.place); });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const TailRow& a, const TailRow& b) { return a.place == b.place; }),
             rows.end());
}

// An erasure concerns every filter, so it is enough to ask one of them.
Result<std::optional<Day>> PartitionJournal::StoredErasure(const UserKey& user) const {
  std::string stored;
  const auto found = store_.ReadDelta({options_.filters.front(), user}, stored);
  if (!found) return Fail(found.error());
  if (!*found) return std::optional<Day>();
  const auto delta = DecodeDelta(stored);
  if (!delta) return Fail(delta.error());
  return delta->erased;
}

Status PartitionJournal::Write(Checkpoint& checkpoint, CheckpointWriter& writer) {
  std::vector<TailRow> rows;
  const std::shared_ptr<UserRows> frozen = Frozen();
  for (const UserRows::User* user : frozen->SortedUsers()) {
    rows.clear();
    std::optional<Day> erased;
    Collect(user->newest.load(std::memory_order_acquire), erased, rows);
    if (erased) {
      if (Status done = writer.EraseRows(user->key, *erased); !done) return done;
    }
    if (std::any_of(rows.begin(), rows.end(), [](const TailRow& row) { return row.late; })) {
      const auto stored = StoredErasure(user->key);
      if (!stored) return Fail(stored.error());
      if (*stored) erased = erased ? std::max(*erased, **stored) : **stored;
    }
    Arrange(erased ? std::max(*erased, keep_from_) : keep_from_, rows);
    for (const TailRow& row : rows) {
      if (Status added = writer.AddRow(user->key, row.place, row.row); !added) return added;
      ++checkpoint.report.journal_rows;
      checkpoint.report.journal_bytes += row.row.size();
    }
  }
  return {};
}

void PartitionJournal::Committed(const Checkpoint&) {
  whole_from_.store(next_whole_from_.since_epoch, std::memory_order_release);
  {
    // Readers who took the frozen rows keep them; the store has them all now.
    const MutexLock lock(mutex_);
    frozen_ = nullptr;
  }
  NoteStored();
}

Status PartitionJournal::Read(const Question& question, const Visit& visit) const {
  std::shared_ptr<UserRows> active;
  std::shared_ptr<UserRows> frozen;
  {
    // Taken before the store is read: rows that move to the store meanwhile are then seen twice, not missed.
    const MutexLock lock(mutex_);
    active = active_;
    frozen = frozen_;
  }
  std::vector<TailRow> tail;
  std::optional<Day> hidden;
  Collect(active->Newest(question.user), hidden, tail);
  if (frozen) Collect(frozen->Newest(question.user), hidden, tail);
  const Day erased = std::max({DayOf(question.since), hidden.value_or(DayOf(question.since)),
                               question.erased.value_or(DayOf(question.since))});
  Arrange(erased, tail);

  JournalRow row;
  Status status;
  // False: no more.
  const auto show = [&](const JournalPlace& place, std::string_view bytes) {
    if (place.at < question.since) return false;
    if (!DecodeJournalRow(bytes, row)) {
      status = Fail(Code::kCorrupt, "journal: " + std::to_string(bytes.size()) + " bytes that aren't a row");
      return false;
    }
    if (!std::binary_search(row.filters.begin(), row.filters.end(), question.filter)) return true;
    return visit(place, row);
  };
  auto next = std::find_if(tail.begin(), tail.end(), [&](const TailRow& of_tail) {
    return !question.from || !of_tail.place.IsBefore(*question.from);
  });
  bool more = true;
  std::optional<JournalPlace> after = question.from;
  if (after) ++after->offset;
  Status read =
      store_.ReadRows(question.user, erased, after, [&](const JournalPlace& place, std::string_view bytes) {
        while (more && next != tail.end() && next->place.IsBefore(place)) {
          more = show(next->place, next->row);
          ++next;
        }
        if (!more) return false;
        if (next != tail.end() && next->place == place) return true;  // the tail's row is shown instead
        if (hidden && DayOf(place.at) <= *hidden) return true;
        more = show(place, bytes);
        return more;
      });
  if (!read) return read;
  for (; more && next != tail.end(); ++next) more = show(next->place, next->row);
  return status;
}

}  // namespace seen
