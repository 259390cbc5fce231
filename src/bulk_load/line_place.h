#pragma once

#include <cstdint>

namespace seen {

/// Where a line stood, for whoever hears that it is rejected.
struct LinePlace {
  uint32_t source = 0;  // the caller's number of the file or topic
  int32_t partition = -1;
  int64_t number = 0;  // line or offset
};

}  // namespace seen
