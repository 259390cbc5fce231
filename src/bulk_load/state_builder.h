#pragma once
// History -> the state of all partitions, without the daemon: the same decoder and the same flow, as fast as
// the processors go. Memory is bounded; what doesn't fit is sorted in files.

#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bulk_load/build_totals.h"
#include "bulk_load/line_place.h"
#include "bulk_load/partition_builder.h"
#include "config/config.h"
#include "model/event.h"

namespace seen {

struct RejectedLine {
  LinePlace place;
  std::string_view reason;  // a constant
  std::string message;
  std::string text;
};

struct BuildCounts {
  uint64_t events = 0;
  uint64_t items = 0;    // (user, item) pairs, with repetitions
  uint64_t skipped = 0;  // by conditions, kinds and times
  uint64_t rejected = 0;
  TimeMs first, last;  // of the events' times; 0: none
};

/// Where a partition's state begins, and since when it is whole.
struct BuiltState {
  int32_t partition = 0;
  int64_t live_offset = 0;  // of the input: live consumption goes on there
  TimeMs complete_since;    // 0: always was
};

/// Add and Finish: one thread, which reads the history. Others are the builder's own, inside these calls and
/// between them.
class StateBuilder {
 public:
  struct Options {
    const Config& config;
    int32_t partitions = 1;
    uint64_t memory_bytes = 0;  // of all partitions together
    std::string folder;         // for files of sorted rows; exists
    unsigned threads = 2;
    std::optional<TimeMs> since, until;  // of the exposures; what is outside is skipped
    TimeMs as_of;                 // the wall clock of the flow: what is beyond the windows then isn't kept
    size_t text_bytes = 1 << 19;  // of a batch, which one thread decodes
  };
  /// kInvalidArgument: the configuration's event format; kRefused: too many kinds or topics.
  static Result<std::unique_ptr<StateBuilder>> Make(const Options& options);
  ~StateBuilder();

  /// Copies the event. `rejected` gets what was rejected since the last call: of lines that were added
  /// before.
  Status Add(std::string_view event, const LinePlace& place, std::vector<RejectedLine>& rejected);
  /// All that was added is in the sorted rows.
  Status Finish(std::vector<RejectedLine>& rejected);

  /// After Finish. The partition's state, all puts, as its store begins. Keys ascend over both: the position,
  /// with what belongs to it, and the descriptor come first, then the users. Any thread, one a partition.
  Status ForEachFirstRow(const BuiltState& state, const RowFold::Visit& visit) const;
  Status ForEachUserRow(int32_t partition, const RowFold::Visit& visit);

  const BuildCounts& counts() const { return counts_; }
  /// Of a partition's events. After Finish.
  TimeMs PartitionTime(int32_t partition) const;
  /// Of sorted rows, in files.
  uint64_t sorted_bytes() const;

 private:
  struct Batch;
  struct Group;
  class NoLetters;
  class FixedClock;
  explicit StateBuilder(const Options& options, std::shared_ptr<const EventPlan> plan,
                        StoreDescriptor descriptor);
  Status Hand(std::vector<RejectedLine>& rejected);
  Status Take(std::vector<RejectedLine>& rejected);
  Status Process(Group& group);
  void Decode(Batch& batch) const;
  Status InParallel(size_t tasks, const std::function<Status(size_t)>& run) const;

  const Options options_;
  const std::shared_ptr<const EventPlan> plan_;
  StoreDescriptor descriptor_;
  std::vector<FilterId> filter_ids_;
  std::vector<uint8_t> kind_numbers_;
  std::vector<std::vector<KindPolicy>> past_kinds_;
  std::unique_ptr<FixedClock> clock_;
  std::unique_ptr<BuildTotals> totals_;
  std::unique_ptr<NoLetters> no_letters_;
  std::vector<std::unique_ptr<PartitionBuilder>> partitions_;
  uint64_t fold_bytes_max_ = 0;  // of a partition

  std::unique_ptr<Group> filling_;     // the caller's thread
  std::unique_ptr<Group> processing_;  // between Hand and Take: of the threads
  std::future<Status> outcome_;
  BuildCounts counts_;
};

}  // namespace seen
