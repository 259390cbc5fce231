// Counts the locks that a process takes, by the name of the thread and by the object whose code takes the lock. Load it with
// LD_PRELOAD. When the process ends, it writes lines "locks object address thread" to the file SEEN_LOCKS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <threads.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define THREADS 512
#define SITES 128

// One entry for each thread. The last site takes the locks that find no other site.
static struct {
  char name[16];
  unsigned long locks;
  struct {
    void* caller;
    unsigned long locks;
  } sites[SITES];
} threads[THREADS];
static atomic_int used;

static void Count(void* caller) {
  static __thread int index __attribute__((tls_model("initial-exec"))) = -1;
  if (index < 0) index = atomic_fetch_add(&used, 1) % THREADS;
  // A thread gets its name some time after its start.
  if (threads[index].locks++ % 512 == 8) prctl(PR_GET_NAME, threads[index].name);
  unsigned at = (unsigned)(((uintptr_t)caller >> 2) % (SITES - 1));
  for (int i = 0; i < SITES && threads[index].sites[at].caller != caller; ++i, at = (at + 1) % (SITES - 1)) {
    if (threads[index].sites[at].caller != NULL) continue;
    threads[index].sites[at].caller = caller;
    break;
  }
  if (threads[index].sites[at].caller != caller) at = SITES - 1;
  ++threads[index].sites[at].locks;
}

#define COUNTED(name, type)                                                     \
  int name(type* lock) {                                                        \
    static _Atomic(__typeof__(&name)) next;                                     \
    __typeof__(&name) call = atomic_load_explicit(&next, memory_order_relaxed); \
    if (call == NULL) {                                                         \
      call = NEXT(name);                                                        \
      atomic_store_explicit(&next, call, memory_order_relaxed);                 \
    }                                                                           \
    Count(__builtin_return_address(0));                                         \
    return call(lock);                                                          \
  }

COUNTED(pthread_mutex_lock, pthread_mutex_t)
COUNTED(pthread_mutex_trylock, pthread_mutex_t)
COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t)
COUNTED(mtx_lock, mtx_t)

__attribute__((destructor)) static void Report(void) {
  const char* const path = getenv("SEEN_LOCKS");
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
  for (int thread = 0; thread < THREADS && thread < used; ++thread) {
    for (int i = 0; i < SITES; ++i) {
      if (threads[thread].sites[i].locks == 0) continue;
      Dl_info found = {.dli_fname = "?"};
      if (threads[thread].sites[i].caller != NULL) dladdr(threads[thread].sites[i].caller, &found);
      const char* const slash = strrchr(found.dli_fname, '/');
      fprintf(file, "%lu %s %lx %s\n", threads[thread].sites[i].locks, slash == NULL ? found.dli_fname : slash + 1,
              (unsigned long)((uintptr_t)threads[thread].sites[i].caller - (uintptr_t)found.dli_fbase), threads[thread].name);
    }
  }
  fclose(file);
}
