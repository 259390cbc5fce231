#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flow/log_port.h"

namespace seen {

/// A sink that keeps snapshots until the test acknowledges them.
class HoldingSink final : public SnapshotSink {
 public:
  void TrySend(std::span<OutgoingSnapshot> snapshots) override {
    for (OutgoingSnapshot& snapshot : snapshots) {
      snapshot.queued = sent.size() < room;
      if (!snapshot.queued) continue;
      sent.emplace_back(snapshot.user_id);
      tickets.push_back(snapshot.ticket);
    }
  }
  void PollAcknowledgements(const Acknowledge&) override {}
  void SendNow(const Acknowledge&) override {}
  uint64_t outstanding() const override { return tickets.size(); }
  std::vector<std::string> sent;
  std::vector<uint64_t> tickets;
  size_t room = SIZE_MAX;
};

}  // namespace seen
