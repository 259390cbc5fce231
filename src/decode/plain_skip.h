#pragma once
// Skips and validates a value that isn't read: nested, with escapes or a fraction. Room decode only.

namespace seen {

struct PlainSkipped {
  const char* end = nullptr;  // behind the value; nullptr: not plain, or invalid
  bool beyond_ascii = false;  // a string has such bytes: the caller must check that they are UTF-8
};

/// `at`: where the value begins, maybe with white space before it. Accepts only what every JSON reader
/// accepts: at most 32 levels, numbers that no reader finds too great or too long, no surrogates. Pure.
PlainSkipped SkipPlainValue(const char* at, const char* end);

}  // namespace seen
