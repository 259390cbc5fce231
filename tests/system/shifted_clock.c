// Simulates a machine whose clock is wrong. It is preloaded (LD_PRELOAD). The wall clock of the process is
// SEEN_CLOCK_SHIFT_S seconds ahead; a negative number: behind. Deadlines by the wall clock keep their meaning.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static long Shift(void) {
  static long shift;
  static int is_known;
  if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
    const char* const given = getenv("SEEN_CLOCK_SHIFT_S");
    shift = given == NULL ? 0 : atol(given);
    __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
  }
  return shift;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += Shift();
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec real;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &real);
  now->tv_sec = real.tv_sec;
  now->tv_usec = real.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) {
  struct timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  if (to != NULL) *to = real.tv_sec;
  return real.tv_sec;
}

int timespec_get(struct timespec* now, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

// Deadlines: the kernel has the right clock. Small numbers are times since the boot, by another clock.
static struct timespec Right(const struct timespec* deadline) {
  struct timespec right = *deadline;
  if (right.tv_sec > 1000000000) right.tv_sec -= Shift();
  return right;
}

static void* Next(const char* name) {
  void* const found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");  // there is an older one with another layout
  return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict deadline) {
  static __typeof__(&pthread_cond_timedwait) next;
  if (next == NULL) next = (__typeof__(next))Next("pthread_cond_timedwait");
  const struct timespec right = Right(deadline);
  return next(condition, mutex, &right);
}

int cnd_timedwait(cnd_t* restrict condition, mtx_t* restrict mutex, const struct timespec* restrict deadline) {
  static __typeof__(&cnd_timedwait) next;
  if (next == NULL) next = (__typeof__(next))Next("cnd_timedwait");
  const struct timespec right = Right(deadline);
  return next(condition, mutex, &right);
}
