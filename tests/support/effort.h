#pragma once

namespace seen::test {

/// How many of `full` rounds to run: all of them, or a tenth under a sanitizer. A sanitizer checks single
/// instructions, so it doesn't need rare combinations.
constexpr int Rounds(int full) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return full / 10;
#else
  return full;
#endif
}

}  // namespace seen::test
