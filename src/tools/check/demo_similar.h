#pragma once
// The demo's part about near-duplicates: items with copies, a reader who saw the originals, and what becomes
// of the copies.

#include <string>

#include "base/result.h"
#include "kafka/bulk_producer.h"
#include "tools/ask/daemon_client.h"

namespace seen {

struct DemoSimilarOptions {
  std::string brokers;
  ClientSettings client;
  std::string items_topic = "items";
  std::string filter = "default";  // with similar: drop
};

/// Sends some hundred items and exposures of some (by `exposures`), waits for both, prints one answer and
/// why, and checks it. False: a check failed. kUnavailable: no answer, or not in time.
Result<bool> ShowSimilar(const DemoSimilarOptions& options, DaemonClient& daemon, BulkProducer& exposures);

}  // namespace seen
