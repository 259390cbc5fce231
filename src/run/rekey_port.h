#pragma once
// What re-keying needs from the log in addition to consumed records and dead letters. Implemented by kafka/.

#include <cstdint>
#include <string_view>

#include "flow/log_port.h"

namespace seen {

/// The result for one record that was queued.
struct DeliveryReport {
  uint64_t ticket = 0;
  Delivery delivery = Delivery::kAcknowledged;
};

/// Sends records under another key. Any thread.
class KeyedRecordSink {
 public:
  enum class Taken : uint8_t { kQueued, kFull, kTooLarge };

  virtual ~KeyedRecordSink() = default;
  /// Queues the record's value, headers and timestamp under `key`; all is copied. The sink reports the result
  /// with `ticket`: exactly once for each record that was queued, and for no other. The report comes on a
  /// thread of the sink, and may come before this returns. kFull: try again later.
  virtual Taken TrySend(std::string_view key, const Record& record, uint64_t ticket) = 0;
};

}  // namespace seen
