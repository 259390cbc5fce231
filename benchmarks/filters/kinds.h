#pragma once
// The kinds of filters that are compared, and what their classes can do.

#include <string>
#include <vector>

#include "filter/snapshot_format.h"

namespace seen::bench {

struct Kind {
  std::string name;     // as in the configuration; with power-of-two sizes it says so
  SnapshotShape shape;  // its rate is to be set
  bool removes;         // items can be taken out: its class of filters/mutable has Remove
  bool merges;          // two can be joined: its class has Merge

  bool IsExact() const { return shape.format == SnapshotFormat::kFingerprints; }
  /// Whether its rate is what it is, whatever is asked.
  bool IsFixed() const { return IsExact() || LeastRate(shape.format) > 0; }
  SnapshotShape At(double rate) const;
};

/// In the order of the tables.
const std::vector<Kind>& Kinds();

}  // namespace seen::bench
