#pragma once
// The threads of a TopicRunner: control, and the workers.

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "run/topic_runner.h"

namespace seen {

/// A wait that ends early. Thread-safe.
class RoomSignal final : public RunnerWait {
 public:
  void WaitForRoom(std::chrono::milliseconds time) override {
    const MutexLock lock(mutex_);
    (void)room_.WaitUntil(mutex_, std::chrono::steady_clock::now() + time);
  }
  void Wake() { room_.NotifyAll(); }

 private:
  Mutex mutex_;
  ConditionVariable room_;
};

class RunnerThreads {
 public:
  /// Called once, on the control thread, if the process can't go on.
  using OnFailed = std::function<void(const Error&)>;
  /// Threads are named `name`-control and `name`-<number>. `runner` must have its log, and outlive this
  /// object.
  RunnerThreads(TopicRunner& runner, const std::string& name, int workers, OnFailed on_failed);
  ~RunnerThreads();  // calls Stop(0)
  RunnerThreads(const RunnerThreads&) = delete;
  RunnerThreads& operator=(const RunnerThreads&) = delete;

  /// No record is taken after it returns.
  void StopWorkers();
  /// Stops the workers, too, and closes the runner. Idempotent.
  void Stop(std::chrono::milliseconds drain);

 private:
  void RunControl();

  TopicRunner& runner_;
  const OnFailed on_failed_;
  std::atomic<bool> workers_stop_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> drain_ms_{0};
  std::vector<std::thread> workers_;
  std::thread control_;
};

}  // namespace seen
