#include "base/work_pool.h"

#include "base/threads.h"

namespace seen {

WorkPool::~WorkPool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wanted_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkPool::Run(size_t count, const std::function<void(size_t)>& work) {
  Job job{work, count};
  const MutexLock lock(mutex_);
  if (count == 0) return;
  if (threads_.empty()) Start();
  jobs_.push_back(&job);
  for (size_t i = 1; i < count; ++i) wanted_.NotifyOne();
  while (job.begun < job.count) DoNext(job);
  while (job.ended < job.count) done_.Wait(mutex_);
}

void WorkPool::Start() {
  for (size_t i = 0; i < threads_max_; ++i) threads_.emplace_back([this] { Serve(); });
}

void WorkPool::Serve() {
  NameThread(name_);
  // Several threads now work where one did. The flow and HTTP requests must still go first.
  YieldToOtherThreads();
  const MutexLock lock(mutex_);
  while (!stopping_) {
    if (jobs_.empty()) {
      wanted_.Wait(mutex_);
    } else {
      DoNext(*jobs_.front());
    }
  }
}

// Runs the job's next index. The job leaves the queue when its last index begins. Its Run waits until all
// have ended.
void WorkPool::DoNext(Job& job) {
  const size_t i = job.begun++;
  if (job.begun == job.count) std::erase(jobs_, &job);
  mutex_.unlock();
  job.work(i);
  mutex_.lock();
  if (++job.ended == job.count) done_.NotifyAll();
}

}  // namespace seen
