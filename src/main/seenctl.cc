#include "tools/commands.h"

// A producer asks for zeroed buffers of 64 KiB all the time. One from a thread's cache is cleared in place;
// any other is given back to the system and faulted in again.
extern "C" const char* malloc_conf;
const char* malloc_conf = "tcache_max:1048576";

int main(int argc, char** argv) { return seen::RunSeenctl(argc, argv); }
