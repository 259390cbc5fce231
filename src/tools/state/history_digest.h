#pragma once
// What the state of a history amounts to: built as replay --into-state builds it, summed, and kept nowhere.

#include <string>

#include "base/result.h"
#include "tools/replay/into_state.h"
#include "tools/state/state_report.h"

namespace seen {

struct HistoryDigestSettings {
  IntoStateSettings build;
  std::string scratch;  // a folder is made in it for sorted rows; empty: the system's for such files
  TimeMs as_of;
};

/// The report of a daemon that read these events, each with its own time as the record's timestamp. Errors:
/// as IntoState.
Result<StateReport> DigestHistory(const HistoryDigestSettings& settings, const ReplayTarget& target,
                                  HistorySource& source, Rejects& rejects);

}  // namespace seen
