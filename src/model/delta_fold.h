#pragma once
// Composing and expiring deltas as they are encoded. What comes out is, to the byte, what decoding,
// ComposeAll, Expire and encoding give; but where nothing was taken back, days that only one delta has are
// copied, not decoded. Pure, any thread.

#include <span>
#include <string>
#include <string_view>

#include "model/delta.h"

namespace seen {

/// Puts what `parts`, in log order, amount to, as far as `horizon` keeps it, into `out`, which none of them
/// may lie in. False: a part is not a delta. Fingerprints that are only copied aren't looked at.
bool FoldEncoded(std::span<const std::string_view> parts, const DeltaLimits& limits, const Horizon& horizon,
                 std::string& out);

enum class Expired {
  kNothing,     // the delta stays as it is; also if it isn't one: whoever reads it will say so
  kSomething,   // `out` is what is left
  kEverything,  // nothing of the user is left
};

/// What expiring at `horizon` makes of an encoded delta.
Expired ExpireEncoded(std::string_view bytes, const Horizon& horizon, std::string& out);

}  // namespace seen
