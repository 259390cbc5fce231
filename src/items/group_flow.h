#pragma once
// One partition of the ordered topic of items: which older items is each like, and which group is it of. A
// function of the log alone: a replay, a crash and another machine decide the same.
//
// Threads. Writer (one): Apply, Checkpoint. Any thread: Similar, Group, Figures.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "group/item_features.h"
#include "items/group_figures.h"
#include "items/group_options.h"
#include "items/group_sink.h"
#include "items/item_index_port.h"
#include "model/item_group.h"

namespace seen {

/// An item as the log has it, read. Views are valid while Apply runs.
struct PreparedItem {
  int64_t offset = 0;
  TimeMs record_timestamp;
  std::string_view item_id;
  TimeMs created_at;                       // the record's timestamp where the item says none
  bool deleted = false;                    // then nothing below counts
  const ItemFeatures* features = nullptr;  // of a deleted one nullptr
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
