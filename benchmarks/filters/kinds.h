#pragma once
// The compared kinds of filters, and what their classes can do.

#include <string>
#include <vector>

#include "filter/snapshot_format.h"

namespace seen::bench {

struct Kind {
  std::string name;     // as in the configuration; says so if sizes are powers of two
  SnapshotShape shape;  // without its rate, which At sets
  bool removes;         // items can be removed: its class in filters/mutable has Remove
  bool merges;          // two filters can be merged: its class has Merge

  bool IsExact() const { return shape.format == SnapshotFormat::kFingerprints; }
  /// Whether the kind has a fixed rate, whatever rate is asked.
  bool IsFixed() const { return IsExact() || LeastRate(shape.format) > kRateMin; }
  SnapshotShape At(double rate) const;
};

/// All kinds, in the order of the tables.
const std::vector<Kind>& Kinds();

}  // namespace seen::bench
