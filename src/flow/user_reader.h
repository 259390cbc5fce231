#pragma once
// What is known of a partition's users: the store, the frozen tail and the active tail together. Any thread;
// the worker never waits for a reader.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "filter/snapshot.h"
#include "flow/heavy_users.h"
#include "flow/last_published.h"
#include "flow/partition_state.h"
#include "flow/publish_flow.h"
#include "flow/store_port.h"
#include "model/delta.h"
#include "model/delta_seen.h"
#include "owner/foreign_users.h"

namespace seen {

class UserReader {
 public:
  /// All references outlive this.
  UserReader(const PartitionState& state, const PartitionStore& store, LastPublishedSnapshots& last_published,
             const ForeignUsers& foreign, const Clock& clock)
      : state_(state), store_(store), last_published_(last_published), foreign_(foreign), clock_(clock) {}

  /// All that is known of the user, encoded (model/delta.h): a user's items take three times as much decoded.
  Result<std::string> ReadUser(FilterIndex filter_index, const UserKey& user) const;
  /// The same, as an answer needs it: what counts by the filter's `limits`. `reader`: that of the calling
  /// thread.
  Status ReadSeen(FilterIndex filter_index, const UserKey& user, const AnswerLimits& limits,
                  SeenReader& reader) const;
  /// The time of the newest thing of the user in any filter, also in former ones, at most `until`. A filter
  /// that keeps only days gives the start of the day. A thing that was taken back since the last checkpoint
  /// may count, too. nullopt: nothing is known until then.
  Result<std::optional<TimeMs>> Newest(const UserKey& user, TimeMs until) const;
  /// The user's last published snapshot, if the filter is incomplete and the state may lack items in it. Else
  /// empty.
  Result<std::string> ReadPublished(FilterIndex filter_index, const UserKey& user) const;
  /// Renders the user's snapshot of a filter. Sets `user_id` from the state; empty if unknown.
  Status RenderUser(FilterIndex filter_index, const UserKey& user, const SnapshotShape& shape,
                    std::string& user_id, std::string& bytes) const;
  /// The same for a group at once, in the shapes of the filters' policies. For users who have seen nothing,
  /// `bytes` is empty: a tombstone. `served_second`: served items count if they end after it.
  Status RenderUsers(TimeMs wall_now, uint32_t served_second, std::span<PublishFlow::Rendering> group) const;
  /// Sets the ids of the users who have marks of retired topics. `bytes` is empty: a tombstone.
  Status NameRetired(std::span<PublishFlow::Rendering> group) const;

  const Clock& clock() const { return clock_; }
  /// Among the users read since the partition was opened.
  void FillHeaviestUsers(PartitionStatus& status) const;

 private:
  Status RenderTogether(TimeMs wall_now, uint32_t served_second,
                        std::span<PublishFlow::Rendering> group) const;
  /// False: nothing is stored. `changes`: how many the tails have.
  Result<bool> ReadStored(const UserRef& user, size_t changes, std::string& stored) const;
  using Tails = PartitionState::Tails;
  Status FindNewest(const UserRef& user, size_t changes, TimeMs until, std::optional<TimeMs>& newest) const;
  static std::string_view ReadTails(const Tails& tails, FilterMask filters, const UserKey& user,
                                    std::vector<Change>& changes);
  void NoteRead(FilterIndex filter_index, const UserKey& user, const SeenReader& reader) const;
  SnapshotMeta MetaAt(TimeMs wall_now, FilterIndex filter_index) const;
  static Status Render(const FilterPolicy& filter, const SnapshotShape& shape, const SnapshotMeta& meta,
                       SeenReader& reader, std::string& bytes);
  static std::optional<std::span<const Fingerprint>> SimilarOf(const FilterPolicy& filter,
                                                               const SeenReader& reader);
  static PublishFlow::Origin Merge(const FilterPolicy& filter, const SnapshotShape& shape,
                                   const SnapshotMeta& meta, const SeenReader& reader,
                                   const std::string& published, std::string& bytes);
  Status ReadPublishedOf(TimeMs wall_now, std::span<const PublishFlow::Rendering> group,
                         std::span<const UserRef> refs, std::vector<PublishedRow>& published) const;

  const PartitionState& state_;
  const PartitionStore& store_;
  LastPublishedSnapshots& last_published_;
  const ForeignUsers& foreign_;
  const Clock& clock_;
  mutable HeavyUsers heavy_users_;  // thread-safe: a by-product of reading
};

}  // namespace seen
