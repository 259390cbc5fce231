#pragma once
// Asks the daemon about differences, and counts the reasons.

#include <cstddef>
#include <span>

#include "tools/ask/daemon_client.h"
#include "tools/compare/compare_report.h"
#include "tools/compare/comparison.h"

namespace seen {

/// Asks why about every difference of the sample, with one thread for each of `daemons`. `examples_max`: for
/// each reason. A difference without an answer counts under NoReason. An interrupt ends the questions; then
/// `asked` is smaller.
SideReport FindReasons(const DifferenceSample& sample, std::span<DaemonClient> daemons, size_t examples_max);

}  // namespace seen
