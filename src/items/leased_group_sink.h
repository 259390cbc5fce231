#pragma once
// Sends to the topic of groups only while the lease holds. A daemon that stood still for longer than its
// session may no longer own the index. Its groups may be older than the new owner's.

#include <functional>
#include <memory>
#include <utility>

#include "items/group_sink.h"

namespace seen {

class LeasedGroupSink final : public GroupSink {
 public:
  LeasedGroupSink(std::unique_ptr<GroupSink> sink, std::function<bool()> holds_lease)
      : sink_(std::move(sink)), holds_lease_(std::move(holds_lease)) {}

  /// Also false while the lease doesn't hold: the record keeps waiting.
  bool TrySend(std::string_view item_id, const ItemGroup* group) override {
    return holds_lease_() && sink_->TrySend(item_id, group);
  }
  /// A record that was queued under the lease arrives before the lease ends, or the producer gives up on it.
  Status AwaitAll(std::chrono::milliseconds patience) override { return sink_->AwaitAll(patience); }

 private:
  const std::unique_ptr<GroupSink> sink_;
  const std::function<bool()> holds_lease_;
};

}  // namespace seen
