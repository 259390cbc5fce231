#include "base/repeating_thread.h"

#include <utility>

#include "base/threads.h"

namespace seen {

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
