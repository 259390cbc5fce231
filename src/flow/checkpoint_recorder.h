#pragma once
// What hears of each checkpoint what it changed. Implemented by state_stream/.

#include <memory>

#include "flow/store_port.h"

namespace seen {

class CheckpointRecorder {
 public:
  virtual ~CheckpointRecorder() = default;
  /// `writer` with ears: what it is given is recorded once it has committed. Checkpoint thread.
  virtual std::unique_ptr<CheckpointWriter> Record(std::unique_ptr<CheckpointWriter> writer,
                                                   const Position& position) = 0;

  // Control thread, beside no checkpoint.
  /// Another member of the group may own the partition from here on: nothing is recorded.
  virtual void Pause() = 0;
  /// It is this process's again.
  virtual void Resume() = 0;
};

}  // namespace seen
