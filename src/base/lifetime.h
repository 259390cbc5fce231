#pragma once
// Waits for the end of an object that threads share.

#include <chrono>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace seen {

/// Shows when an object is gone. A weak pointer doesn't: it expires before the destructor runs, and a
/// destructor that closes a store takes a while. It must be the object's first member: that is destroyed
/// last.
class Lifetime {
  struct End {
    Mutex mutex;
    ConditionVariable changed;
    bool reached GUARDED_BY(mutex) = false;
  };

 public:
  /// Outlives the object. Any thread.
  class Watch {
   public:
    /// Watches nothing: the end is reached.
    Watch() = default;
    /// False: the object still lives after `patience`.
    bool AwaitEnd(std::chrono::milliseconds patience) const {
      if (!end_) return true;
      const auto until = std::chrono::steady_clock::now() + patience;
      const MutexLock lock(end_->mutex);
      while (!end_->reached) {
        if (!end_->changed.WaitUntil(end_->mutex, until)) break;
      }
      return end_->reached;
    }

   private:
    friend class Lifetime;
    explicit Watch(std::shared_ptr<End> end) : end_(std::move(end)) {}
    std::shared_ptr<End> end_;
  };

  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;
  ~Lifetime() {
    const MutexLock lock(end_->mutex);
    end_->reached = true;
    end_->changed.NotifyAll();
  }

  Watch GetWatch() const { return Watch(end_); }

 private:
  const std::shared_ptr<End> end_ = std::make_shared<End>();
};

}  // namespace seen
