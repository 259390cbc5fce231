#include "base/threads.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

// Of jemalloc. Weak, because programs under sanitizers have another allocator.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old, size_t* old_size, void* set,
                                     size_t set_size);

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

namespace {

constexpr ssize_t kKeptMs = 100;  // a busy thread needs a buffer again within milliseconds

template <typename T>
bool Set(const std::string& name, T value) {
  return mallctl(name.c_str(), nullptr, nullptr, &value, sizeof value) == 0;
}

std::optional<unsigned> MakeArena() {
  unsigned made = 0;
  size_t size = sizeof made;
  if (mallctl == nullptr || mallctl("arenas.create", &made, &size, nullptr, 0) != 0) return std::nullopt;
  const std::string arena = "arena." + std::to_string(made) + ".";
  const bool is_set = Set(arena + "oversize_threshold", std::numeric_limits<size_t>::max()) &&
                      Set(arena + "dirty_decay_ms", kKeptMs) && Set(arena + "muzzy_decay_ms", ssize_t{0});
  return is_set ? std::optional(made) : std::nullopt;
}

}  // namespace

// jemalloc gives large pieces back at once only for threads in arenas of its own choice.
void KeepFreedBuffers() {
  static const std::optional<unsigned> arena = MakeArena();
  if (arena) Set("thread.arena", *arena);
}

}  // namespace seen
