#pragma once
// The one error type of the project. A code states what the caller should do. The message names field, value
// and remedy.

#include <source_location>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace seen {

enum class Code {
  kInvalidArgument,  // the caller's mistake: fix the request or the configuration
  kNotFound,         // no such user, partition or filter
  kMalformed,        // bytes from outside can't be read: dead-letter them
  kUnavailable,      // retry later
  kDenied,           // an ACL is missing; the message names it: wait until somebody adds it
  kNoSpace,          // the disk is full: pause, keep serving, retry
  kCorrupt,          // our own bytes can't be read: stop the partition
  kRefused,          // going on would lose or mix up data: stop the daemon, an operator decides
};

std::string_view CodeName(Code code);

struct Error {
  Code code;
  std::string message;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

/// `return Fail(Code::kMalformed, "…")` from any function that returns a Result.
inline tl::unexpected<Error> Fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// Checks for cases that "can't happen". They stay on in release builds: a daemon that is wrong must stop, not
// publish.

[[noreturn]] void CheckFailed(std::string_view what, const std::source_location& where);

/// Aborts with `what` and the place unless `condition` holds. For invariants only, never for outside input.
inline void Check(bool condition, std::string_view what,
                  const std::source_location& where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    CheckFailed(what, where);
}

}  // namespace seen
