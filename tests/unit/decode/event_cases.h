#pragma once
// Good and bad events, as front ends send them. One table for the decoder's tests and for the corpus of the
// differential test. The table also has examples from the schema.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace seen {

struct EventCase {
  std::string_view name;
  std::string payload;
  std::optional<RejectReason> reason;  // nullopt: accepted
  std::string_view field;              // of a rejection
  std::string_view message;            // of a rejection; a prefix if it ends in '*'
  std::string user_id;                 // of an accepted event, like all fields below
  int64_t exposed_at = 0;
  std::vector<std::string> item_ids;
};

const std::vector<EventCase>& EventCases();

/// The size limit the table is written for.
inline constexpr size_t kCaseEventBytesMax = 1'048'576;

}  // namespace seen
