#pragma once
// The state of all old partitions as a source of rows for another number of partitions: each row goes to the
// new partition of its user.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "model/partitioner.h"
#include "tools/state/stored_state.h"

namespace seen {

/// What else a store has about the user of a row.
struct RowLookup {
  std::function<Result<std::string>(const UserRef&)> marked_id;  // empty: no mark names the user
  std::function<Result<std::string>(const UserRef&)> delta;      // encoded; empty: none
};
/// Names no partition.
inline constexpr int32_t kAllPartitions = -1;

/// The row's partition of `partitions`. kAllPartitions: the user isn't known, so the row goes to all of them:
/// a removed item must not come back anywhere. nullopt: the row stays behind: rows of the old partition
/// itself, marks of retired topics, and marks and endings whose user isn't known. Pure except for the lookup.
Result<std::optional<int32_t>> RouteRow(std::string_view key, std::string_view value, Partitioner partitioner,
                                        int32_t partitions, const RowLookup& lookup);

class ReshardedState final : public CopySource {
 public:
  /// `stored`: all old partitions, from all daemons that had them. `topic`: the new one, with `partitions`.
  /// kRefused: the old partitions aren't alike, or one is missing. kInvalidArgument: one is there twice, or
  /// the topic is the old one.
  static Result<std::unique_ptr<ReshardedState>> Make(std::vector<std::unique_ptr<StoredState>> stored,
                                                      const std::string& topic, int32_t partitions,
                                                      bool quiet);

  int32_t partitions() const override { return partitions_; }
  Result<std::vector<PartitionHead>> Heads(CopySink& sink) override;
  Status PassRows(CopySink& sink) override;

  uint64_t rows() const { return rows_; }
  uint64_t rows_to_all() const { return rows_to_all_; }

 private:
  ReshardedState(int32_t partitions, bool quiet) : partitions_(partitions), quiet_(quiet) {}
  Status Join(std::unique_ptr<StoredState> stored);
  Status CheckWhole(const std::string& topic) const;

  const int32_t partitions_;
  const bool quiet_;
  std::vector<std::unique_ptr<StoredState>> stored_;
  std::vector<std::unique_ptr<RestingRows>> old_;
  std::map<int32_t, std::string> known_;  // where each old partition is
  StoreDescriptor descriptor_;            // of the new partitions, without their numbers
  Position position_;                     // of each new partition
  uint64_t rows_ = 0;
  uint64_t rows_to_all_ = 0;
};

}  // namespace seen
