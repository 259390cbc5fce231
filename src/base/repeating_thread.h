#pragma once
// A step that is repeated on a thread of its own, with a wait between.

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace seen {

/// Start and Stop: one thread at a time, not the step itself.
class RepeatingThread {
 public:
  /// Returns how long to wait before the next one.
  using Step = std::function<std::chrono::milliseconds()>;

  RepeatingThread() = default;
  ~RepeatingThread() { Stop(); }
  RepeatingThread(const RepeatingThread&) = delete;
  RepeatingThread& operator=(const RepeatingThread&) = delete;

  /// Once. The thread's name has 15 characters at most.
  void Start(const std::string& name, std::chrono::milliseconds first_wait, Step step);
  /// Ends a wait at once; a step under way ends first. Again, or without Start: nothing.
  void Stop();

  /// For a step that takes long: it should end soon. Any thread.
  const std::atomic<bool>& stopping() const { return stopping_; }

 private:
  void Run(std::chrono::milliseconds wait, const Step& step);

  Mutex mutex_;  // of the wait: a Stop between the look at stopping_ and the wait must not be missed
  ConditionVariable wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace seen
