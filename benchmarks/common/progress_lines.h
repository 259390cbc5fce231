#pragma once
// The lines that benchmarks/run.py reads from a contender's standard output: `progress EVENTS
// OFFSET,OFFSET,...` again and again, and `done EVENTS` at the end.

#include <atomic>
#include <thread>

#include "common/topic_reader.h"

namespace seen::bench {

/// Prints every 20 ms from its own thread. Finish (or the destructor) prints the last lines.
class ProgressLines {
 public:
  explicit ProgressLines(const TopicReader& reader);
  ~ProgressLines();
  void Finish();

 private:
  void Print() const;
  const TopicReader& reader_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace seen::bench
