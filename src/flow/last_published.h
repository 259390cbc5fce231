#pragma once
// The last published snapshots of users whose state was begun without what these hold: state that was lost,
// or a filter that was added. Until the filter is whole again they are merged into what is rendered, so that
// an incomplete snapshot never replaces a whole one (docs/decisions/0007).
//
//   kUnread   nothing of the partition is published. A LastPublishedReader reads the filter's snapshot topic
//             once, and Keep puts it into the store.
//   kKept     snapshots are rendered with what is kept. An erasure drops a user's.
//   kInState  nothing is kept. Before that each user whose snapshot was kept is published by the state alone:
//             some have nothing left in their window.
//
// Threads: Keep and EndReading from the reader's, Step from the publisher's, CheckpointPart from the
// checkpoint thread, the rest any.

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flow/checkpoint_part.h"
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
  /// In the order of the topic. A null record is an empty snapshot. Durable when it returns.
  struct Published {
    std::string_view user_id;
    std::string_view snapshot;
  };
  Status Keep(FilterIndex filter_index, std::span<const Published> records);
  void EndReading(FilterIndex filter_index);
  /// Of the topics' records, since the start: those that no snapshot is in.
  uint64_t unreadable() const { return unreadable_.load(std::memory_order_relaxed); }

  /// Snapshots of the filter are rendered with what is kept.
  bool IsMerged(FilterIndex filter_index, TimeMs wall) const;
  /// The user was erased: nothing is kept any more with the next checkpoint.
  void DropErased(const UserRef& user);

  /// Once a filter is whole again, makes a page of its users due.
  Status Step(Instant now, TimeMs wall);
  bool HasChanges() const;
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

  std::vector<UserRef> erased_under_way_;  // checkpoint thread: by the one under way

  mutable Mutex mutex_;
  std::vector<UserRef> erased_ GUARDED_BY(mutex_);
  std::vector<FilterIndex> ended_ GUARDED_BY(mutex_);  // filters all of whose users were made due
  std::vector<FilterIndex> ended_under_way_ GUARDED_BY(mutex_);
};

}  // namespace seen
