#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flow/log_port.h"
#include "flow/publish_flow.h"

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

/// Ends every delivery that is under way.
inline void AcknowledgeAll(PublishFlow& flow, HoldingSink& sink, Instant now,
                           Delivery delivery = Delivery::kAcknowledged) {
  std::vector<PublishFlow::Acknowledgement> all;
  for (const uint64_t ticket : sink.tickets) all.push_back({static_cast<uint32_t>(ticket), delivery});
  flow.Acknowledged(all, now, {0});
  sink.tickets.clear();
}

/// Takes, renders and sends one group, as the publisher does. `render`: Status(std::span<Rendering>).
template <typename Render>
Result<PublishFlow::Sending> PublishDue(PublishFlow& flow, Instant now, PublishFlow::Limits limits,
                                        const Render& render, SnapshotSink& sink) {
  std::vector<PublishFlow::Rendering> most(limits.leading + limits.waiting);
  const auto group = std::span(most).first(flow.Take(now, limits, most));
  if (Status rendered = render(group); !rendered) {
    flow.PutBack(group);
    return Fail(rendered.error());
  }
  return flow.Send(now, group, sink, 0);
}

}  // namespace seen
