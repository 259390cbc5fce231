// ThreadSanitizer knows only pthreads. On Debian, librdkafka starts threads by C11's thrd_create. Such a
// thread crashes in ThreadSanitizer, and C11's mtx_t and cnd_t order nothing for ThreadSanitizer. So in such
// a build C11 threads are pthreads. In glibc they are pthreads anyway, with the same layouts.

#if defined(__SANITIZE_THREAD__)

#include <pthread.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>

namespace {

enum Outcome { kSuccess = 0, kBusy = 1, kError = 2, kTimedOut = 4 };  // thrd_success, ... of <threads.h>

int OutcomeOf(int error) {
  return error == 0 ? kSuccess : error == EBUSY ? kBusy : error == ETIMEDOUT ? kTimedOut : kError;
}

struct Start {
  int (*function)(void*);
  void* argument;
};

void* Run(void* opaque) {
  const std::unique_ptr<Start> start(static_cast<Start*>(opaque));
  return reinterpret_cast<void*>(static_cast<intptr_t>(start->function(start->argument)));
}

}  // namespace

extern "C" {

int thrd_create(pthread_t* thread, int (*function)(void*), void* argument) {
  return OutcomeOf(pthread_create(thread, nullptr, Run, new Start{function, argument}));
}
int thrd_join(pthread_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  return OutcomeOf(error);
}
int thrd_detach(pthread_t thread) { return OutcomeOf(pthread_detach(thread)); }

int mtx_init(pthread_mutex_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  constexpr int kRecursive = 1;  // mtx_recursive
  if ((type & kRecursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return OutcomeOf(error);
}
int mtx_lock(pthread_mutex_t* mutex) { return OutcomeOf(pthread_mutex_lock(mutex)); }
int mtx_trylock(pthread_mutex_t* mutex) { return OutcomeOf(pthread_mutex_trylock(mutex)); }
int mtx_unlock(pthread_mutex_t* mutex) { return OutcomeOf(pthread_mutex_unlock(mutex)); }
void mtx_destroy(pthread_mutex_t* mutex) { pthread_mutex_destroy(mutex); }

int cnd_init(pthread_cond_t* condition) { return OutcomeOf(pthread_cond_init(condition, nullptr)); }
int cnd_signal(pthread_cond_t* condition) { return OutcomeOf(pthread_cond_signal(condition)); }
int cnd_broadcast(pthread_cond_t* condition) { return OutcomeOf(pthread_cond_broadcast(condition)); }
int cnd_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return OutcomeOf(pthread_cond_wait(condition, mutex));
}
int cnd_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  return OutcomeOf(pthread_cond_timedwait(condition, mutex, until));
}
void cnd_destroy(pthread_cond_t* condition) { pthread_cond_destroy(condition); }

// librdkafka's reference counts are compiled without the sanitizer. So the sanitizer doesn't see that the
// last use of a lock or a buffer comes before its end. (AddressSanitizer finds a use after the end.)
const char* __tsan_default_suppressions() { return "race_top:pthread_rwlock_destroy\nrace_top:free\n"; }

}  // extern "C"

#endif
