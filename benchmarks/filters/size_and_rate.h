#pragma once
// Bits an item and false-positive rates, measured over many filters.

#include <cstddef>

#include "filters/kinds.h"

namespace seen::bench {

struct SizeAndRate {
  double payload_bytes;    // the mean
  double rate;             // the share of strangers that are taken for items; see `filters`
  size_t filters;          // 0: the rate is arithmetic, not measured
  double false_positives;  // seen
  double strangers;        // asked
  double lines_hit;        // cache lines that a look-up of an item, and of a stranger, needs
  double lines_miss;
};

/// As many filters of `count` items and strangers as it takes to see about `false_positives_wanted`. Ends the
/// program at a false negative.
SizeAndRate MeasureSizeAndRate(const Kind& kind, double rate, size_t count, double false_positives_wanted);

/// The mean bytes of `filters` payloads.
double MeanPayloadBytes(const SnapshotShape& shape, size_t count, size_t filters);

}  // namespace seen::bench
