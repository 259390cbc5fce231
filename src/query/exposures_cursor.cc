#include "query/exposures_cursor.h"

#include <fmt/format.h>

#include <charconv>

#include "model/fingerprint.h"

namespace seen {
namespace {

constexpr size_t kDigits = 16 + 16 + 8 + 8;

std::string Body(const ExposuresCursor& cursor) {
  return fmt::format("{:016x}{:016x}{:08x}", static_cast<uint64_t>(cursor.place.at.value),
                     static_cast<uint64_t>(cursor.place.offset), cursor.item);
}

std::string CheckOf(std::string_view body, std::string_view question) {
  return fmt::format("{:08x}", FingerprintOf(fmt::format("{}/{}", body, question)).value);
}

uint64_t HexAt(std::string_view text, size_t from, size_t digits) {
  uint64_t value = 0;
  std::from_chars(text.data() + from, text.data() + from + digits, value, 16);
  return value;
}

}  // namespace

std::string EncodeCursor(const ExposuresCursor& cursor, std::string_view question) {
  const std::string body = Body(cursor);
  return body + CheckOf(body, question);
}

Result<ExposuresCursor> DecodeCursor(std::string_view text, std::string_view question) {
  if (text.size() == kDigits && text.substr(kDigits - 8) == CheckOf(text.substr(0, kDigits - 8), question)) {
    const ExposuresCursor cursor{
        {{static_cast<int64_t>(HexAt(text, 0, 16))}, static_cast<int64_t>(HexAt(text, 16, 16))},
        static_cast<uint32_t>(HexAt(text, 32, 8))};
    // A client that makes a cursor up may guess the check.
    if (cursor.place.at.value >= 0 && cursor.place.at.value < int64_t{1} << 48 && cursor.place.offset >= 0 &&
        cursor.place.offset < INT64_MAX && Body(cursor) == text.substr(0, kDigits - 8)) {
      return cursor;
    }
  }
  return Fail(
      Code::kInvalidArgument,
      "cursor: not a \"next\" of an answer with this filter, user and item. Remedy: begin without a cursor");
}

}  // namespace seen
