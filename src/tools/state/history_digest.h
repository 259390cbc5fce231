#pragma once
// The digest of a history's state. The state is built as by replay --into-state, summed, and stored nowhere.

#include <string>

#include "base/result.h"
#include "tools/replay/into_state.h"
#include "tools/state/state_report.h"

namespace seen {

struct HistoryDigestSettings {
  IntoStateSettings build;
  std::string scratch;  // parent of a folder for sorted rows; empty: the system's temporary folder
  TimeMs as_of;
};

/// The report of a daemon that has read these events, with each event's own time as its record's timestamp.
/// Errors: as IntoState.
Result<StateReport> DigestHistory(const HistoryDigestSettings& settings, const ReplayTarget& target,
                                  HistorySource& source, Rejects& rejects);

}  // namespace seen
