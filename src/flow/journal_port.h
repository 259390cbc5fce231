#pragma once
// The journal as the flow and its store know it: rows of users, by the UTC day of their events. What is in a
// row: model/journal_row.h. A row is named by its user, time and offset, so writing it again changes nothing.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/day.h"

namespace seen {

/// Where a row stands among its user's, newest first.
struct JournalPlace {
  TimeMs at;
  int64_t offset = 0;  // of the event's record
  friend bool operator==(const JournalPlace&, const JournalPlace&) = default;

  bool IsBefore(const JournalPlace& other) const {
    return at.value != other.at.value ? at.value > other.at.value : offset > other.offset;
  }
};

/// False: no more of them.
using VisitJournalRow = std::function<bool(const JournalPlace& place, std::string_view row)>;

struct JournalDay {
  Day day;
  uint64_t bytes = 0;  // on disk
};

}  // namespace seen
