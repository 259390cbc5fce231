#pragma once
// Has all daemons read their partitions again for one filter, and watches this fill.

#include <cstdint>
#include <string>

#include "tools/ask/http_client.h"

namespace seen {

struct FillOptions {
  DaemonAddress http;
  std::string filter;
  std::string id;
  int64_t timeout_s = 86'400;
  bool no_wait = false;
  bool status = false;
  bool stop = false;
  bool json = false;
  bool quiet = false;
};

/// Prints what happens. Returns an exit status.
int RunFill(FillOptions options);

}  // namespace seen
