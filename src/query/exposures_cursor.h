#pragma once
// Where a listing of exposures goes on: opaque to who gets it, and good for the question it came from alone.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/journal_port.h"

namespace seen {

struct ExposuresCursor {
  JournalPlace place;  // of the row that holds the last item given,
  uint32_t item = 0;   // and which of it that was
  friend bool operator==(const ExposuresCursor&, const ExposuresCursor&) = default;
};

/// `question`: what makes one question differ from another. Letters and digits. Pure, any thread.
std::string EncodeCursor(const ExposuresCursor& cursor, std::string_view question);
/// kInvalidArgument: not a cursor of that question.
Result<ExposuresCursor> DecodeCursor(std::string_view text, std::string_view question);

}  // namespace seen
