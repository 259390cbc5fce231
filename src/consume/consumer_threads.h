#pragma once
// The threads of a TopicConsumer: control, and the workers.

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "consume/topic_consumer.h"

namespace seen {

/// A wait that ends early. Thread-safe.
class SpaceSignal final : public ConsumerWait {
 public:
  void WaitForSpace(std::chrono::milliseconds time) override {
    const MutexLock lock(mutex_);
    (void)room_.WaitUntil(mutex_, std::chrono::steady_clock::now() + time);
  }
  void Wake() { room_.NotifyAll(); }

 private:
  Mutex mutex_;
  ConditionVariable room_;
};

class ConsumerThreads {
 public:
  /// Called once, on the control thread, if the process can't go on.
  using OnFailed = std::function<void(const Error&)>;
  /// Threads are named `name`-control and `name`-<number>. `topic consumer` must have its log, and outlive
  /// this object.
  ConsumerThreads(TopicConsumer& topic_consumer, const std::string& name, int workers, OnFailed on_failed);
  ~ConsumerThreads();  // calls Stop(0)
  ConsumerThreads(const ConsumerThreads&) = delete;
  ConsumerThreads& operator=(const ConsumerThreads&) = delete;

  /// No record is taken after it returns.
  void StopWorkers();
  /// Stops the workers, too, and closes the topic_consumer. Idempotent.
  void Stop(std::chrono::milliseconds drain);

 private:
  void RunControl();

  TopicConsumer& topic_consumer_;
  const OnFailed on_failed_;
  std::atomic<bool> workers_stop_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> drain_ms_{0};
  std::vector<std::thread> workers_;
  std::thread control_;
};

}  // namespace seen
