#pragma once

#include <cstdint>

namespace seen {

/// The place of a line, for reports about rejected lines.
struct LinePlace {
  uint32_t source = 0;  // the caller's number for the file or topic
  int32_t partition = -1;
  int64_t number = 0;  // line or offset
};

}  // namespace seen
