#pragma once
// Answers HTTP's questions from the open partitions. Any thread.

#include <atomic>
#include <functional>

#include "config/config.h"
#include "flow/filter_policy.h"
#include "flow/open_partition.h"
#include "model/delta_seen.h"
#include "query/query_port.h"
#include "similar/port/item_groups.h"

namespace seen {

class Queries final : public QueryPort {
 public:
  /// `status`: the daemon's own part of /v1/status.
  using StatusSource = std::function<DaemonStatus()>;
  Queries(const Config& config, const Clock& clock, StatusSource status);

  /// Until this is called, every question about a user gets kUnavailable. `partitions` must outlive this or
  /// be replaced by nullptr.
  void SetPartitions(OpenPartitions* partitions, int32_t partition_count);
  /// The daemon's copy of the groups, if `items` is configured. It must outlive this or be replaced by
  /// nullptr.
  void SetItemGroups(const ItemGroups* groups) { groups_.store(groups, std::memory_order_release); }

  Status CanAnswer(std::string_view filter, std::string_view user_id) const override;
  Result<SnapshotAnswer> Snapshot(std::string_view filter, std::string_view user_id,
                                  const SnapshotQuestion& question) const override;
  Result<UnseenAnswer> Unseen(std::string_view filter, std::string_view user_id,
                              const CandidateList& candidates,
                              std::span<const std::string_view> also_seen) const override;
  Result<NewestAnswer> Newest(std::string_view user_id, TimeMs until) const override;
  Result<UserAnswer> User(std::string_view filter, std::string_view user_id,
                          const SegmentsQuestion& question) const override;
  Result<ExposuresAnswer> Exposures(std::string_view filter, std::string_view user_id,
                                    const ExposuresQuestion& question) const override;
  Result<WhyAnswer> Why(std::string_view filter, std::string_view user_id,
                        std::string_view item) const override;
  Result<GroupAnswer> Group(std::string_view item_id, std::string_view after) const override;
  Status CanFindSimilar() const override;
  Result<SimilarAnswer> Similar(const SimilarQuestion& question) const override;
  /// `similar` must outlive this or be replaced by nullptr.
  void SetSimilar(SimilarPort* similar) { similar_.store(similar); }
  DaemonStatus GetStatus() const override { return status_(); }
  void AcknowledgeLostRanges() override;
  Result<size_t> PublishAll() override;

 private:
  struct Place {
    PartitionPointer open;
    FilterIndex filter_index;
    UserKey user;
  };
  Result<PartitionPointer> FindPartition(std::string_view user_id) const;
  Result<Place> Find(std::string_view filter, std::string_view user_id) const;
  AsOf AsOfFrom(const Place& place) const;
  Result<const ItemGroups*> FindGroups() const;
  Status AnswerSimilar(const FilterPolicy& policy, const CandidateList& candidates,
                       std::span<const Fingerprint> fingerprints, std::span<const std::string_view> also_seen,
                       SeenReader& reader, UnseenAnswer& answer) const;
  Result<std::optional<SimilarTo>> WhySimilar(const FilterPolicy& policy, SeenReader& reader,
                                              std::string_view item) const;

  const Config& config_;
  const Clock& clock_;
  const StatusSource status_;
  std::atomic<OpenPartitions*> partitions_{nullptr};
  std::atomic<int32_t> partition_count_{0};
  std::atomic<const ItemGroups*> groups_{nullptr};
  std::atomic<SimilarPort*> similar_{nullptr};
};

}  // namespace seen
