#pragma once
// What HTTP asks of the daemon. Implemented by query/queries.h over the partitions' flows; faked in serve's
// tests.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "filter/snapshot_format.h"
#include "query/daemon_status.h"
#include "similar/port/item_group.h"
#include "similar/port/similar_port.h"

namespace seen {

/// Asks for another kind or rate than the configuration has; nullopt: as configured.
struct SnapshotQuestion {
  std::optional<SnapshotFormat> format;
  std::optional<double> false_positive_rate;  // (0, kRateMax]
};

struct SnapshotAnswer {
  AsOf as_of;
  std::string bytes;
};

/// The candidates of `unseen`: item ids, in order of preference.
struct CandidateList {
  std::span<const std::string_view> ids;
  /// When the items were created, by place, in seconds since the epoch; 0: not known. Empty: not known for
  /// any item. A segment that ended before an item was created can't hold the item. If an id is given twice,
  /// its latest time counts for both.
  std::span<const uint32_t> created_seconds;
  /// No two items of one answer are alike.
  bool one_per_group = false;
};

struct UnseenAnswer {
  AsOf as_of;
  /// Indices into the candidates: first occurrences, in order. If the filter demotes similar candidates, they
  /// stand behind all others, in order.
  std::vector<uint32_t> unseen;
  /// In the candidates' order; nullopt: neither the filter nor the question asks for it.
  std::optional<std::vector<SimilarCandidate>> similar = std::nullopt;
};

/// One segment as `seenctl show` prints it.
struct SegmentSummary {
  std::string kind;          // "exposed", "served", "repeated", "by_creation", or a declared kind's name
  TimeMs from, to;           // the time it is for: a UTC day, but for served ones; "by_creation": of creation
  TimeMs first_at, last_at;  // nothing in the segment was earlier, or later
  uint32_t items = 0;
  uint32_t exposures = 0;  // more than items in "repeated"
  uint32_t bytes = 0;      // encoded
  /// Until when the segment counts, as far as windows go; nullopt: it never counts in this filter.
  std::optional<TimeMs> counts_until;
  bool in_window = true;
};

inline constexpr uint32_t kSegmentsMax = 2'000;  // of one answer

struct SegmentsQuestion {
  std::optional<uint32_t> limit;  // nullopt: all of them, if there are at most kSegmentsMax
  std::string_view cursor;        // `next` of the answer before; empty: from the newest on
};

struct NewestAnswer {
  AsOf as_of;
  std::optional<TimeMs> newest;  // nullopt: nothing is known
};

struct UserAnswer {
  AsOf as_of;
  int32_t partition = 0;
  uint32_t items = 0;  // that count now
  uint32_t bytes = 0;  // encoded, all of it
  uint32_t removals = 0;
  std::vector<SegmentSummary> segments;  // newest first
  std::optional<std::string> next;       // of a question with a limit; empty: there are no more
};

/// One item of one event, from the journal.
struct ListedExposure {
  std::string item_id;
  std::string kind;  // "exposed", "served", "removed", or a declared one
  std::string scene;
  std::optional<int64_t> position;
  TimeMs at;
  std::string request_id;
};

struct ExposuresQuestion {
  std::optional<std::string_view> item;  // only this item
  TimeMs since;                          // nothing earlier
  uint32_t limit = 100;
  std::string_view cursor;  // `next` of the answer before; empty: from the newest on
};

struct ExposuresAnswer {
  AsOf as_of;
  std::vector<ListedExposure> exposures;  // newest first; those of one event in its order
  std::string next;                       // empty: there are no more
};

/// A segment that holds the item's fingerprint.
struct WhySegment {
  std::string kind;
  TimeMs first_at, last_at;     // nothing in the segment was earlier, or later
  bool counts = true;           // the segment makes the item seen
  std::optional<TimeMs> until;  // when the segment ceases to count, if known
};

enum class WhyReason {
  kNotSeen,
  kExposed,      // or a declared kind: the segments that count say which
  kServed,       // only until segments[].until
  kFilter,       // false positive: not seen, but the published filter at its present size says so
  kFingerprint,  // false positive: an item that was never shown shares the fingerprint of one that was
  kSimilar,      // not seen, but like something seen
};

struct WhyAnswer {
  AsOf as_of;
  bool seen = false;                // what POST .../unseen decides by
  std::optional<bool> in_snapshot;  // what the snapshot says; nullopt: the filter publishes none
  WhyReason because = WhyReason::kNotSeen;
  std::optional<SimilarTo> similar;  // for an item that isn't seen itself, if the filter asks for it
  std::vector<WhySegment> segments;  // newest first
  std::optional<Day> removed;        // exposures up to this day were taken back
  std::optional<Day> erased;         // everything up to this day was erased
  std::optional<std::vector<ListedExposure>> exposures;  // of the item, newest first; nullopt: no journal
  std::optional<Day> journal_whole_from;  // if there is a journal: it is whole from this day on
};

inline constexpr size_t kGroupMembersMax = 1'000;  // of one answer

struct GroupMember {
  std::string item_id;
  std::optional<double> similarity = std::nullopt;  // to the group's first item, if it is known
};

struct GroupAnswer {
  ItemGroup item;                    // the item asked for
  std::vector<GroupMember> members;  // by id, ascending
  std::string next;                  // `after` of the next question; empty: there are no more
};

/// Any thread. Errors: kNotFound: no such filter. kUnavailable: the partition isn't here, is opening or is
/// catching up. The message says which of these; answer 503 with Retry-After. kCorrupt.
class QueryPort {
 public:
  virtual ~QueryPort() = default;
  /// Whether a question about the user would be answered now; cheap. Errors as above.
  virtual Status CanAnswer(std::string_view filter, std::string_view user_id) const = 0;
  /// Also kInvalidArgument: no filter of that kind has that rate.
  virtual Result<SnapshotAnswer> Snapshot(std::string_view filter, std::string_view user_id,
                                          const SnapshotQuestion& question) const = 0;
  /// `also_seen`: item ids that count as seen besides the stored ones (this request's own pages).
  /// kInvalidArgument: one_per_group is set, and nothing is grouped here.
  virtual Result<UnseenAnswer> Unseen(std::string_view filter, std::string_view user_id,
                                      const CandidateList& candidates,
                                      std::span<const std::string_view> also_seen) const = 0;
  /// When the newest thing of the user was, in any filter; at most `until`.
  virtual Result<NewestAnswer> Newest(std::string_view user_id, TimeMs until) const = 0;
  /// Also kInvalidArgument for a cursor that isn't this question's, and for too many segments without a
  /// limit.
  virtual Result<UserAnswer> User(std::string_view filter, std::string_view user_id,
                                  const SegmentsQuestion& question) const = 0;
  /// Also kNotFound if no journal is kept, and kInvalidArgument for a cursor that isn't this question's.
  virtual Result<ExposuresAnswer> Exposures(std::string_view filter, std::string_view user_id,
                                            const ExposuresQuestion& question) const = 0;
  virtual Result<WhyAnswer> Why(std::string_view filter, std::string_view user_id,
                                std::string_view item) const = 0;
  /// The item's group, with members greater than `after`, kGroupMembersMax at most. kNotFound: the item isn't
  /// known, or nothing is grouped here.
  virtual Result<GroupAnswer> Group(std::string_view item_id, std::string_view after) const = 0;
  /// Whether Similar can answer; cheap. Errors as SimilarPort.
  virtual Status CanFindSimilar() const {
    return Fail(Code::kNotFound, "this daemon groups no items: the configuration has no \"items\"");
  }
  /// Stored items that are like a text: see SimilarPort.
  virtual Result<SimilarAnswer> Similar(const SimilarQuestion& /*question*/) const {
    return Fail(CanFindSimilar().error());
  }
  virtual DaemonStatus GetStatus() const = 0;
  /// Forgets the lost ranges of all partitions; durable with the next checkpoint.
  virtual void AcknowledgeLostRanges() = 0;
  /// Republishes everybody's snapshots of all filters, a little at a time. Returns how many partitions do.
  /// kNotFound: no filter publishes.
  virtual Result<size_t> PublishAll() = 0;
};

}  // namespace seen
