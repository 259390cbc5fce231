#pragma once
// Bits an item and false-positive rates, measured over many filters.

#include <cstddef>

#include "filters/kinds.h"

namespace seen::bench {

struct SizeAndRate {
  double payload_bytes;    // the mean
  double rate;             // the share of strangers that the filter takes for items; see `filters`
  size_t filters;          // 0: the rate is arithmetic, not measured
  double false_positives;  // found
  double strangers;        // asked
  double lines_hit;        // cache lines that a look-up of an item needs; `lines_miss`: of a stranger
  double lines_miss;
};

/// Measures as many filters of `count` items, and as many strangers, as give about `false_positives_wanted`
/// false positives. Ends the program at a false negative.
SizeAndRate MeasureSizeAndRate(const Kind& kind, double rate, size_t count, double false_positives_wanted);

/// The mean size of `filters` payloads, in bytes.
double MeanPayloadBytes(const SnapshotShape& shape, size_t count, size_t filters);

}  // namespace seen::bench
