#pragma once
// Every operator new of this test binary is counted (counting_new.cc).

#include <cstdint>

namespace seen {

/// Allocations of the calling thread so far.
uint64_t AllocationCount();

}  // namespace seen
