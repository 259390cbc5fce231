#pragma once
// Checks for cases that "can't happen". They stay on in release builds: a daemon that is wrong must stop, not
// publish.

#include <source_location>
#include <string_view>

namespace seen {

[[noreturn]] void CheckFailed(std::string_view what, const std::source_location& where);

/// Aborts with `what` and the place unless `condition` holds. For invariants only, never for outside input.
inline void Check(bool condition, std::string_view what,
                  const std::source_location& where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    CheckFailed(what, where);
}

}  // namespace seen
