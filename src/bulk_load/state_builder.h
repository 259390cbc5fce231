#pragma once
// History -> the state of all partitions, without the daemon. Uses the daemon's decoder and flow, as fast as
// the processors allow. Memory is bounded: files take the sorted rows that don't fit.

#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bulk_load/partition_builder.h"
#include "config/config.h"
#include "model/event.h"

namespace seen {

/// The place of a line, for reports about rejected lines.
struct LinePlace {
  uint32_t source = 0;  // the caller's number for the file or topic
  int32_t partition = -1;
  int64_t number = 0;  // line or offset
};

struct RejectedLine {
  LinePlace place;
  std::string_view reason;  // a constant
  std::string message;
  std::string text;
};

struct BuildCounts {
  uint64_t events = 0;
  uint64_t items = 0;    // (user, item) pairs, with repetitions
  uint64_t skipped = 0;  // by conditions, kinds and times, or covered by no filter
  uint64_t rejected = 0;
  uint64_t beyond_windows = 0;  // of the events: older than every window now, so the state lacks them
  uint64_t before_1971 = 0;     // of these
  TimeMs first, last;           // the events' earliest and latest time; 0: no events
};

/// Calls `run` with each of 0 to tasks - 1, in so many threads. After an error a thread begins nothing more.
/// Returns one of the errors.
Status InParallel(unsigned threads, size_t tasks, const std::function<Status(size_t)>& run);

/// Where a partition's state begins, and since when the state is whole.
struct BuiltState {
  int32_t partition = 0;
  int64_t live_offset = 0;  // offset in the input at which live consumption goes on
  TimeMs complete_since;    // 0: whole from the beginning
};

/// Add and Finish: one thread, which reads the history. The builder's own threads run during these calls and
/// between them.
class StateBuilder {
 public:
  struct Options {
    const Config& config;
    int32_t partitions = 1;
    uint64_t memory_bytes = 0;  // for all partitions together
    std::string folder;         // an existing folder, for files of sorted rows
    unsigned threads = 2;
    std::optional<TimeMs> since, until;  // limits of exposed_at; events outside are skipped
    TimeMs as_of;                 // the flow's wall clock; what has left the windows by then isn't kept
    size_t text_bytes = 1 << 19;  // text of a batch, which one thread decodes
  };
  /// kInvalidArgument: the configuration's event format is invalid. kRefused: too many kinds or topics.
  static Result<std::unique_ptr<StateBuilder>> Make(const Options& options);
  ~StateBuilder();

  /// Copies the event. Appends the lines that were rejected since the last call to `rejected`. The caller
  /// added those lines earlier.
  Status Add(std::string_view event, const LinePlace& place, std::vector<RejectedLine>& rejected);
  /// Puts all that was added into the sorted rows. `rejected` as in Add.
  Status Finish(std::vector<RejectedLine>& rejected);

  // After Finish. Any thread, one per partition.

  /// What the partition's state begins with.
  Position PositionOf(const BuiltState& state) const;
  StoreDescriptor DescriptorOf(int32_t partition) const;
  /// Visits the users' rows as a store begins with them: all puts, with ascending keys.
  Status ForEachUserRow(int32_t partition, const RowFold::Visit& visit);

  const BuildCounts& counts() const { return counts_; }
  /// Bytes of sorted rows written to files.
  uint64_t sorted_bytes() const;

 private:
  struct Batch;
  struct Group;
  class FixedClock;
  explicit StateBuilder(const Options& options, std::shared_ptr<const EventPlan> plan,
                        StoreDescriptor descriptor);
  Status Hand(std::vector<RejectedLine>& rejected);
  Status Take(std::vector<RejectedLine>& rejected);
  Status Process(Group& group);
  Status Decode(Batch& batch) const;

  const Options options_;
  const std::shared_ptr<const EventPlan> plan_;
  StoreDescriptor descriptor_;
  std::vector<FilterId> filter_ids_;
  std::vector<uint8_t> kind_numbers_;
  std::vector<std::vector<KindPolicy>> past_kinds_;
  std::unique_ptr<FixedClock> clock_;
  std::unique_ptr<BuildTotals> totals_;
  std::vector<std::unique_ptr<PartitionBuilder>> partitions_;
  uint64_t fold_bytes_max_ = 0;  // for one partition

  std::unique_ptr<Group> filling_;     // used by the caller's thread
  std::unique_ptr<Group> processing_;  // used by the builder's threads from Hand to Take
  std::future<Status> outcome_;
  BuildCounts counts_;
};

}  // namespace seen
