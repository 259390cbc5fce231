#pragma once
// The guard of the topic of groups. It finds items whose newest record the owner of the index hasn't written.
// A former owner that wakes up may put an old group over a newer one, whatever its lease says. A network that
// delayed its requests may do the same. Several indexes may write one partition of the topic, so offsets
// don't show the writer. Each record names it instead (similar/port/group_topic.h). docs/decisions/0012.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "similar/port/group_topic.h"

namespace seen {

/// An item whose newest record the owner of the index hasn't written.
struct ForeignGroup {
  std::string item_id;
  std::optional<uint64_t> value_hash;  // GroupHash; nullopt: a tombstone
  std::optional<TimeMs> created_at;    // from its value; nullopt: the value has none that can be read
  bool is_of_index = false;            // no other index can have decided it
  std::string decided_by;
  Instant read_at{};
};

/// The hash of a record's key and value.
uint64_t GroupHash(std::string_view item_id, std::string_view value);

/// One thread: the index's writer.
class GroupGuard {
 public:
  struct Options {
    int32_t partition = 0;                   // of the ordered topic; names the index
    bool is_only_index = false;              // the ordered topic has no other partition
    std::string decided_by;                  // of the owner's own records
    size_t waiting_max = 1 << 16;            // items; with more the guard doesn't wait for `settle`
    std::chrono::milliseconds settle{1000};  // how long a newer record of the owner may be on its way
    OpenGroupTopic open;
  };
  /// `verified`: by partition, the offset up to which the topic was verified before. Empty: the guard ignores
  /// the records that the topic has by now.
  static Result<std::unique_ptr<GroupGuard>> Open(Options options, const std::vector<int64_t>& verified);

  /// Reads the records that have arrived since the last call.
  Status Read(Instant now);
  /// Returns some of the items whose newest record is foreign. The guard forgets them: the caller corrects
  /// the topic.
  std::vector<ForeignGroup> Take(Instant now, size_t count_max);
  /// By partition of the topic: the offset below which no foreign record waits to be taken.
  std::vector<int64_t> Verified() const;

 private:
  struct Waiting {
    std::map<std::string, ForeignGroup, std::less<>> items;
    int64_t first_offset = 0;  // of the first record of these items
  };
  explicit GroupGuard(Options options) : options_(std::move(options)) {}
  void Note(const WrittenGroup& written, Instant now);
  bool IsFull() const { return waiting_count_ >= options_.waiting_max; }

  const Options options_;
  std::unique_ptr<GroupTopic> topic_;
  std::vector<Waiting> waiting_;  // by partition of the topic
  size_t waiting_count_ = 0;
};

/// Sends to the topic of groups only while the lease holds. A daemon that stood still for longer than its
/// session may no longer own the index. Its groups may be older than the new owner's.
class LeasedGroupSink final : public GroupSink {
 public:
  LeasedGroupSink(std::unique_ptr<GroupSink> sink, std::function<bool()> holds_lease)
      : sink_(std::move(sink)), holds_lease_(std::move(holds_lease)) {}

  /// Also false while the lease doesn't hold: the record keeps waiting.
  bool TrySend(std::string_view item_id, const ItemGroup* group) override {
    return holds_lease_() && sink_->TrySend(item_id, group);
  }
  /// A record that was queued under the lease arrives before the lease ends, or the producer gives up on it.
  Status AwaitAll(std::chrono::milliseconds patience) override { return sink_->AwaitAll(patience); }

 private:
  const std::unique_ptr<GroupSink> sink_;
  const std::function<bool()> holds_lease_;
};

}  // namespace seen
