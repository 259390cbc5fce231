// Simulates a full disk, for tests that may not mount a file system. It is preloaded (LD_PRELOAD). While the
// file SEEN_FULL_DISK.full exists, the folder SEEN_FULL_DISK takes no new file, no new folder and no byte.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const char* Place(void) {
  const char* const place = getenv("SEEN_FULL_DISK");
  char marker[PATH_MAX];
  if (place == NULL) return NULL;
  snprintf(marker, sizeof marker, "%s.full", place);
  return access(marker, F_OK) == 0 ? place : NULL;
}

static int IsOn(const char* path) {
  const int before = errno;
  const char* const place = Place();
  errno = before;
  return place != NULL && path != NULL && strncmp(path, place, strlen(place)) == 0;
}

static int FdIsOn(int fd) {
  const int before = errno;
  char link[64], path[PATH_MAX];
  int is_on = 0;
  if (Place() != NULL) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
      path[length] = 0;
      is_on = IsOn(path);
    }
  }
  errno = before;
  return is_on;
}

static int NoSpace(void) {
  errno = ENOSPC;
  return -1;
}

static int MakesFile(const char* path, int flags) {
  struct stat about;
  return (flags & O_CREAT) != 0 && IsOn(path) && stat(path, &about) != 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                   \
  int name(const char* path, int flags, ...) {       \
    mode_t mode = 0;                                 \
    if ((flags & O_CREAT) != 0) {                    \
      va_list more;                                  \
      va_start(more, flags);                         \
      mode = va_arg(more, mode_t);                   \
      va_end(more);                                  \
    }                                                \
    if (MakesFile(path, flags)) return NoSpace();    \
    return NEXT(name)(path, flags, mode);            \
  }
OPEN(open)
OPEN(open64)

int mkdir(const char* path, mode_t mode) {
  struct stat about;
  if (IsOn(path) && stat(path, &about) != 0) return NoSpace();
  return NEXT(mkdir)(path, mode);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  return FdIsOn(fd) ? NoSpace() : NEXT(write)(fd, bytes, count);
}

#define PWRITE(name, offset_type)                                                    \
  ssize_t name(int fd, const void* bytes, size_t count, offset_type offset) {        \
    return FdIsOn(fd) ? NoSpace() : NEXT(name)(fd, bytes, count, offset);            \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define FALLOCATE(name, offset_type)                                                 \
  int name(int fd, int mode, offset_type offset, offset_type length) {               \
    return FdIsOn(fd) ? NoSpace() : NEXT(name)(fd, mode, offset, length);            \
  }
FALLOCATE(fallocate, off_t)
FALLOCATE(fallocate64, off64_t)
