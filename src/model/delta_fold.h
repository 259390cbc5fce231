#pragma once
// Composes and expires encoded deltas. The resulting bytes are those that decoding, ComposeAll, Expire and
// encoding give. But where nothing was taken back, days that only one delta has are copied, not decoded.
// Pure, any thread.

#include <span>
#include <string>
#include <string_view>

#include "model/delta.h"

namespace seen {

/// Composes `parts`, which are in log order, drops what `horizon` doesn't keep, and writes the result to
/// `out`. No part may lie in `out`. False: a part is not a delta. Fingerprints that are only copied aren't
/// checked.
bool FoldEncoded(std::span<const std::string_view> parts, const DeltaLimits& limits, const Horizon& horizon,
                 std::string& out);

enum class Expired {
  kNothing,     // the delta stays as it is, or it is no delta: the code that reads it reports that
  kSomething,   // `out` is what is left
  kEverything,  // nothing of the user is left
};

/// Expires an encoded delta at `horizon`.
Expired ExpireEncoded(std::string_view bytes, const Horizon& horizon, std::string& out);

}  // namespace seen
