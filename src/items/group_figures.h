#pragma once
// Counts of one partition of items since it was opened.

#include <cstdint>

namespace seen {

struct GroupFigures {
  uint64_t items_total = 0;    // read, without the deleted
  uint64_t copies_total = 0;   // verbatim copies: one look-up each
  uint64_t grouped_total = 0;  // joined an older item's group, copies included
  uint64_t deleted_total = 0;
  uint64_t moved_total = 0;  // changed their group: a new text, or the group's first item has gone
  uint64_t no_text_total = 0;
  uint64_t too_old_total = 0;     // arrived outside the window: compared, not kept
  uint64_t candidates_total = 0;  // verified
  uint64_t compared_total = 0;    // SimHashes in lists that were read
  uint64_t lists_cut_total = 0;   // entries of lists that list_max left out
  uint64_t candidates_cut_total = 0;
  uint64_t times_corrected_total = 0;  // 1: the stored index time was beyond stored_time_max
  uint64_t sent_total = 0;             // records handed to the topic of groups
  uint64_t items = 0;                  // in the index, some of them past the window
  uint64_t bytes = 0;                  // of the index on disk
};

}  // namespace seen
