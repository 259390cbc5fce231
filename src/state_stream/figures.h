#pragma once
// Figures of the state topic for dashboards, as plain values.

#include <cstdint>
#include <map>
#include <string>

namespace seen {

/// Of one streamed partition, since it was opened.
struct StateStreamFigures {
  int64_t epoch = -1;    // offset of its opening; -1: not acknowledged yet
  int64_t base_at = -1;  // where the newest whole base begins; -1: none is known
  int64_t sent_to = 0;   // position to which the topic leads; 0: not known, or a base must come first
  uint64_t runs = 0;     // whole and acknowledged
  uint64_t bases = 0;
  uint64_t bytes = 0;             // of the records of runs and bases
  uint64_t dropped_changes = 0;   // how often changes were dropped before a run took them: a base follows
  uint64_t undelivered_runs = 0;  // runs that broke off: a base follows
  uint64_t foreign_records = 0;   // of other owners between this owner's records, and of others before them
  uint64_t refused_records = 0;   // before this owner's: they can't be read, or name impossible offsets
  std::string problem;            // for people: why the topic lacks changes or the base; empty: it doesn't
};

/// Of one partition that is being restored.
struct StateRestoreFigures {
  double share = 0;    // done, 0 to 1; approximate
  uint64_t bytes = 0;  // read
  double seconds = 0;  // since it began
};

struct StateTopicStatus {
  std::string topic;
  std::string problem;                              // why no partition is written; empty: see each stream
  std::map<int32_t, StateStreamFigures> streams;    // by partition
  std::map<int32_t, StateRestoreFigures> restores;  // by partition
};

}  // namespace seen
