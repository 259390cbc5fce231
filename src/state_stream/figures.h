#pragma once
// What dashboards show of the state topic, as plain values.

#include <cstdint>
#include <map>
#include <string>

namespace seen {

/// Of one partition that is streamed, since it was opened.
struct StateStreamFigures {
  int64_t epoch = -1;    // offset of its opening; -1: not acknowledged yet
  int64_t base_at = -1;  // where the newest whole base begins; -1: none is known
  int64_t sent_to = 0;   // position that the topic leads a reader to; 0: not known, or a base is awaited
  uint64_t runs = 0;     // whole and acknowledged
  uint64_t bases = 0;
  uint64_t bytes = 0;             // of their records
  uint64_t dropped_changes = 0;   // checkpoints whose changes no run has: a base follows
  uint64_t undelivered_runs = 0;  // likewise: they broke off
  uint64_t foreign_records = 0;   // of other owners, between this one's
};

/// Of one partition that is being restored.
struct StateRestoreFigures {
  double share = 0;    // done, 0 to 1; about
  uint64_t bytes = 0;  // read
  double seconds = 0;  // since it began
};

struct StateTopicStatus {
  std::string topic;
  std::string problem;                              // why it isn't written; empty: it is
  std::map<int32_t, StateStreamFigures> streams;    // by partition
  std::map<int32_t, StateRestoreFigures> restores;  // likewise
};

}  // namespace seen
