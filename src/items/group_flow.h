#pragma once
// One partition of the ordered topic of items: which older items is each like, and which group is it of. A
// function of the log alone: a replay, a crash and another machine decide the same.
//
// Threads. Writer (one): Apply, Checkpoint. Any thread: Similar, Group, Figures.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "group/item_features.h"
#include "items/item_index_port.h"
#include "model/item_group.h"

namespace seen {

struct GroupOptions {
  bool by_simhash = true;
  bool by_minhash = true;
  bool verify = true;
  int distance_max = 3;
  double similarity_min = 0.8;
  int32_t window_days = 30;
  uint32_t list_max = 256;        // entries looked at of one list of candidates: the newest; at most kListMax
  uint32_t candidates_max = 128;  // verified for one item
};

/// An item as the log has it, read. Views are valid while Apply runs.
struct PreparedItem {
  int64_t offset = 0;
  TimeMs record_timestamp;
  std::string_view item_id;
  TimeMs created_at;                       // the record's timestamp where the item says none
  bool deleted = false;                    // then nothing below counts
  const ItemFeatures* features = nullptr;  // of a deleted one nullptr
};

/// Groups that have changed, out. Queued until Flush of the topic says they have arrived.
class GroupSink {
 public:
  virtual ~GroupSink() = default;
  /// False: the queue is full; the flow waits for it (bounded) and tries again.
  virtual bool TrySend(std::string_view item_id, const ItemGroup* group) = 0;  // nullptr: a tombstone
  /// Everything sent has been acknowledged. kUnavailable: not within `patience`.
  virtual Status AwaitAll(std::chrono::milliseconds patience) = 0;
};

struct GroupFigures {
  uint64_t items_total = 0;    // read, without the deleted
  uint64_t copies_total = 0;   // verbatim ones: a look-up each
  uint64_t grouped_total = 0;  // joined an older one's group, copies included
  uint64_t deleted_total = 0;
  uint64_t moved_total = 0;  // changed their group, for a new text or because its first item has gone
  uint64_t no_text_total = 0;
  uint64_t too_old_total = 0;     // beyond the window when they came: compared, not kept
  uint64_t candidates_total = 0;  // verified
  uint64_t compared_total = 0;    // SimHashes in lists looked at
  uint64_t lists_cut_total = 0;   // entries of lists that list_max left out
  uint64_t candidates_cut_total = 0;
  uint64_t items = 0;  // in the index, some of them past the window
  uint64_t bytes = 0;  // of the index on disk
};

/// An error of the index is final: the flow and the index are made anew, from the last checkpoint. After one
/// of the sink (kUnavailable) the same call may be made again.
class GroupFlow {
 public:
  /// Goes on where the index's last checkpoint was.
  static Result<std::unique_ptr<GroupFlow>> Open(const GroupOptions& options, ItemIndex& index,
                                                 GroupSink& sink);
  ~GroupFlow();

  /// Takes `items` in the order of their offsets; those that were taken before a restart decide nothing anew.
  /// Checkpoints by itself where much is unsaved.
  Status Apply(std::span<const PreparedItem> items);
  /// Of the records below `offset`, those that Apply wasn't given decide nothing (they couldn't be read).
  void Pass(int64_t offset);
  /// The log's offset up to which all is in the index (on disk once Checkpoint has returned).
  int64_t next_offset() const;
  /// Waits until all that was sent has arrived, then makes the index durable with the offset.
  Status Checkpoint();

  /// What is stored that is like the text, nearest first; `except`: an id not to answer.
  Result<std::vector<NearItem>> Similar(const ItemFeatures& features, size_t limit,
                                        std::string_view except = {}) const;
  /// nullopt: not in the index.
  Result<std::optional<ItemGroup>> Group(std::string_view item_id) const;
  GroupFigures Figures() const;

 private:
  class Impl;
  explicit GroupFlow(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
