#pragma once
// Restores of partitions' state, a few at a time.

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "state_stream/figures.h"
#include "state_stream/restore.h"

namespace seen {

/// Any thread. The class has threads of its own.
class RestoreJobs {
 public:
  /// Puts the partition's state in place, if there is any. One thread.
  using Restorer = std::function<Status(const StoreIdentity&, RestoreProgress&)>;
  struct Options {
    size_t threads = 2;
    std::chrono::milliseconds quick{250};   // Restore waits this long, once, for a running restore
    std::chrono::milliseconds idle{1'000};  // a thread without work keeps its restorer this long
  };
  /// `make_restorer`: is called by a thread that has work and no restorer. `clock` outlives this.
  RestoreJobs(Options options, std::function<Restorer()> make_restorer, const Clock& clock);
  /// Waits for running restores.
  ~RestoreJobs();
  RestoreJobs(const RestoreJobs&) = delete;
  RestoreJobs& operator=(const RestoreJobs&) = delete;

  /// Begins the restore as soon as its turn comes. Restore is to be called later.
  void Begin(const StoreIdentity& identity);
  /// kUnavailable, with the progress: ask again. Otherwise the restore's result, once.
  Status Restore(const StoreIdentity& identity);
  /// The partition isn't wanted any more. The result of its restore is of no use, because another owner may
  /// change the state meanwhile.
  void Abandon(int32_t partition);
  std::map<int32_t, StateRestoreFigures> GetFigures() const;

 private:
  struct Job {
    StoreIdentity identity;
    Instant begun;
    RestoreProgress progress;
    bool asked_for = false;
    bool done = false;
    bool abandoned = false;
    Status result;
  };
  void Run();
  std::shared_ptr<Job> Find(const StoreIdentity& identity) REQUIRES(mutex_);
  bool IsNext(const std::shared_ptr<Job>& job) const REQUIRES(mutex_);
  Error Waits(int32_t partition) const REQUIRES(mutex_);

  const Options options_;
  const std::function<Restorer()> make_restorer_;
  const Clock& clock_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::map<int32_t, std::shared_ptr<Job>> jobs_ GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Job>> waiting_ GUARDED_BY(mutex_);
  size_t running_ GUARDED_BY(mutex_) = 0;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace seen
