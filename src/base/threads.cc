#include "base/threads.h"

#include <pthread.h>
#include <sys/resource.h>

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

}  // namespace seen
