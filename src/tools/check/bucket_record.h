#pragma once
// The records in which verify keeps its topics after reading them, until it checks the users. These records
// are in memory, or in scratch files of one run. No other version needs to read such records.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/check/event_judge.h"

namespace seen {

/// A user's last record of a snapshot topic, or a tombstone.
struct ToldSnapshot {
  std::string_view user_id;
  uint8_t filter = 0;                     // its place in the rules
  std::optional<std::string_view> bytes;  // nullopt: a tombstone
};

void AppendBucketRecord(const ToldEvent& event, std::string& out);
void AppendBucketRecord(const ToldSnapshot& snapshot, std::string& out);

/// The head of the first record in `bytes`: its length, and what chooses its bucket. nullopt: it isn't whole.
struct BucketRecordHead {
  size_t bytes = 0;
  uint64_t route = 0;  // a hash of its user
};
std::optional<BucketRecordHead> ReadBucketRecordHead(std::string_view bytes);

/// `on_event`, `on_snapshot`: views are valid until they return. kCorrupt: anything but whole records.
Status ReadBucketRecords(std::string_view bytes, const std::function<void(const ToldEvent&)>& on_event,
                         const std::function<void(const ToldSnapshot&)>& on_snapshot);

}  // namespace seen
