#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flow/log_port.h"
#include "flow/publish_flow.h"
#include "support/fakes.h"

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

/// One PublishFlow, which publishes into a HoldingSink.
class PublishTest : public testing::Test {
 protected:
  static constexpr std::chrono::milliseconds kDebounce{1000};

  void Open(size_t users_max) {
    flow.emplace(std::vector<FilterPolicy>{{0, "default", 30, 10'000, {}, SnapshotPolicy{{}, kDebounce}}},
                 PublishFlow::Options{.entries_max = users_max}, reporter);
    flow->Scanned({}, flow->WantsScan(), now);  // the scan of a start, which found nothing
  }
  UserKey KeyOf(const std::string& name) {
    const UserKey key = UserKeyOf(name);
    names[key] = name;
    return key;
  }
  void Change(const std::string& name) {
    const DirtyUser dirty{KeyOf(name), 1, {0}};
    flow->AddDirty({&dirty, 1}, now);
  }
  /// Takes, renders and sends one group, as the publisher does. `sink.sent` are its users.
  void Send(const PublishFlow::Limits& limits) {
    sink.sent.clear();
    std::vector<PublishFlow::Rendering> most(limits.leading + limits.waiting);
    const auto group = std::span(most).first(flow->Take(now, limits, most));
    for (PublishFlow::Rendering& rendering : group) {
      rendering.user_id = names.at(rendering.user);
      rendering.bytes = "snapshot";
      rendering.origin = origin;
    }
    if (rendered) {
      last = flow->Send(now, group, sink, 0);
    } else {
      flow->PutBack(group);
      last = Fail(rendered.error());
    }
  }
  /// Ends every delivery that is under way.
  void Acknowledge(Delivery delivery = Delivery::kAcknowledged) {
    std::vector<PublishFlow::Acknowledgement> all;
    for (const uint64_t ticket : sink.tickets) all.push_back({static_cast<uint32_t>(ticket), delivery});
    flow->Acknowledged(all, now, {0});
    sink.tickets.clear();
  }

  sim::CountingReporter reporter;
  std::optional<PublishFlow> flow;
  HoldingSink sink;
  Instant now{std::chrono::hours(1)};
  std::map<UserKey, std::string> names;
  Status rendered;
  PublishFlow::Origin origin = PublishFlow::Origin::kState;
  Result<PublishFlow::Sending> last;
};

}  // namespace seen
