#pragma once
// A payload of any kind, checked.

#include <string_view>
#include <variant>

#include "base/result.h"
#include "filter/binary_fuse.h"
#include "filter/bloom.h"
#include "filter/counting_bloom.h"
#include "filter/cuckoo.h"
#include "filter/d_left.h"
#include "filter/day_chain.h"
#include "filter/exact_fingerprints.h"
#include "filter/indexed_cuckoo.h"
#include "filter/quotient.h"
#include "filter/snapshot_format.h"
#include "filter/split_block_bloom.h"

namespace seen {

/// Points into the payload. Any thread.
using AnyView =
    std::variant<SplitBlockBloomView, BloomView, CountingBloomView, DLeftView, QuotientView, CuckooView,
                 IndexedCuckooView, BinaryFuse8View, BinaryFuse16View, DayChainView, ExactFingerprintsView>;

/// kMalformed: `payload` isn't one of `format`; the message says why. `format` isn't kAuto.
Result<AnyView> ParseView(SnapshotFormat format, std::string_view payload);

}  // namespace seen
