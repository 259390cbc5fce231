#pragma once
// The filter in use today, of any kind: it says which candidates of a request it drops.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tools/compare/request_file.h"

namespace seen {

struct OldAnswer {
  std::vector<bool> dropped;   // by place in the request's items
  std::vector<TimeMs> since;   // when the old filter got the item, by place; 0: not known. May be empty
  uint64_t unknown_items = 0;  // items that the old filter names, but that are not candidates of the request
};

/// One thread: make one per thread.
class OldFilter {
 public:
  virtual ~OldFilter() = default;

  /// One answer per request, in order. An inner error: this request can't be compared, others can. An outer
  /// error: no further request can be compared; the message has the remedy.
  virtual Result<std::vector<Result<OldAnswer>>> Ask(std::span<const CompareRequest> requests) = 0;
};

/// The answer of an old filter that lists the items that it drops, or the items that it keeps.
inline OldAnswer AnswerFromList(const CompareRequest& request, const std::vector<std::string>& listed,
                                bool listed_are_kept) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < request.items.size(); ++i) places.emplace(request.items[i], i);
  OldAnswer answer;
  answer.dropped.assign(request.items.size(), listed_are_kept);
  for (const std::string& item : listed) {
    const auto place = places.find(item);
    if (place == places.end()) {
      ++answer.unknown_items;
    } else {
      answer.dropped[place->second] = !listed_are_kept;
    }
  }
  return answer;
}

}  // namespace seen
