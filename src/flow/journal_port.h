#pragma once
// The journal as the flow and its store know it: rows of users, by the UTC day of their events.
// model/journal_row.h has the contents of a row. A user, time and offset identify a row, so writing it again
// changes nothing.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/day.h"

namespace seen {

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

}  // namespace seen
