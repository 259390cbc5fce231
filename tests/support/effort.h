#pragma once

namespace seen::test {

/// How many rounds of `full` to run: all of them, or a tenth under a sanitizer, which looks at each
/// instruction and not at rare combinations.
constexpr int Rounds(int full) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return full / 10;
#else
  return full;
#endif
}

}  // namespace seen::test
