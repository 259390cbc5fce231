#pragma once
// Finds the partition of a row when the number of partitions changes: the partition of its user.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/store_port.h"
#include "model/partitioner.h"

namespace seen {

/// Pure except for its lookups. One thread.
class RowRouter {
 public:
  /// What else a store has about the row's user.
  struct Lookup {
    std::function<Result<std::string>(const UserRef&)> marked_id;  // empty: no mark names the user
    std::function<Result<std::string>(const UserRef&)> delta;      // encoded; empty: none
  };
  static constexpr int32_t kAll = -1;

  RowRouter(Partitioner partitioner, int32_t partitions)
      : partitioner_(partitioner), partitions_(partitions) {}

  /// The row's partition. kAll: the user isn't known, so the row goes to all partitions: a removed item must
  /// not come back anywhere. nullopt: the row stays behind: rows of the old partition itself, marks of
  /// retired topics, and marks and endings whose user isn't known.
  Result<std::optional<int32_t>> Route(std::string_view key, std::string_view value,
                                       const Lookup& lookup) const;

 private:
  std::optional<int32_t> PartitionOfId(std::string_view user_id) const;
  Result<std::optional<int32_t>> RouteDelta(std::string_view key, std::string_view value,
                                            const Lookup& lookup) const;
  Result<std::optional<int32_t>> RouteMark(std::string_view key, std::string_view value,
                                           const Lookup& lookup) const;
  Result<std::optional<int32_t>> RouteEnding(std::string_view key, const Lookup& lookup) const;
  Result<std::optional<int32_t>> RouteServed(std::string_view value) const;

  const Partitioner partitioner_;
  const int32_t partitions_;
};

}  // namespace seen
