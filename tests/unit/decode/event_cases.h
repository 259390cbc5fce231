#pragma once
// Events good and bad, as front ends send them: one table for the decoder's test, the corpus of the
// differential test, and the schema's examples.

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
  std::string_view message;            // of a rejection; one that ends in '*' is a prefix
  std::string user_id;                 // of an accepted event, as all below
  int64_t exposed_at = 0;
  std::vector<std::string> item_ids;
};

const std::vector<EventCase>& EventCases();

/// The size limit the table is written for.
inline constexpr size_t kCaseEventBytesMax = 1'048'576;

}  // namespace seen
