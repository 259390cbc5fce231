#include "serve/percent.h"

#include <cstdint>

namespace seen {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::string> DecodePathSegment(std::string_view segment) {
  std::string decoded;
  decoded.reserve(segment.size());
  for (size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    if (c == '#') return Fail(Code::kInvalidArgument, "a '#' in a path must be sent as %23");
    if (c != '%') {
      decoded.push_back(c);
      continue;
    }
    const int high = i + 1 < segment.size() ? HexDigit(segment[i + 1]) : -1;
    const int low = i + 2 < segment.size() ? HexDigit(segment[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return Fail(Code::kInvalidArgument,
                  "bad percent-encoding at byte " + std::to_string(i) +
                      ": a '%' needs two hex digits after it, and a '%' itself is sent as %25");
    }
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  if (!IsUtf8(decoded)) return Fail(Code::kInvalidArgument, "not UTF-8 once percent-decoded");
  return decoded;
}

bool IsUtf8(std::string_view bytes) {
  size_t i = 0;
  while (i < bytes.size()) {
    const auto at = [&](size_t k) -> unsigned {
      return k < bytes.size() ? static_cast<uint8_t>(bytes[k]) : 0;
    };
    const unsigned first = at(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    // The range of the second byte keeps out overlong forms, surrogates and what is past the end of Unicode.
    unsigned low = 0x80;
    unsigned high = 0xBF;
    size_t length = 0;
    if (first >= 0xC2 && first <= 0xDF) {
      length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
      length = 3;
      if (first == 0xE0) low = 0xA0;
      if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
      length = 4;
      if (first == 0xF0) low = 0x90;
      if (first == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (at(i + 1) < low || at(i + 1) > high) return false;
    for (size_t k = 2; k < length; ++k) {
      if (at(i + k) < 0x80 || at(i + k) > 0xBF) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace seen
