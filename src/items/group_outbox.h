#pragma once
// Groups that wait to be sent to the topic, in order. Writer thread only.

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/result.h"
#include "items/group_sink.h"
#include "model/item_group.h"

namespace seen {

class GroupOutbox {
 public:
  explicit GroupOutbox(GroupSink& sink) : sink_(sink) {}
  void Put(ItemGroup group) { waiting_.push_back({group.item_id, std::move(group)}); }
  void PutTombstone(std::string item_id) { waiting_.push_back({std::move(item_id), std::nullopt}); }
  /// Sends the waiting groups. kUnavailable: the sink's queue is full; the rest stays here.
  Status Send();
  /// Sends, and waits until all have arrived. kUnavailable: not within `patience`.
  Status AwaitAll(std::chrono::milliseconds patience);
  uint64_t sent_total() const { return sent_; }

 private:
  struct Record {
    std::string item_id;
    std::optional<ItemGroup> group;
  };
  GroupSink& sink_;
  std::deque<Record> waiting_;
  uint64_t sent_ = 0;
};

}  // namespace seen
