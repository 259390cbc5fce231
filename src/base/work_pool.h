#pragma once
// Threads that work for a caller who waits. They use other processors and the disk: a disk answers eight
// reads in the time of one.

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace seen {

/// Any thread. The first work starts the pool's threads. They yield to other threads (base/threads.h).
class WorkPool {
 public:
  /// `threads`: in addition to the caller's.
  WorkPool(size_t threads, std::string name) : threads_max_(threads), name_(std::move(name)) {}
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  size_t threads() const { return threads_max_; }
  /// Calls `work` once with each of 0 to count - 1, in the caller's thread and the pool's. Returns when all
  /// calls have returned. `work` doesn't throw.
  void Run(size_t count, const std::function<void(size_t)>& work);

 private:
  struct Job {
    const std::function<void(size_t)>& work;
    size_t count;
    size_t begun = 0, ended = 0;
  };
  void Start() REQUIRES(mutex_);
  void Serve();
  void DoNext(Job& job) REQUIRES(mutex_);

  const size_t threads_max_;
  const std::string name_;
  Mutex mutex_;
  ConditionVariable wanted_, done_;
  std::deque<Job*> jobs_ GUARDED_BY(mutex_);  // jobs with an index that hasn't begun
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // started by the first Run, under the lock; then the destructor's
};

}  // namespace seen
