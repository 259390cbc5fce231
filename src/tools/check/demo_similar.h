#pragma once
// The demo's part about near-duplicates: items with copies, a reader who saw one original, and the answers
// about its copies.

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

/// Sends some hundred items, and the exposure of one (by `exposures`). Waits for both, prints one answer with
/// its explanation, and checks it. False: a check failed. kUnavailable: no answer, or not in time.
Result<bool> ShowSimilar(const DemoSimilarOptions& options, DaemonClient& daemon, BulkProducer& exposures);

}  // namespace seen
