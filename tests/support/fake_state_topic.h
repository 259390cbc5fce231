#pragma once
// One partition of the state topic in memory, and a queue into it for each owner.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "state_stream/state_port.h"

namespace seen {

struct FakeStateTopic final : StateLog {
  std::deque<std::string> records;
  int64_t low = 0;  // no record below this offset can be read

  int64_t end() const { return static_cast<int64_t>(records.size()); }
  Status Read(int32_t, int64_t from, int64_t to, const Visit& visit) override {
    for (int64_t offset = std::max(from, low); offset < std::min(to, end()); ++offset) {
      if (!visit(offset, records[static_cast<size_t>(offset)])) break;
    }
    return {};
  }
};

/// A sent record waits until it is delivered or given up.
class FakeStateQueue final : public PartitionSink {
 public:
  explicit FakeStateQueue(FakeStateTopic& topic, size_t records_max = 20)
      : topic_(topic), records_max_(records_max) {}
  bool TrySend(int32_t, std::string_view record, uint64_t ticket) override {
    if (waiting_.size() >= records_max_) return false;
    waiting_.emplace_back(record, ticket);
    return true;
  }
  void PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) override {
    while (!delivered_.empty()) {
      const PartitionDelivery delivery = delivered_.front();
      delivered_.pop_front();
      on_delivery(delivery);
    }
  }
  void Deliver(size_t count) {
    for (; count > 0 && !waiting_.empty(); --count) {
      topic_.records.push_back(std::move(waiting_.front().first));
      delivered_.push_back({0, waiting_.front().second, topic_.end() - 1});
      waiting_.pop_front();
    }
  }
  void GiveUp(size_t count) {
    for (; count > 0 && !waiting_.empty(); --count) {
      delivered_.push_back({0, waiting_.front().second, -1});
      waiting_.pop_front();
    }
  }

 private:
  FakeStateTopic& topic_;
  const size_t records_max_;
  std::deque<std::pair<std::string, uint64_t>> waiting_;
  std::deque<PartitionDelivery> delivered_;
};

}  // namespace seen
