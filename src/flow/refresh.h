#pragma once
// The refresh: renders the users whom changes left to marks, for filters with updates. Readers have the news
// by updates; the refresh folds it into snapshots. docs/decisions/0020.
//
// A round takes the marks in the order of the users' keys, in kSections sections. A section begins with a
// note: the position up to which the store has everything. It ends once each user whose mark it found was
// rendered since, and acknowledged. So each change below the note is in a snapshot: it was acknowledged
// before, or it left a mark. PublishedTo is the oldest note.
//
// A round takes `every`. A late refresh isn't paced: after a gap in the updates, or if some section was taken
// longer ago than one and a half rounds. If a topic refuses a user's snapshot for its size, the section keeps
// its former note, and the refresh goes on at its pace.
//
// A user whose snapshot is withheld (flow/last_published.h) keeps the mark, so each round meets the user
// again. Until a whole round has met none, the filter is withheld: readers must not begin at its snapshots.
//
// Not thread-safe: PublishFlow's mutex guards it.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "flow/partition_status.h"
#include "flow/store_port.h"

namespace seen {

class Refresh {
 public:
  static constexpr size_t kSections = 16;
  static constexpr int64_t kNoOffset = -1;

  /// `filters`: those with updates.
  Refresh(std::vector<FilterId> filters, std::chrono::milliseconds every);

  bool empty() const { return filters_.empty(); }
  /// Whether it takes the marks of this filter.
  bool Has(FilterId filter) const;

  /// The store has all that was read by `at`, up to the offset `to`: each change there is in an acknowledged
  /// snapshot, or its user has a mark. kNoOffset: users may be missing in a snapshot topic.
  void Stored(int64_t to, Instant at) { stored_ = {to, at}; }

  /// Marks of one filter: `after` < user <= `last`.
  struct Range {
    std::optional<UserRef> after;
    UserRef last;
  };
  /// The marks to read next; nullopt: none now. `next_offset`: of the next record that the state will read.
  std::optional<Range> Next(Instant now, int64_t next_offset);
  /// The marks of the range up to this user were found; nullopt: all of them.
  void Scanned(const std::optional<UserRef>& up_to, Instant now);

  /// The section ends after one more user is published.
  void Await() {
    ++waits_;
    ++users_;
  }
  void Published(Instant now);
  /// Some change below the note stays out of the snapshots.
  void Refused() { note_ = {}; }

  /// Changes of the filter may stay out of the snapshots, until a whole round from now on has met none.
  void Withhold(FilterId filter);
  bool Withholds(FilterId filter) const;

  /// A snapshot topic was cut: what was published may be gone.
  void TakeBack();
  /// Readers lack additions below this offset, so they wait for the snapshots.
  void HurryTo(int64_t offset) { hurry_to_ = std::max(hurry_to_, offset); }

  /// Each change below it is in an acknowledged snapshot. kNoOffset: not known.
  int64_t PublishedTo() const { return Oldest(published_).to; }
  RefreshStatus GetStatus(Instant now) const;

 private:
  struct Note {
    int64_t to = kNoOffset;
    Instant at{};
  };

  using Notes = std::array<Note, kSections>;

  static constexpr std::chrono::seconds kLateAfter{30};  // at least; else two rounds

  static const Note& Oldest(const Notes& notes);
  bool IsPaced(Instant now) const;
  /// When the pace reaches this slice of the section.
  Instant TimeOf(uint64_t slice) const;
  void BeginFilter();
  void EndSectionIfDone(Instant now);

  const std::vector<FilterId> filters_;
  std::vector<size_t> withheld_;  // of each filter: so many sections must still end, each with its note
  const std::chrono::milliseconds every_;
  Note stored_;
  Notes published_;  // of each section
  Notes taken_;      // the same, and also where a topic refused a snapshot
  int64_t hurry_to_ = kNoOffset;
  uint64_t rounds_ = 0, users_ = 0;
  Instant since_{};     // the first Next
  Instant round_at_{};  // when the round under way began

  // The section under way, or the next one.
  size_t section_ = 0;
  bool begun_ = false;
  Note note_;
  uint64_t waits_ = 0;                 // users
  uint64_t slice_ = 0, to_slice_ = 0;  // the range under way; equal: there is none
  size_t filter_ = 0;                  // of the range
  std::optional<UserRef> after_;       // in this filter
};

}  // namespace seen
