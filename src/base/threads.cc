#include "base/threads.h"

#include <pthread.h>
#include <sys/resource.h>

namespace seen {
namespace {
// 15 or more would starve it as long as the machine is busy, and then the flow has to wait for it.
constexpr int kNiceOfWaiting = 5;
constexpr int kNiceOfBackground = 10;
}  // namespace

void NameThread(const std::string& name) { (void)pthread_setname_np(pthread_self(), name.c_str()); }

// On Linux a nice value is a thread's, and 0 is the one that calls.
void YieldToOtherThreads() { (void)setpriority(PRIO_PROCESS, 0, kNiceOfWaiting); }

void YieldToOtherPrograms() {
  if (getpriority(PRIO_PROCESS, 0) < kNiceOfBackground) (void)setpriority(PRIO_PROCESS, 0, kNiceOfBackground);
}

}  // namespace seen
