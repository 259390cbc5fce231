#pragma once
// A mutex that Clang's thread-safety analysis understands. A field names the mutex that guards it. A function
// names the mutex that its caller holds. `make check` rejects code that breaks either rule. Other compilers
// ignore the annotations.

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SEEN_THREAD_SAFETY(annotation) __attribute__((annotation))
#else
#define SEEN_THREAD_SAFETY(annotation)
#endif

#define GUARDED_BY(mutex) SEEN_THREAD_SAFETY(guarded_by(mutex))        // a field: only with the mutex held
#define PT_GUARDED_BY(mutex) SEEN_THREAD_SAFETY(pt_guarded_by(mutex))  // what a pointer points to
#define REQUIRES(...) SEEN_THREAD_SAFETY(requires_capability(__VA_ARGS__))  // the caller holds it
#define EXCLUDES(...) SEEN_THREAD_SAFETY(locks_excluded(__VA_ARGS__))       // the caller must not hold it
#define ACQUIRE(...) SEEN_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define RELEASE(...) SEEN_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) SEEN_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS SEEN_THREAD_SAFETY(no_thread_safety_analysis)

namespace seen {

/// std::mutex with annotations. Any thread.
class SEEN_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

/// Holds a mutex for a scope. `unlock` and `lock` may release it in between.
class SEEN_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() RELEASE() {
    held_ = false;
    mutex_.unlock();
  }
  void lock() ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

/// Waits with a mutex held. A wait may end without a notification, so callers wait in a loop. The analysis
/// can't check the condition that std::condition_variable::wait takes.
class ConditionVariable {
 public:
  void Wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();  // the caller still holds the mutex
  }

  /// Whether the wait ended before `deadline`.
  template <typename TimePoint>
  bool WaitUntil(Mutex& mutex, const TimePoint& deadline) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }

  void NotifyOne() noexcept { condition_.notify_one(); }
  void NotifyAll() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace seen
