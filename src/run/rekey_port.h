#pragma once
// What re-keying needs of the log beyond consumed records and dead letters. Implemented by kafka/.

#include <cstdint>
#include <string_view>

#include "flow/log_port.h"

namespace seen {

/// Of one record that was queued.
struct DeliveryReport {
  uint64_t ticket = 0;
  Delivery delivery = Delivery::kAcknowledged;
};

/// Sends records under another key. Any thread.
class KeyedRecordSink {
 public:
  enum class Taken : uint8_t { kQueued, kFull, kTooLarge };

  virtual ~KeyedRecordSink() = default;
  /// Queues the record's value, headers and timestamp under `key`; all is copied. What becomes of it is told
  /// with its `ticket`, exactly once, if and only if it was queued, on a thread of the sink's own and maybe
  /// before this returns. kFull: try again later.
  virtual Taken TrySend(std::string_view key, const Record& record, uint64_t ticket) = 0;
};

}  // namespace seen
