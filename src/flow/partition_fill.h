#pragma once
// Puts history that was read again for one filter beneath what a partition's store has of that filter, while
// the daemon runs. The filter was added, or its window grew.
//
// A user's filled delta F is of an earlier part of the log than the stored delta S, or of the same part. So
// the user's state becomes F composed with S on top, and every removal and exposure keeps its place in the
// order. The result is written as a merge operand, like any change: S, then (F, S) is (F, S) again
// (tests/unit/model/delta_laws_test.cc). So a crash between two pages, and a second fill, change nothing.
//
// Threads: the holder of the partition's checkpoint role (OpenPartition::checkpoint_mutex).

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "flow/endings.h"
#include "flow/partition_state.h"
#include "flow/publish_flow.h"
#include "flow/store_port.h"

namespace seen {

/// Some rows of a fill, ascending. One page's keys come after those of the page before.
struct FillPage {
  struct User {
    UserRef ref;
    std::string delta;  // encoded
  };
  std::vector<User> users;
  std::vector<Mark> marks;  // users whose snapshot the fill changes
  std::vector<Ending> endings;
  bool empty() const { return users.empty() && marks.empty() && endings.empty(); }
};

class PartitionFill {
 public:
  /// All references outlive this.
  PartitionFill(PartitionState& state, PartitionStore& store, PublishFlow& publish, Endings& endings)
      : state_(state), store_(store), publish_(publish), endings_(endings) {}

  /// Durable when it returns. kUnavailable: the store has no checkpoint yet. On any other error of the store,
  /// nothing is written.
  Status Write(const FillPage& page);
  /// Call it after the last page: the filter holds everything since `complete_since`, unless records were
  /// lost since the reading began (Wholeness::Filled). Errors as Write.
  Status End(FilterIndex filter_index, TimeMs complete_since, uint64_t losses);

 private:
  Result<Position> StoredPosition() const;
  Status WriteUsers(const FillPage& page, CheckpointWriter& writer);

  PartitionState& state_;
  PartitionStore& store_;
  PublishFlow& publish_;
  Endings& endings_;
};

}  // namespace seen
