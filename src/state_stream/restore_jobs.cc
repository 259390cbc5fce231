#include "state_stream/restore_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/threads.h"

namespace seen {

RestoreJobs::RestoreJobs(Options options, std::function<Restorer()> make_restorer, const Clock& clock)
    : options_(options), make_restorer_(std::move(make_restorer)), clock_(clock) {
  for (size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] {
      NameThread("restore");
      YieldToOtherThreads();
      Run();
    });
  }
}

RestoreJobs::~RestoreJobs() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void RestoreJobs::Run() {
  Restorer restorer;
  for (;;) {
    std::shared_ptr<Job> job;
    {
      const MutexLock lock(mutex_);
      while (!stopped_ && waiting_.empty()) {
        const auto until = std::chrono::steady_clock::now() + options_.idle;
        if (!restorer) {
          changed_.Wait(mutex_);
        } else if (!changed_.WaitUntil(mutex_, until)) {
          restorer = nullptr;
        }
      }
      if (stopped_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
      job->begun = clock_.Now();
    }
    if (!restorer) restorer = make_restorer_();
    Status result = restorer(job->identity, job->progress);
    if (!result) restorer = nullptr;
    const MutexLock lock(mutex_);
    --running_;
    job->result = std::move(result);
    job->done = true;
    if (job->abandoned) jobs_.erase(job->identity.partition);
    changed_.NotifyAll();
  }
}

// The partition's job; made if there is none.
std::shared_ptr<RestoreJobs::Job> RestoreJobs::Find(const StoreIdentity& identity) {
  std::shared_ptr<Job>& job = jobs_[identity.partition];
  if (!job) {
    job = std::make_shared<Job>();
    job->identity = identity;
    waiting_.push_back(job);
    changed_.NotifyAll();
  }
  return job;
}

void RestoreJobs::Begin(const StoreIdentity& identity) {
  const MutexLock lock(mutex_);
  (void)Find(identity);
}

// True: the job runs, or is about to run.
bool RestoreJobs::IsNext(const std::shared_ptr<Job>& job) const {
  const auto at = std::find(waiting_.begin(), waiting_.end(), job);
  return at == waiting_.end() || running_ + static_cast<size_t>(at - waiting_.begin()) < options_.threads;
}

Status RestoreJobs::Restore(const StoreIdentity& identity) {
  const int32_t partition = identity.partition;
  const MutexLock lock(mutex_);
  const std::shared_ptr<Job> job = Find(identity);
  if (!job->asked_for && IsNext(job)) {
    // A short wait is worth it: there is often nothing to restore, and a partition that isn't open yet
    // worries people.
    const auto until = std::chrono::steady_clock::now() + options_.quick;
    while (!job->done && changed_.WaitUntil(mutex_, until)) {
    }
  }
  job->asked_for = true;
  if (!job->done || job->abandoned) return Fail(Waits(partition));
  jobs_.erase(partition);
  return std::move(job->result);
}

Error RestoreJobs::Waits(int32_t partition) const {
  const Job& job = *jobs_.at(partition);
  const auto name = fmt::format("partition {}: its state ", partition);
  if (job.abandoned) return {Code::kUnavailable, name + "will be restored from the state topic again"};
  if (std::any_of(waiting_.begin(), waiting_.end(),
                  [&](const auto& waiting) { return waiting.get() == &job; }))
    return {Code::kUnavailable, name + "waits to be restored from the state topic"};
  const int64_t all = job.progress.records_in_all.load();
  return {Code::kUnavailable, name + fmt::format("is being restored from the state topic: {}% ({} bytes)",
                                                 all > 0 ? 100 * job.progress.records.load() / all : 0,
                                                 job.progress.bytes.load())};
}

void RestoreJobs::Abandon(int32_t partition) {
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(partition);
  if (found == jobs_.end()) return;
  const auto waits = std::find(waiting_.begin(), waiting_.end(), found->second);
  const bool runs = !found->second->done && waits == waiting_.end();
  if (waits != waiting_.end()) waiting_.erase(waits);
  found->second->abandoned = true;
  if (!runs) jobs_.erase(found);
}

std::map<int32_t, StateRestoreFigures> RestoreJobs::GetFigures() const {
  std::map<int32_t, StateRestoreFigures> figures;
  const MutexLock lock(mutex_);
  for (const auto& [partition, job] : jobs_) {
    if (job->done) continue;
    const auto all = static_cast<double>(std::max<int64_t>(1, job->progress.records_in_all.load()));
    const bool begun = job->begun != Instant();
    figures[partition] = {static_cast<double>(job->progress.records.load()) / all, job->progress.bytes.load(),
                          begun ? std::chrono::duration<double>(clock_.Now() - job->begun).count() : 0};
  }
  return figures;
}

}  // namespace seen
