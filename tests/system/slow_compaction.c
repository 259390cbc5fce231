// Simulates a disk on which compaction is too slow. It is preloaded (LD_PRELOAD). While the file
// SEEN_SLOW_COMPACTION exists, no write of RocksDB's compaction threads returns. Checkpoints keep their speed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void Wait(void) {
  const int before = errno;
  char thread[16] = "";
  const char* const marker = getenv("SEEN_SLOW_COMPACTION");
  pthread_getname_np(pthread_self(), thread, sizeof thread);
  if (strncmp(thread, "rocksdb:low", 11) == 0 && marker != NULL) {
    while (access(marker, F_OK) == 0) usleep(50000);
  }
  errno = before;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* bytes, size_t count) {
  Wait();
  return NEXT(write)(fd, bytes, count);
}

#define PWRITE(name, offset_type)                                                \
  ssize_t name(int fd, const void* bytes, size_t count, offset_type offset) {    \
    Wait();                                                                      \
    return NEXT(name)(fd, bytes, count, offset);                                 \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
