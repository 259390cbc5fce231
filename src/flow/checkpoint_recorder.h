#pragma once
// Records what each checkpoint changed. Implemented by state_stream/.

#include <memory>

#include "flow/store_port.h"

namespace seen {

class CheckpointRecorder {
 public:
  virtual ~CheckpointRecorder() = default;
  /// Wraps `writer`: what is written through the wrapper is recorded once it has committed. Checkpoint
  /// thread.
  virtual std::unique_ptr<CheckpointWriter> Record(std::unique_ptr<CheckpointWriter> writer,
                                                   const Position& position) = 0;

  // Control thread, while no checkpoint runs.
  /// From now on, another member of the group may own the partition: nothing is recorded.
  virtual void Pause() = 0;
  /// This process owns the partition again.
  virtual void Resume() = 0;
};

}  // namespace seen
