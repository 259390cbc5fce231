#pragma once
// The partitions that this process has open.

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/mutex.h"
#include "flow/partition_status.h"
#include "flow/store_port.h"

namespace seen {

struct PartitionFlow;

/// A ticket with this bit is for an unexposed item, not for a snapshot.
inline constexpr uint64_t kUnexposedTag = uint64_t{1} << 32;

/// One open partition. Its readers keep it alive; the store closes when the last reader is done.
struct OpenPartition {
  OpenPartition();
  ~OpenPartition();

  Lifetime lifetime;  // ends after the store has closed
  int32_t partition = 0;
  uint64_t ticket_tag = 0;  // upper half of the publisher's tickets; set by OpenPartitions::Add
  uint64_t unexposed_tag() const { return ticket_tag | kUnexposedTag; }  // the same for unexposed items
  std::unique_ptr<PartitionStore> store;
  std::unique_ptr<PartitionFlow> flow;

  Mutex checkpoint_mutex;  // its holder has the flow's checkpoint role
  Instant checkpoint_retry_at GUARDED_BY(checkpoint_mutex){};
  std::atomic<int64_t> commit_offset{-1};  // everything below is in the store; -1: not known

  // The partition answers once it has read up to this offset and is caught up. The offset isn't known until
  // re-keying has caught up, too.
  static constexpr int64_t kNotYet = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> answers_from{0};
  bool AwaitsRekeying() const;
  bool CaughtUp() const;

  // Whether the group assigned the partition to this daemon. An unassigned partition answers from what is
  // known here; it is not read, published or committed.
  std::atomic<bool> assigned{true};
  Instant unassigned_at{};  // control thread
  std::atomic<bool> disk_full{false};
  std::atomic<bool> stopped{false};       // its state can't be read: nothing is served or consumed
  std::atomic<int64_t> held_since_ms{0};  // wall clock; 0: records are taken
  std::atomic<HoldReason> held_reason{HoldReason::kNone};

  void Stop(std::string reason);
  std::string stop_reason() const;

 private:
  mutable Mutex reason_mutex_;
  std::string stop_reason_ GUARDED_BY(reason_mutex_);
};

using PartitionPointer = std::shared_ptr<OpenPartition>;

/// Thread-safe.
class OpenPartitions {
 public:
  /// nullptr: not open here.
  PartitionPointer Find(int32_t partition) const;
  /// Ascending.
  std::vector<PartitionPointer> All() const;
  /// Replaces the open partition with its number, if there is one. Sets a ticket tag that no other has had.
  void Add(PartitionPointer open);
  /// Sets why the partition isn't open here although this daemon owns it. An empty reason clears it.
  void Refuse(int32_t partition, const std::string& reason);
  /// Sets why the partition isn't open here yet. Add, Take and an empty reason clear it.
  void Await(int32_t partition, const std::string& reason);
  /// Empty: nobody is opening it.
  std::string AwaitedFor(int32_t partition) const;
  /// Empty: it wasn't refused.
  std::string RefusalOf(int32_t partition) const;
  /// Removes it. nullptr: not open here.
  PartitionPointer Take(int32_t partition);

 private:
  mutable Mutex mutex_;
  std::map<int32_t, PartitionPointer> open_ GUARDED_BY(mutex_);
  std::map<int32_t, std::string> refusals_ GUARDED_BY(mutex_);
  std::map<int32_t, std::string> awaited_ GUARDED_BY(mutex_);
  uint64_t opened_count_ GUARDED_BY(mutex_) = 0;  // since the start
};

}  // namespace seen
