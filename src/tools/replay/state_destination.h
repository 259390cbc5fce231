#pragma once
// Where replay puts the state that it built: a daemon's directory, or a state topic.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bulk_load/state_builder.h"
#include "tools/replay/replay_config.h"

namespace seen {

/// One thread.
class StateDestination {
 public:
  virtual ~StateDestination() = default;
  /// Before anything is read. kRefused, with the remedy: what is there must not be replaced, or is in use.
  virtual Status Prepare(int32_t partitions) = 0;
  /// An existing folder for files of sorted rows, this run's alone. After Prepare.
  virtual std::string SortFolder() const = 0;
  /// The state of every partition, one for each, in their order. Takes the place of what is there.
  virtual Status Write(StateBuilder& builder, const std::vector<BuiltState>& states) = 0;
  /// After Write: the builder is gone. Removes the files of sorted rows.
  virtual void Clear() = 0;
  /// Of the state, as it is stored there.
  virtual uint64_t StateBytes() const = 0;
};

struct DirectorySettings {
  std::string directory;
  uint64_t memory_bytes = 0;
  unsigned threads = 1;
  bool replace = false;  // state that is there goes
  bool quiet = false;
};
std::unique_ptr<StateDestination> IntoDirectory(const DirectorySettings& settings);

struct TopicSettings {
  std::string
      scratch;  // a folder of this name is made in it for sorted rows; empty: the system's for such files
  bool replace = false;  // older state stops counting
  bool quiet = false;
};
/// `target` has a state topic and outlives this.
std::unique_ptr<StateDestination> IntoTopic(const TopicSettings& settings, const ReplayTarget& target);

}  // namespace seen
