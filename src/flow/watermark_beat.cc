#include "flow/watermark_beat.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "decode/json_text.h"
#include "flow/partition_flow.h"

namespace seen {

std::string WatermarkText(const PartitionStatus& status, const BeatSender& sender, TimeMs now) {
  std::string who = R"("group":)";
  AppendJsonString(sender.group, who);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    who += name;
    AppendJsonString(value, who);
  };
  add(R"(,"instance":)", sender.instance);
  add(R"(,"address":)", sender.address);
  add(R"(,"state":)", status.state);
  if (sender.is_replica) add(R"(,"role":)", "replica");
  if (status.published_to >= 0) who += fmt::format(R"(,"published_to":{})", status.published_to);
  return fmt::format(
      R"({{"version":1,{},"partition":{},"partition_time_ms":{},"next_offset":{},"lag_messages":{},)"
      R"("unpublished_users":{},"heartbeat_ms":{}{}}})",
      who, status.partition, status.partition_time.value, status.next_offset,
      // Readers that don't know `lag_known` take a lag of 0 for "all is read". That isn't known here, so the
      // lag is at least 1.
      status.lag_is_known ? status.lag_messages : std::max<int64_t>(1, status.lag_messages),
      status.marks_outstanding, now.value, status.lag_is_known ? "" : R"(,"lag_known":false)");
}

void WatermarkBeat::Step(std::span<const PartitionPointer> opened, SnapshotSink& sink, const Clock& clock,
                         bool is_replica) {
  sender_.is_replica = is_replica;
  if (outstanding_ > 0) return;
  const Instant now = clock.Now();
  const bool all = last_ == Instant{} || now - last_ >= kEvery;
  if (all) last_ = now;
  std::map<int32_t, bool> told_ready;
  for (const PartitionPointer& open : opened) {
    if (open->stopped.load(std::memory_order_acquire)) continue;
    const bool ready = open->CaughtUp();
    const auto told = told_ready_.find(open->partition);
    if (!all && told != told_ready_.end() && told->second == ready) {
      told_ready.insert(*told);
      continue;
    }
    PartitionFlow& flow = *open->flow;
    PartitionStatus status;
    status.partition = open->partition;
    // The lag is read before the offset. So a record that is taken in between counts in both, and is never
    // left out.
    status.lag_messages = flow.state.LagMessages();
    if (!ready) status.lag_messages = std::max<int64_t>(1, status.lag_messages);
    status.state = ready ? "ready" : "catching_up";
    status.lag_is_known = flow.state.GetAsOf(now).lag_messages.has_value();
    status.next_offset = flow.state.next_offset();
    status.partition_time = flow.state.partition_time();
    status.marks_outstanding = flow.publish.Outstanding();
    if (!is_replica) status.published_to = flow.publish.PublishedTo();
    std::string key = std::to_string(open->partition);
    if (is_replica) key = sender_.group + "/" + key;
    const std::string value = WatermarkText(status, sender_, clock.WallNow());
    OutgoingSnapshot record{is_replica ? Output::kCluster : Output::kWatermarks, {}, key, value, kTicket};
    sink.TrySend({&record, 1});
    if (!record.queued) continue;
    ++outstanding_;
    told_ready[open->partition] = ready;
  }
  told_ready_ = std::move(told_ready);
}

}  // namespace seen
