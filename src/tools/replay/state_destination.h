#pragma once
// The destination of the state that replay built: a daemon's directory, or a state topic.

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
  /// Call it before reading anything. kRefused, with the remedy: there is state to keep, or it is in use.
  virtual Status Prepare(int32_t partitions) = 0;
  /// An existing folder for files of sorted rows, which only this run uses. After Prepare.
  virtual std::string SortFolder() const = 0;
  /// Writes the state of all partitions: one entry for each, in their order. Replaces existing state.
  virtual Status Write(StateBuilder& builder, const std::vector<BuiltState>& states) = 0;
  /// Removes the files of sorted rows. Call it after Write, once the builder is gone.
  virtual void Clear() = 0;
  /// The size of the state as stored there.
  virtual uint64_t StateBytes() const = 0;
};

struct DirectorySettings {
  std::string directory;
  uint64_t memory_bytes = 0;
  unsigned threads = 1;
  bool replace = false;  // drop existing state
  bool quiet = false;
};
std::unique_ptr<StateDestination> IntoDirectory(const DirectorySettings& settings);

struct TopicSettings {
  std::string
      scratch;  // the parent of a folder for sorted rows; empty: the system's folder for temporary files
  bool replace = false;  // existing state stops counting
  bool quiet = false;
};
/// `target` has a state topic, and must outlive the result.
std::unique_ptr<StateDestination> IntoTopic(const TopicSettings& settings, const ReplayTarget& target);

}  // namespace seen
