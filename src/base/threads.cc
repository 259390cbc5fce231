#include "base/threads.h"

#include <pthread.h>
#include <sys/resource.h>

#include <utility>

namespace seen {

namespace {
// 15 or more would starve the thread as long as the machine is busy. Then the flow would have to wait for it.
constexpr int kNiceOfWaiting = 5;
constexpr int kNiceOfBackground = 10;
}  // namespace

void NameThread(const std::string& name) { (void)pthread_setname_np(pthread_self(), name.c_str()); }

// On Linux each thread has its own nice value; 0 is the calling thread.
void YieldToOtherThreads() { (void)setpriority(PRIO_PROCESS, 0, kNiceOfWaiting); }

void YieldToOtherPrograms() {
  if (getpriority(PRIO_PROCESS, 0) < kNiceOfBackground) (void)setpriority(PRIO_PROCESS, 0, kNiceOfBackground);
}

void RepeatingThread::Start(const std::string& name, std::chrono::milliseconds first_wait, Step step) {
  thread_ = std::thread([this, name, first_wait, step = std::move(step)] {
    NameThread(name);
    Run(first_wait, step);
  });
}

void RepeatingThread::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void RepeatingThread::Run(std::chrono::milliseconds wait, const Step& step) {
  for (;;) {
    {
      const auto until = std::chrono::steady_clock::now() + wait;
      const MutexLock lock(mutex_);
      while (!stopping_ && wake_.WaitUntil(mutex_, until)) {
      }
      if (stopping_) return;
    }
    wait = step();
  }
}

}  // namespace seen
