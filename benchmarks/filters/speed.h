#pragma once
// Times to build filters, to parse them and to look up items.

#include <cstddef>
#include <vector>

#include "filters/kinds.h"

namespace seen::bench {

/// In nanoseconds, one number for each sample.
struct Speed {
  std::vector<double>
      build_ns;  // an item, from items in no order (sorted within each day, if the kind needs days)
  std::vector<double> parse_ns;  // a payload
  std::vector<double> hit_ns;    // a look-up by fingerprint, 2,000 at a time, of parsed filters
  std::vector<double> miss_ns;
};

Speed MeasureSpeed(const Kind& kind, double rate, size_t count, size_t samples);

/// 2,000 candidates against a snapshot of `count` items: nanoseconds for all of them.
struct RecallSpeed {
  std::vector<double> ns;             // hashing the ids of 16 bytes, asking the parsed snapshot
  std::vector<double> with_parse_ns;  // and parsing it first, its checksum included
};
RecallSpeed MeasureRecall(const Kind& kind, double rate, size_t count, size_t samples);

/// The time from fingerprint to 64-bit hash alone. Every look-up begins with this hash, except in the exact
/// set.
std::vector<double> MeasureHash(size_t samples);

}  // namespace seen::bench
