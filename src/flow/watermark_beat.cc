#include "flow/watermark_beat.h"

#include <algorithm>
#include <string>

#include "flow/partition_flow.h"

namespace seen {

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
    Beat beat;
    beat.from = sender_;
    beat.partition = open->partition;
    // The lag is read before the offset. So a record that is taken in between counts in both, and is never
    // left out.
    beat.lag_messages = flow.state.LagMessages();
    if (!ready) beat.lag_messages = std::max<int64_t>(1, beat.lag_messages);
    beat.state = ready ? "ready" : "catching_up";
    beat.lag_is_known = flow.state.GetAsOf(now).lag_messages.has_value();
    beat.next_offset = flow.state.next_offset();
    beat.partition_time = flow.state.partition_time();
    beat.unpublished_users = flow.publish.Outstanding();
    if (!is_replica) beat.published_to = flow.publish.PublishedTo();
    beat.at = clock.WallNow();
    std::string key = std::to_string(open->partition);
    if (is_replica) key = sender_.group + "/" + key;
    const std::string value = EncodeBeat(beat);
    OutgoingSnapshot record{is_replica ? Output::kCluster : Output::kWatermarks, {}, key, value, kTicket};
    sink.TrySend({&record, 1});
    if (!record.queued) continue;
    ++outstanding_;
    told_ready[open->partition] = ready;
  }
  told_ready_ = std::move(told_ready);
}

}  // namespace seen
