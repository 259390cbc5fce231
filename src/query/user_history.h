#pragma once
// What is kept about a user: segments, shown items, and why an item is dropped. Any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "flow/filter_policy.h"
#include "flow/store_port.h"
#include "model/answer_limits.h"
#include "model/hashes.h"
#include "query/query_port.h"

namespace seen {

struct PartitionFlow;

/// Where a user's state is.
struct UserPlace {
  const PartitionFlow& flow;
  FilterIndex filter;
  UserKey user;
};

/// Where a list goes on. A cursor is opaque to its holder, and valid only for the question that it came from.
struct ListCursor {
  JournalPlace place;  // of the row that holds the last item listed. Of segments: `from`, kind and width
  uint32_t item = 0;   // that item's number in the row
  friend bool operator==(const ListCursor&, const ListCursor&) = default;
};

/// `question`: a text that differs from that of any other question. Returns letters and digits. Pure, any
/// thread.
std::string EncodeCursor(const ListCursor& cursor, std::string_view question);
/// kInvalidArgument: `text` isn't a cursor of that question.
Result<ListCursor> DecodeCursor(std::string_view text, std::string_view question);

/// Describes an encoded delta as it counts in `filter` at `now`. `asked`: names filter and user. The caller
/// fills in as_of and partition. Errors as QueryPort::User.
Result<UserAnswer> DescribeUser(std::string_view encoded, const FilterPolicy& filter, TimeMs now,
                                std::string_view asked, const SegmentsQuestion& question);

/// `asked`: names filter and user. The caller fills in as_of. Errors as QueryPort::Exposures.
Result<ExposuresAnswer> ListExposures(const UserPlace& place, std::string_view asked,
                                      const ExposuresQuestion& question);

/// Completes an answer that has `seen` and `similar`. `limits`: those that decided `seen`.
Status ExplainItem(const UserPlace& place, const AnswerLimits& limits, std::string_view item,
                   WhyAnswer& answer);

}  // namespace seen
