#include "tools/state/row_router.h"

#include "base/byte_codec.h"
#include "model/delta_view.h"
#include "rows/keys.h"

namespace seen {

std::optional<int32_t> RowRouter::PartitionOfId(std::string_view user_id) const {
  if (user_id.empty()) return std::nullopt;
  return PartitionOf(partitioner_, user_id, partitions_);
}

Result<std::optional<int32_t>> RowRouter::Route(std::string_view key, std::string_view value,
                                                const Lookup& lookup) const {
  switch (key.empty() ? Table::kPosition : static_cast<Table>(key[0])) {
    case Table::kDeltas:
      return RouteDelta(key, value, lookup);
    case Table::kMarks:
      return RouteMark(key, value, lookup);
    case Table::kEndings:
      return RouteEnding(key, lookup);
    case Table::kServed:
      return RouteServed(value);
    case Table::kPosition:
    case Table::kDescriptor:
    case Table::kJournal:
    case Table::kSweep:
    case Table::kPublished:
      break;
  }
  return std::optional<int32_t>();
}

Result<std::optional<int32_t>> RowRouter::RouteDelta(std::string_view key, std::string_view value,
                                                     const Lookup& lookup) const {
  if (const auto partition = PartitionOfId(UserIdOfDelta(value))) return partition;
  const auto user = UserOf(Table::kDeltas, key);
  if (!user) return Fail(user.error());
  const auto marked = lookup.marked_id(*user);
  if (!marked) return Fail(marked.error());
  return std::optional(PartitionOfId(*marked).value_or(kAll));
}

Result<std::optional<int32_t>> RowRouter::RouteMark(std::string_view key, std::string_view value,
                                                    const Lookup& lookup) const {
  const auto user = UserOf(Table::kMarks, key);
  if (!user) return Fail(user.error());
  // Such a mark is for a tombstone of a topic that no filter has any more.
  const bool is_retired = user->filter.number() > kRetiredTopicLast.number() - kSnapshotTopicsMax;
  if (is_retired) return std::optional<int32_t>();
  if (const auto partition = PartitionOfId(value)) return partition;
  const auto delta = lookup.delta(*user);  // a mark of an older version names no user
  if (!delta) return Fail(delta.error());
  return PartitionOfId(UserIdOfDelta(*delta));
}

// The ending must go to the partition of its user. In another one the user would seem to have nothing left.
Result<std::optional<int32_t>> RowRouter::RouteEnding(std::string_view key, const Lookup& lookup) const {
  const auto ending = EndingOf(key);
  if (!ending) return Fail(ending.error());
  const auto delta = lookup.delta(ending->user);
  if (!delta) return Fail(delta.error());
  return PartitionOfId(UserIdOfDelta(*delta));
}

Result<std::optional<int32_t>> RowRouter::RouteServed(std::string_view value) const {
  FieldReader reader(value);
  (void)reader.Get<int64_t>();
  const std::string user_id = reader.GetText();
  if (!reader.ok() || user_id.empty()) return Fail(Code::kCorrupt, "a served item names no user");
  return PartitionOfId(user_id);
}

}  // namespace seen
