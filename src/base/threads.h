#pragma once
// The calling thread's name, priority and memory.

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace seen {

/// The name that `top -H` shows; at most 15 characters.
void NameThread(const std::string& name);

/// For a thread whose work can wait. If processors are short, threads that somebody waits for go first: they
/// get about three times its share, and run at once when they wake. The thread keeps this priority.
void YieldToOtherThreads();

/// As YieldToOtherThreads, and lower: this thread goes behind other programs, and so does each thread and
/// process that it starts from now on. If the priority is lower already, it stays.
void YieldToOtherPrograms();

/// Repeats a step on its own thread, with a wait between two steps.
/// Start and Stop: one thread at a time, never the step itself.
class RepeatingThread {
 public:
  /// Returns how long to wait before the next step.
  using Step = std::function<std::chrono::milliseconds()>;

  RepeatingThread() = default;
  ~RepeatingThread() { Stop(); }
  RepeatingThread(const RepeatingThread&) = delete;
  RepeatingThread& operator=(const RepeatingThread&) = delete;

  /// Call it once. `name` has at most 15 characters.
  void Start(const std::string& name, std::chrono::milliseconds first_wait, Step step);
  /// Ends a wait at once. If a step is running, waits until it ends. Does nothing without a Start, or after
  /// another Stop.
  void Stop();

  /// A step that takes long should check it, and end soon once it is true. Any thread.
  const std::atomic<bool>& stopping() const { return stopping_; }

 private:
  void Run(std::chrono::milliseconds wait, const Step& step);

  Mutex mutex_;  // guards the wait: a Stop between the check of stopping_ and the wait must not be missed
  ConditionVariable wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// Where the buffers of a thread come from.

/// From now on, the calling thread allocates from an arena that keeps freed memory for a tenth of a second.
/// For threads that make large buffers all the time. Other threads give pieces of 2 MiB and more back to the
/// system at once (main/seend.cc), and the system clears each page of the next piece. All callers share the
/// arena. Without jemalloc it does nothing.
void KeepFreedBuffers();

}  // namespace seen
