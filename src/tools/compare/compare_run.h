#pragma once
// Asks both filters about every request, then asks the daemon why they differ.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/ask/daemon_client.h"
#include "tools/compare/compare_report.h"
#include "tools/compare/comparison.h"
#include "tools/compare/old_filter.h"
#include "tools/compare/request_file.h"
#include "tools/progress.h"

namespace seen {

struct ComparePlan {
  DaemonAddress http;
  std::string default_filter;  // for requests that name no filter
  /// Makes one connection to the old filter.
  std::function<Result<std::unique_ptr<OldFilter>>()> make_old_filter;
  bool old_filter_in_order = false;  // only one old filter; one thread asks it in the requests' order
  int connections = 4;               // to each side
  size_t why_max = 1'000;            // differences of each side to ask about
  size_t examples_max = 5;           // for each reason
  uint64_t seed = 1;                 // decides which differences are drawn
};

/// One thread. Starts `connections` threads of its own. Takes the requests in waves, so that the results
/// don't depend on which thread is faster. Memory holds one wave.
class CompareRun {
 public:
  /// Connects to both sides. Errors: as DaemonClient::Make and `make_old_filter`. kUnavailable: no daemon
  /// there.
  static Result<CompareRun> Make(ComparePlan plan);

  /// Never fails as a whole. The report has the requests that could not be compared, with the reasons. An
  /// interrupt stops the run.
  CompareReport Run(RequestFile& requests, Progress& progress);

  /// The old filter if it must be asked in order, otherwise nullptr.
  OldFilter* old_filter_in_order() {
    return plan_.old_filter_in_order ? old_filters_.front().get() : nullptr;
  }

 private:
  struct Outcome;
  explicit CompareRun(ComparePlan plan) : plan_(std::move(plan)) {}

  Result<bool> ReadWave(RequestFile& requests, std::vector<CompareRequest>& wave,
                        CompareReport& report) const;
  Status CompareWave(std::vector<CompareRequest>& wave, std::vector<Outcome>& outcomes);
  static void CompareSome(std::span<const CompareRequest> requests, std::span<Outcome> outcomes,
                          OldFilter* old_filter, DaemonClient& daemon, Status& status);

  ComparePlan plan_;
  std::vector<DaemonClient> daemons_;
  std::vector<std::unique_ptr<OldFilter>> old_filters_;
};

}  // namespace seen
