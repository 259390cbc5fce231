#pragma once
// A value nobody looks for, validated and left behind: nested, with escapes or a fraction. Room decode only.

namespace seen {

struct PlainSkipped {
  const char* end = nullptr;  // behind the value; nullptr: not so plain, or wrong
  bool beyond_ascii = false;  // a string has such bytes: whether they are UTF-8 is for the caller to find out
};

/// `at`: where the value begins, maybe with white space before it. Takes only what every JSON reader takes:
/// at most 32 levels, numbers that no reader finds too great or too long, no surrogates. Pure.
PlainSkipped SkipPlainValue(const char* at, const char* end);

}  // namespace seen
