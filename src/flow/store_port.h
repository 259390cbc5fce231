#pragma once
// What the flow needs of a partition's durable state. Implemented by store/ (RocksDB) and by the simulation.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/day.h"
#include "model/filter_number.h"
#include "model/hashes.h"
#include "model/horizon.h"

namespace seen {

/// An internal filter, not a configured one. It holds what was exposed lately in any filter, to find the
/// served items that were not exposed.
inline constexpr FilterId kResolvingFilter{0xffff};

/// A topic that got snapshots of this state, and that no configured filter names any more. Marks of its
/// tombstones are stored under `id`, which no filter has.
struct RetiredTopic {
  FilterId id;
  std::string topic;
  friend bool operator==(const RetiredTopic&, const RetiredTopic&) = default;
};
/// The id of the first topic. Each further topic has the next lower id.
inline constexpr FilterId kRetiredTopicLast{0xfffe};
inline constexpr size_t kSnapshotTopicsMax = 1024;

/// A record that is known to have stood at an offset. It shows whether the topic was recreated since.
struct Anchor {
  int64_t offset = -1;  // -1: none known
  TimeMs timestamp;
  uint64_t hash = 0;  // RecordHash of key and value
  friend bool operator==(const Anchor&, const Anchor&) = default;
};

/// Records that retention deleted before they were read: [from, to). Kept until an operator acknowledges
/// them.
struct LostRange {
  int64_t from = 0;
  int64_t to = 0;
  TimeMs noticed_at;
  friend bool operator==(const LostRange&, const LostRange&) = default;
};

/// Where the last published snapshots of a filter's users are.
enum class LastPublished : uint8_t {
  kInState = 0,  // the state holds all that they hold
  kUnread = 1,   // the state was begun without them: only their topic has them
  kKept = 2,     // likewise, and the store keeps a copy
};

/// Since when one filter's state is whole. Also for a filter that isn't configured now.
struct FilterWholeness {
  FilterId filter;
  TimeMs complete_since;       // by record timestamps; 0: always was. kNotRecorded: it isn't configured
  bool awaits_record = false;  // nothing was read since: the next record sets complete_since
  int32_t window_days = 0;     // its longest window
  LastPublished last_published = LastPublished::kInState;
  friend bool operator==(const FilterWholeness&, const FilterWholeness&) = default;
};
inline constexpr TimeMs kNotRecorded{std::numeric_limits<int64_t>::max()};

/// Where a partition's state stands in its log. Written in the same file as the state it describes.
struct Position {
  int64_t next_offset = 0;  // every record below it is in the state
  TimeMs partition_time;    // greatest record timestamp read
  Anchor anchor;            // last record read, or the one that holds next_offset back
  std::vector<LostRange> lost_ranges;
  std::vector<FilterWholeness> filters;  // ascending; empty: written by an older version
  // Of the offsets, for readers of updates (schemas/update.md). 0: this state never wrote updates.
  int64_t generation = 0;
  // The state holds all records below this offset, too, if it is greater. next_offset is lower while
  // something that follows from the last records hasn't left yet.
  int64_t read_to = 0;
  int64_t ReadTo() const { return std::max(next_offset, read_to); }
  friend bool operator==(const Position&, const Position&) = default;
};

struct UserRef {
  FilterId filter;
  UserKey user;
  friend auto operator<=>(const UserRef&, const UserRef&) = default;
};

/// The last in the order of keys.
inline constexpr UserKey kLastUserKey{UINT64_MAX, UINT64_MAX};

/// The topic hasn't acknowledged the user's snapshot yet.
struct Mark {
  UserRef user;
  std::string user_id;  // the state may not have it any more. Empty: written by an older version
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

/// At `at_s`, by the wall clock, something of the user ends by itself. Then the snapshot must be re-rendered.
struct Ending {
  uint32_t at_s = 0;
  UserRef user;
  friend auto operator<=>(const Ending&, const Ending&) = default;
};

/// A served item that may have to be published as unexposed. In the order of the store.
struct ServedRow {
  uint32_t due_s = 0;  // partition time after which it is unexposed
  UserKey user;
  Fingerprint item;
  int64_t offset = 0;  // of its event
  uint16_t place = 0;  // in the event
  /// No row that is due at `due_s` is greater.
  static ServedRow LastOf(uint32_t due_s) {
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    return {due_s, {kMost, kMost}, {UINT32_MAX}, INT64_MAX, UINT16_MAX};
  }
  friend auto operator<=>(const ServedRow&, const ServedRow&) = default;
};

// The journal: rows of users, by the UTC day of their events. model/journal_row.h has the contents of a row.
// A user, time and offset identify a row, so writing it again changes nothing.

/// Where a row stands among its user's rows, newest first.
struct JournalPlace {
  TimeMs at;
  int64_t offset = 0;  // of the event's record
  friend bool operator==(const JournalPlace&, const JournalPlace&) = default;

  bool IsBefore(const JournalPlace& other) const {
    return at.value != other.at.value ? at.value > other.at.value : offset > other.offset;
  }
};

/// Returns false to get no more rows.
using VisitJournalRow = std::function<bool(const JournalPlace& place, std::string_view row)>;

struct JournalDay {
  Day day;
  uint64_t bytes = 0;  // on disk
};

/// One atomic step of the store, written in key order to a file of its own. Nothing is visible before Commit.
/// Single thread. If it is destroyed without Commit, no trace is left (a left-over file is removed at the
/// next open).
class CheckpointWriter {
 public:
  virtual ~CheckpointWriter() = default;
  /// How far the sweep has come (flow/sweep_progress.h); before any delta.
  virtual Status PutSweep(std::string_view encoded) = 0;
  /// Composes `encoded_delta` onto what is stored. Ascending by UserRef, before any mark.
  virtual Status AddDelta(const UserRef& user, std::string_view encoded_delta) = 0;
  /// These drop what KeepPublished has kept: first for single users, ascending, and then for all users of a
  /// filter. After the deltas, before any mark.
  virtual Status DropPublished(const UserRef& user) = 0;
  virtual Status DropAllPublished(FilterId filter) = 0;
  /// Marks: the user's snapshot is not yet acknowledged. Ascending by UserRef, each user once, set or
  /// cleared.
  virtual Status SetMark(const Mark& mark) = 0;
  virtual Status ClearMark(const UserRef& user) = 0;
  // The journal's rows move with the rest. A store without a journal refuses all three calls.
  /// The first call, in every checkpoint of a store that has a journal. The commit drops days before
  /// `keep_from`. From `whole_from` on, which isn't before `keep_from`, no row is missing.
  virtual Status KeepRowsFrom(Day /*keep_from*/, Day /*whole_from*/) { return NoJournal(); }
  /// Erases the user's rows that are stored so far, of days up to `through`. Users ascend; a user's erasure
  /// comes before the user's rows.
  virtual Status EraseRows(const UserKey&, Day /*through*/) { return NoJournal(); }
  /// Users ascend, and so do a user's places (newest first).
  virtual Status AddRow(const UserKey&, const JournalPlace&, std::string_view /*row*/) { return NoJournal(); }
  /// Drops endings before `at_s`. After the marks, before the first AddEnding. No added ending is earlier
  /// than `at_s`.
  virtual Status DropEndings(uint32_t at_s) = 0;
  /// Ascending, each once.
  virtual Status AddEnding(const Ending& ending) = 0;
  /// Drops served rows due before `due_s`; none is added there. After the endings.
  virtual Status DropServed(uint32_t due_s) = 0;
  /// Drops the user's rows due at `due_s`, except those that this same checkpoint adds.
  virtual Status DropServedOf(uint32_t due_s, const UserKey& user) = 0;
  /// Ascending, each once, after DropServed and DropServedOf.
  virtual Status AddServed(const ServedRow& row, std::string_view text) = 0;
  /// State, marks and position move together or not at all. They survive a power loss once Commit returns.
  /// kNoSpace: nothing changed, retry with a new writer. kCorrupt: stop the partition.
  virtual Status Commit() = 0;

 private:
  static Status NoJournal() { return Fail(Code::kRefused, "this store keeps no journal"); }
};

/// A user's last published snapshot, kept because the state was begun without the items in it.
struct PublishedRow {
  UserRef user;
  std::string user_id;
  std::string snapshot;  // empty: there is none (any more)
  friend bool operator==(const PublishedRow&, const PublishedRow&) = default;
};

struct StoreFigures {
  uint64_t bytes = 0;
  uint32_t level0_files = 0;
  uint64_t compaction_pending_bytes = 0;
  uint64_t block_cache_hits = 0;
  uint64_t block_cache_misses = 0;
  uint64_t delta_cache_bytes = 0;       // memory of users read lately
  uint64_t compaction_bytes_total = 0;  // written by compactions, since it was opened
  uint64_t journal_bytes = 0;
  uint32_t journal_days = 0;
};

/// One partition. Reads: any thread, also during a checkpoint. Writes: one thread at a time.
class PartitionStore {
 public:
  virtual ~PartitionStore() = default;
  /// nullopt: a new store.
  virtual Result<std::optional<Position>> ReadPosition() const = 0;
  /// Only one writer at a time.
  virtual Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const Position& position) = 0;
  /// Reads the user's encoded delta into `out` (cleared first). False: none is stored.
  virtual Result<bool> ReadDelta(const UserRef& user, std::string& out) const = 0;
  /// The same for several users; `out[i]` is empty where nothing is stored.
  virtual Status ReadDeltas(std::span<const UserRef> users, std::span<std::string> out) const {
    for (size_t i = 0; i < users.size(); ++i) {
      if (const auto found = ReadDelta(users[i], out[i]); !found) return Fail(found.error());
    }
    return {};
  }
  /// The user's mark; nullopt: the user has none.
  virtual Result<std::optional<Mark>> ReadMark(const UserRef& user) const = 0;
  /// Up to `limit` marks greater than `after` (all where nullopt), ascending.
  virtual Result<std::vector<Mark>> ScanMarks(const std::optional<UserRef>& after, size_t limit) const = 0;
  /// Up to `limit` endings at or before `until_s` and greater than `after`, ascending.
  virtual Result<std::vector<Ending>> ScanEndings(const std::optional<Ending>& after, uint32_t until_s,
                                                  size_t limit) const = 0;
  /// Visits the encoded deltas of up to `limit` users greater than `after`, ascending. Returns the last one
  /// visited; nullopt: there is none after `after`.
  using VisitUser = std::function<void(const UserRef& user, std::string_view encoded_delta)>;
  virtual Result<std::optional<UserRef>> ScanUsers(const std::optional<UserRef>& after, size_t limit,
                                                   const VisitUser& visit) const = 0;
  /// Up to `limit` served rows due before `due_s` and greater than `after`, ascending, with their
  /// texts.
  using ServedPage = std::vector<std::pair<ServedRow, std::string>>;
  virtual Result<ServedPage> ScanServed(const std::optional<ServedRow>& after, uint32_t due_s,
                                        size_t limit) const = 0;
  /// As PutSweep wrote it; empty: nothing yet.
  virtual Result<std::string> ReadSweep() const = 0;
  /// From now on the store may drop bytes of `filter` that `horizon` doesn't keep, at any time. Any thread.
  virtual void SetHorizon(FilterId filter, const Horizon& horizon) = 0;
  /// Replaces what is kept of these users; ascending, each once. Durable when it returns. One thread; a
  /// checkpoint may run meanwhile.
  virtual Status KeepPublished(std::span<const PublishedRow> rows) = 0;
  /// `out[i]` has an empty snapshot where nothing is kept. Any thread.
  virtual Status ReadPublished(std::span<const UserRef> users, std::span<PublishedRow> out) const = 0;
  /// Up to `limit` kept rows greater than `after`, ascending, without their snapshots.
  virtual Result<std::vector<PublishedRow>> ScanPublished(const std::optional<UserRef>& after,
                                                          size_t limit) const = 0;
  /// `whole_from` of the last KeepRowsFrom that was committed; nullopt: none was.
  virtual Result<std::optional<Day>> ReadJournalStart() const { return std::optional<Day>(); }
  /// Visits the user's stored rows of `from` or later, newest first. If `after` is given, only the rows
  /// behind it.
  virtual Status ReadRows(const UserKey&, Day /*from*/, const std::optional<JournalPlace>& /*after*/,
                          const VisitJournalRow&) const {
    return {};
  }
  /// Ascending. Cheap (no disk).
  virtual std::vector<JournalDay> JournalDays() const { return {}; }
  /// Cheap (no disk). Any thread.
  virtual uint32_t Level0Files() const = 0;
  virtual StoreFigures Figures() const = 0;
};

}  // namespace seen
