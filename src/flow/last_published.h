#pragma once
// The last published snapshots of users whose state was begun without the items in them: the state was lost,
// or the filter was added. Until the filter is whole again, rendering merges them into the new snapshots. So
// an incomplete snapshot never replaces a whole one (docs/decisions/0007).
//
//   kUnread   nothing of the partition is published. A LastPublishedReader reads the filter's snapshot topic
//             once, and Keep puts the snapshots into the store.
//   kKept     rendering merges the kept snapshots. An erasure drops the user's kept snapshot.
//   kInState  nothing is kept. Before that, each user whose snapshot was kept is published from the state
//             alone: some have nothing left in their window.
//
// Threads: the reader's thread calls Keep and EndReading, the publisher calls Step, the checkpoint thread
// calls the functions of CheckpointPart. Any thread calls the rest.

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flow/partition_checkpoint.h"
#include "flow/partition_state.h"
#include "flow/publish_flow.h"
#include "flow/store_port.h"

namespace seen {

class LastPublishedSnapshots final : public CheckpointPart {
 public:
  LastPublishedSnapshots(PartitionState& state, PartitionStore& store, PublishFlow& publish)
      : state_(state), store_(store), publish_(publish) {}

  /// Filters, by their place, whose topic must be read before anything of the partition is published.
  std::vector<FilterIndex> ToRead(TimeMs wall) const;
  bool AwaitsReading(TimeMs wall) const { return !ToRead(wall).empty(); }
  /// For Keep: records in the order of the topic. A null record is an empty snapshot. They are durable when
  /// Keep returns.
  struct Published {
    std::string_view user_id;
    std::string_view snapshot;
  };
  Status Keep(FilterIndex filter_index, std::span<const Published> records);
  void EndReading(FilterIndex filter_index);
  /// Records of the topics, since the start, that hold no readable snapshot.
  uint64_t unreadable() const { return unreadable_.load(std::memory_order_relaxed); }

  /// Whether rendering merges the filter's kept snapshots.
  bool IsMerged(FilterIndex filter_index, TimeMs wall) const;
  /// Whether some users' snapshots may not hold all that changed, for a filter with updates: the kind takes
  /// no union, or a union was refused because the published snapshot is of another kind.
  bool Withholds(FilterIndex filter_index, TimeMs wall) const;
  /// The user was erased: the next checkpoint drops the user's kept snapshot.
  void DropErased(const UserRef& user);

  /// Once a filter is whole again, makes a page of its users due.
  Status Step(Instant now, TimeMs wall);
  bool HasChanges() const override;
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override;
  void Failed() override;

 private:
  const FilterPolicy& FilterAt(size_t index) const { return state_.options().filters[index]; }

  PartitionState& state_;
  PartitionStore& store_;
  PublishFlow& publish_;
  std::atomic<uint64_t> unreadable_{0};

  // Publisher thread.
  std::optional<FilterIndex> ending_;  // the filter whose users are made due
  std::optional<UserRef> ending_after_;

  std::vector<UserRef> erased_under_way_;  // checkpoint thread: of the checkpoint under way

  mutable Mutex mutex_;
  std::vector<UserRef> erased_ GUARDED_BY(mutex_);
  std::vector<FilterIndex> ended_ GUARDED_BY(mutex_);  // filters whose users all became due
  std::vector<FilterIndex> ended_under_way_ GUARDED_BY(mutex_);
};

}  // namespace seen
