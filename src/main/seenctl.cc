#include <csignal>

#include "tools/commands.h"

// A producer allocates zeroed buffers of 64 KiB all the time. jemalloc clears a buffer from the thread's
// cache in place. jemalloc gives any other buffer back to the system, and the pages are faulted in again.
extern "C" const char* malloc_conf;
const char* malloc_conf = "tcache_max:1048576";

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond RLIMIT_FSIZE fails, as on a full disk
  return seen::RunSeenctl(argc, argv);
}
