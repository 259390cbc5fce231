#pragma once
// Reading the configuration again, as HTTP needs it.

#include <string>
#include <vector>

#include "base/result.h"

namespace seen {

/// Keys as the configuration's errors name them.
struct ReloadReport {
  std::vector<std::string> applied;
  std::vector<std::string> waits_for_restart;
};

/// Any thread.
class ReloadPort {
 public:
  virtual ~ReloadPort() = default;
  /// kInvalidArgument: the configuration has a mistake; nothing has changed.
  virtual Result<ReloadReport> Run() = 0;
};

}  // namespace seen
