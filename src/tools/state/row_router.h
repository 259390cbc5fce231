#pragma once
// Which partition of another number of partitions a row belongs to: that of its user.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/store_port.h"
#include "model/partitioner.h"

namespace seen {

/// Pure but for what it is given. One thread.
class RowRouter {
 public:
  /// What a store has of a user besides the row.
  struct Lookup {
    std::function<Result<std::string>(const UserRef&)> marked_id;  // empty: no mark names it
    std::function<Result<std::string>(const UserRef&)> delta;      // encoded; empty: none
  };
  static constexpr int32_t kAll = -1;

  RowRouter(Partitioner partitioner, int32_t partitions)
      : partitioner_(partitioner), partitions_(partitions) {}

  /// The row's partition; kAll: nobody knows its user, and what was taken back must not come back anywhere;
  /// nullopt: it stays behind. That are rows of the old partition itself, and marks of topics that are
  /// retired.
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
