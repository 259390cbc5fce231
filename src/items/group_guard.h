#pragma once
// The guard of the topic of groups: which items' newest record there the owner of the index hasn't written. A
// former owner that wakes up, or a network that held its requests back, may put an old group over a newer
// one, whatever its lease says. Several indexes may write one partition of the topic, so offsets don't tell:
// each record names who decided it (items/decided_by.h). docs/decisions/0012.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "items/group_topic.h"

namespace seen {

/// An item whose newest record the owner of the index hasn't written.
struct ForeignGroup {
  std::string item_id;
  std::optional<uint64_t> value_hash;  // GroupHash; nullopt: a tombstone
  std::optional<TimeMs> created_at;    // as its value says; nullopt: it has none that can be read
  bool is_of_index = false;            // no other index can have decided it
  std::string decided_by;
  Instant read_at{};
};

/// Of a record's key and value.
uint64_t GroupHash(std::string_view item_id, std::string_view value);

/// One thread, the index's writer.
class GroupGuard {
 public:
  struct Options {
    int32_t partition = 0;                   // of the ordered topic: which index
    bool is_only_index = false;              // the ordered topic has no other partition
    std::string decided_by;                  // of the owner's own records
    size_t waiting_max = 1 << 16;            // items; beyond them a newer record may still be on its way
    std::chrono::milliseconds settle{1000};  // a newer record of the owner's may still be on its way
    OpenGroupTopic open;
  };
  /// `verified`: up to where the topic was verified before; empty: what it holds by now is of no concern.
  static Result<std::unique_ptr<GroupGuard>> Open(Options options, const std::vector<int64_t>& verified);

  /// Reads on, as far as records have arrived.
  Status Read(Instant now);
  /// Some of the items whose newest record is foreign. The guard forgets them: whoever takes them makes the
  /// topic right.
  std::vector<ForeignGroup> Take(Instant now, size_t count_max);
  /// By partition of the topic: no foreign record below waits to be taken.
  std::vector<int64_t> Verified() const;

 private:
  struct Waiting {
    std::map<std::string, ForeignGroup, std::less<>> items;
    int64_t first_offset = 0;  // of the records that they came by
  };
  explicit GroupGuard(Options options) : options_(std::move(options)) {}
  void Note(const WrittenGroup& written, Instant now);
  bool IsFull() const { return waiting_count_ >= options_.waiting_max; }

  const Options options_;
  std::unique_ptr<GroupTopic> topic_;
  std::vector<Waiting> waiting_;  // by partition of the topic
  size_t waiting_count_ = 0;
};

}  // namespace seen
