#pragma once
// Restores state from the state topic: from the newest whole base, or from older state at hand, and from the
// runs that count since.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rows/descriptor.h"
#include "state_stream/state_port.h"
#include "state_stream/state_record.h"

namespace seen {

// What the last records of a state topic's partition say: where bases are, who wrote, how far the owner came.

struct StreamEnd {
  std::set<int64_t, std::greater<>> bases;  // offsets of parts 0, as any owner names them; newest first
  int64_t newest_base = kNoOffset;          // that the last owner named, and that begins there
  std::set<int64_t> openings;
  int64_t reaches = kNoOffset;  // the greatest position of the last owner's runs and bases that ended
  /// The greatest position that an owner had, whether a restore reaches it or not.
  int64_t owners_had = kNoOffset;
  uint64_t refused = 0;  // records that can't be read, or that name offsets which the topic can't have
  uint64_t foreign_records = 0;  // skipped

  /// For a run or base at `offset`: no other owner had begun since `epoch`.
  bool MayCount(int64_t offset, int64_t epoch) const {
    const auto next = openings.upper_bound(epoch);
    return next == openings.end() || *next > offset;
  }
};

/// Reads the last records before `before`. kUnavailable. kRefused: the newest opening is another group's.
Result<StreamEnd> ReadStreamEnd(StateLog& log, int32_t partition, int64_t before);

/// The head of the base whose part 0 stands at `base_at`. nullopt: none does (any more). kUnavailable.
Result<std::optional<StatePart>> ReadBaseHead(StateLog& log, int32_t partition, int64_t base_at);

/// The result of a restore.
struct RestoredState {
  int64_t base_at = kNoOffset;
  bool continued = false;  // the state at hand was continued with later changes
  int64_t read_to = 0;     // it holds all records below; it may read again from a lower offset
  uint64_t runs = 0;
  uint64_t unreadable = 0;               // records that don't count: damaged, or of a newer version
  std::vector<VerifiedOutput> verified;  // as the last run says
};

/// How far the restore is. Any thread.
struct RestoreProgress {
  std::atomic<int64_t> records{0};
  std::atomic<int64_t> records_in_all{0};  // approximate; 0: not known yet
  std::atomic<uint64_t> bytes{0};
};

class StateRestore {
 public:
  /// State that is at hand.
  struct Held {
    int64_t read_to = 0;  // all records below it
    StoreDescriptor descriptor;
  };
  struct Options {
    StoreIdentity identity;           // of the state that is wanted
    int64_t before = 0;               // no record is read from this offset on: the reader's own opening
    uint64_t fold_bytes = 128 << 20;  // of runs that are applied together
    std::optional<Held> held = {};    // kept unless the topic has later state
  };
  /// All references outlive this.
  StateRestore(Options options, StateLog& log, RestoreTarget& target, RestoreProgress& progress,
               const std::atomic<bool>& stop);

  /// nullopt: there is no whole base or none is wanted, and the target is of no use. kUnavailable: try again
  /// from the start; also if `stop` was set. kRefused: the state is another topic's or partition's. Other
  /// errors: the target's.
  Result<std::optional<RestoredState>> Run();

 private:
  Result<bool> LeadsOn(int64_t base_at);
  Status Continue(int64_t base_at);
  Result<bool> RestoreBase(int64_t base_at);
  Status ApplyRuns();
  Status ApplyFold();
  Status NoteDescriptor(const RowBatch& rows, bool& fits);
  bool Count(std::string_view record);

  const Options options_;
  StateLog& log_;
  RestoreTarget& target_;
  RestoreProgress& progress_;
  const std::atomic<bool>& stop_;
  RestoredState restored_;
  StreamEnd end_;
  int64_t epoch_ = kNoOffset;  // of the base
  std::optional<StoreDescriptor> descriptor_;
  RowFold fold_;
};

}  // namespace seen
