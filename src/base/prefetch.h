#pragma once
// A cache line on its way before it is needed.

namespace seen {

/// Any address, also one that can't be read. GCC takes a function with nothing but __builtin_prefetch for one
/// without an effect, and removes the calls of it (seen with GCC 12). The empty statement keeps them.
inline void PrefetchLine(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// The same for a line that will be written.
inline void PrefetchLineToWrite(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace seen
