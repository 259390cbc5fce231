#pragma once
// Fetches a cache line before it is needed.

namespace seen {

/// Takes any address, also one that can't be read. If a function contains only __builtin_prefetch, GCC
/// assumes that it has no effect and removes the calls (seen with GCC 12). The empty statement keeps the
/// calls.
inline void PrefetchLine(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// As PrefetchLine, for a line that the caller will write.
inline void PrefetchLineToWrite(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace seen
