#pragma once
// The topic of groups while the lease holds. A daemon that stood still for longer than its session may no
// longer own the index, and the groups that it would send may be older than the new owner's.

#include <functional>
#include <memory>
#include <utility>

#include "items/group_sink.h"

namespace seen {

class LeasedGroupSink final : public GroupSink {
 public:
  LeasedGroupSink(std::unique_ptr<GroupSink> sink, std::function<bool()> holds_lease)
      : sink_(std::move(sink)), holds_lease_(std::move(holds_lease)) {}

  /// False, too, while the lease doesn't hold: the record goes on waiting.
  bool TrySend(std::string_view item_id, const ItemGroup* group) override {
    return holds_lease_() && sink_->TrySend(item_id, group);
  }
  /// What was queued under the lease arrives, or is given up on, before the lease ends.
  Status AwaitAll(std::chrono::milliseconds patience) override { return sink_->AwaitAll(patience); }

 private:
  const std::unique_ptr<GroupSink> sink_;
  const std::function<bool()> holds_lease_;
};

}  // namespace seen
