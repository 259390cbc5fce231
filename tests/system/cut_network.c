// Simulates a network that is cut, for tests that can't have a network of their own. It is preloaded
// (LD_PRELOAD). While the file SEEN_CUT.brokers exists, connections to the port SEEN_CUT_PORT carry no bytes in
// either direction, as if all packets were lost. While the file SEEN_CUT.others exists, all other connections
// break and no new one opens.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FDS 65536

static atomic_int connected_to[FDS];  // the port that connect was called with

static int IsCut(const char* what) {
  const int before = errno;
  const char* const prefix = getenv("SEEN_CUT");
  char marker[PATH_MAX];
  int cut = 0;
  if (prefix != NULL) {
    snprintf(marker, sizeof marker, "%s.%s", prefix, what);
    cut = access(marker, F_OK) == 0;
  }
  errno = before;
  return cut;
}

static int IsBrokers(int fd) {
  const char* const port = getenv("SEEN_CUT_PORT");
  return port != NULL && fd >= 0 && fd < FDS && atomic_load(&connected_to[fd]) == atoi(port);
}

static int IsOthersSocket(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  const int before = errno;
  const int is_connected = getpeername(fd, (struct sockaddr*)&address, &length) == 0 &&
                           (address.ss_family == AF_INET || address.ss_family == AF_INET6);
  errno = before;
  return is_connected && !IsBrokers(fd);
}

static int Refuse(int error) {
  errno = error;
  return -1;
}

static int PortOf(const struct sockaddr* address) {
  if (address->sa_family == AF_INET) return ntohs(((const struct sockaddr_in*)address)->sin_port);
  if (address->sa_family == AF_INET6) return ntohs(((const struct sockaddr_in6*)address)->sin6_port);
  return 0;
}

int connect(int fd, const struct sockaddr* address, socklen_t length) {
  const int port = PortOf(address);
  if (fd >= 0 && fd < FDS) atomic_store(&connected_to[fd], port);
  if (port != 0 && !IsBrokers(fd) && IsCut("others")) return Refuse(ENETUNREACH);
  return NEXT(connect)(fd, address, length);
}

int close(int fd) {
  if (fd >= 0 && fd < FDS) atomic_store(&connected_to[fd], 0);
  return NEXT(close)(fd);
}

static int64_t Ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int PollCut(struct pollfd* fds, nfds_t count, int timeout) {
  const int64_t until = Ms() + timeout;
  struct pollfd left[count > 0 ? count : 1];
  while (IsCut("brokers")) {
    int some_cut = 0;
    for (nfds_t i = 0; i < count; ++i) {
      left[i] = fds[i];
      left[i].revents = 0;
      if (!IsBrokers(fds[i].fd)) continue;
      left[i].fd = -1;
      some_cut = 1;
    }
    if (!some_cut) break;
    const int64_t remaining = timeout < 0 ? 50 : until - Ms();
    const int ready = NEXT(poll)(left, count, remaining < 50 ? (remaining < 0 ? 0 : (int)remaining) : 50);
    for (nfds_t i = 0; i < count; ++i) fds[i].revents = left[i].revents;
    if (ready != 0 || (timeout >= 0 && Ms() >= until)) return ready;
  }
  return NEXT(poll)(fds, count, timeout < 0 ? -1 : (until > Ms() ? (int)(until - Ms()) : 0));
}

int poll(struct pollfd* fds, nfds_t count, int timeout) { return PollCut(fds, count, timeout); }

int __poll_chk(struct pollfd* fds, nfds_t count, int timeout, size_t length) {
  (void)length;
  return PollCut(fds, count, timeout);
}

ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  if (IsCut("others") && IsOthersSocket(fd)) return Refuse(ECONNRESET);
  return NEXT(recvmsg)(fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  if (IsCut("others") && IsOthersSocket(fd)) return Refuse(ECONNRESET);
  return NEXT(sendmsg)(fd, message, flags);
}

ssize_t recv(int fd, void* buffer, size_t length, int flags) {
  if (IsCut("others") && IsOthersSocket(fd)) return Refuse(ECONNRESET);
  return NEXT(recv)(fd, buffer, length, flags);
}

ssize_t send(int fd, const void* buffer, size_t length, int flags) {
  if (IsCut("others") && IsOthersSocket(fd)) return Refuse(ECONNRESET);
  return NEXT(send)(fd, buffer, length, flags);
}
