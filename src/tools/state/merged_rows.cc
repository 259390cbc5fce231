#include "tools/state/merged_rows.h"

#include <algorithm>
#include <string>

#include "model/delta_fold.h"
#include "model/delta_view.h"
#include "rows/keys.h"

namespace seen {
namespace {

struct At {
  RestingRows* source;
  std::unique_ptr<RestingRows::Cursor> cursor;
  std::string_view key = {};
  std::string_view value = {};
};

// The heap functions put the greatest element first, so this order is the reverse.
bool StandsBehind(const At& a, const At& b) { return a.key > b.key; }

Status ComposeRows(std::string_view key, const std::vector<At>& same, const StoredLimits& limits,
                   std::string& out) {
  const auto user = UserOf(Table::kDeltas, key);
  if (!user) return Fail(user.error());
  const DeltaLimits* const of_filter = limits.Of(user->filter);
  std::vector<std::string_view> parts;
  for (const bool with_id : {false, true}) {
    for (const At& at : same) {
      if (UserIdOfDelta(at.value).empty() != with_id) parts.push_back(at.value);
    }
  }
  if (of_filter == nullptr || !FoldEncoded(parts, *of_filter, Horizon(), out))
    return Fail(Code::kCorrupt, "a row isn't a user's set");
  return {};
}

}  // namespace

Status ForEachMerged(const std::vector<std::unique_ptr<RestingRows>>& sources, const StoredLimits& limits,
                     const VisitMerged& visit) {
  std::vector<At> heap;
  for (const auto& source : sources) {
    At at{source.get(), source->ReadFrom(Table::kDeltas)};
    const auto any = at.cursor->Next(at.key, at.value);
    if (!any) return Fail(any.error());
    if (*any) heap.push_back(std::move(at));
  }
  std::make_heap(heap.begin(), heap.end(), StandsBehind);
  std::vector<At> taken;
  std::string composed;
  while (!heap.empty()) {
    taken.clear();
    do {
      std::pop_heap(heap.begin(), heap.end(), StandsBehind);
      taken.push_back(std::move(heap.back()));
      heap.pop_back();
    } while (!heap.empty() && heap.front().key == taken.front().key);
    const std::string_view key = taken.front().key;
    std::string_view value = taken.back().value;
    if (taken.size() > 1 && static_cast<Table>(key[0]) == Table::kDeltas) {
      if (Status status = ComposeRows(key, taken, limits, composed); !status) return status;
      value = composed;
    }
    if (Status visited = visit(key, value, *taken.back().source); !visited) return visited;
    for (At& at : taken) {
      const auto more = at.cursor->Next(at.key, at.value);
      if (!more) return Fail(more.error());
      if (!*more) continue;
      heap.push_back(std::move(at));
      std::push_heap(heap.begin(), heap.end(), StandsBehind);
    }
  }
  return {};
}

}  // namespace seen
