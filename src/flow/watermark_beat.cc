#include "flow/watermark_beat.h"

#include <algorithm>
#include <string>

#include "flow/partition_flow.h"

namespace seen {

void WatermarkBeat::Step(std::span<const PartitionPointer> opened, SnapshotSink& sink, const Clock& clock,
                         bool is_replica) {
  sender_.is_replica = is_replica;
  if (outstanding_ > 0) return;
  sent_.clear();
  const Instant now = clock.Now();
  const bool all = last_ == Instant{} || now - last_ >= kEvery;
  if (all) last_ = now;
  std::map<int32_t, Told> told;
  for (const PartitionPointer& open : opened) {
    if (open->stopped.load(std::memory_order_acquire)) continue;
    PartitionFlow& flow = *open->flow;
    const bool ready = open->CaughtUp();
    const Told now_told{ready, flow.updates && IsRepublishing(*open),
                        guard_ != nullptr ? guard_->Ownership(open->partition) : 0};
    const auto before = told_.find(open->partition);
    if (!all && before != told_.end() && before->second == now_told) {
      told.insert(*before);
      continue;
    }
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
    beat.unpublished_users = flow.Outstanding();
    beat.at = clock.WallNow();
    if (!is_replica) {
      if (flow.updates) {
        AddBase(*open, beat.at, beat);
      } else {
        beat.published_to = flow.publish.PublishedTo();
      }
    }
    std::string key = std::to_string(open->partition);
    if (is_replica) key = sender_.group + "/" + key;
    const std::string value = EncodeBeat(beat);
    OutgoingSnapshot record{is_replica ? Output::kCluster : Output::kWatermarks, {}, key, value, kTicket};
    sink.TrySend({&record, 1});
    if (!record.queued) continue;
    ++outstanding_;
    sent_.emplace_back(open->partition, now_told.ownership);
    told[open->partition] = now_told;
  }
  told_ = std::move(told);
}

void WatermarkBeat::Acknowledged(bool delivered) {
  if (!delivered) sent_.clear();
  if (--outstanding_ > 0 || guard_ == nullptr) return;
  for (const auto& [partition, ownership] : sent_) guard_->BeatArrived(partition, ownership);
}

// Where readers of updates begin. A filter whose snapshots don't hold all that changed isn't named. Another
// thread may notice a cut meanwhile. It requests all users, takes back what was published up to, and lets the
// end count again, in this order. So all is read here in the opposite order.
void WatermarkBeat::AddBase(const OpenPartition& open, TimeMs wall, Beat& beat) const {
  PartitionFlow& flow = *open.flow;
  beat.generation = flow.state.generation();
  const auto& filters = flow.state.options().filters;
  for (FilterIndex i; i < filters.size(); i = FilterIndex(i + 1)) {
    if ((flow.state.filters().updates >> i & 1) == 0) continue;
    const std::string& name = filters[i].name;
    beat.snapshots_topic[name] = filters[i].topic;
    beat.snapshots_log[name] = guard_ != nullptr ? guard_->LogOf({i, open.partition}) : 0;
    if (const auto since = flow.state.wholeness().IncompleteSince(i, wall))
      beat.complete_since_ms[name] = std::max<int64_t>(0, since->value);
    if (flow.last_published.Withholds(i, wall)) continue;
    const auto end = guard_ != nullptr ? guard_->EndOf({i, open.partition}) : std::nullopt;
    if (end) beat.snapshots_to[name] = *end;
  }
  beat.published_to = flow.publish.PublishedTo();
  beat.republishing = IsRepublishing(open);
  if (beat.published_to < 0) return beat.snapshots_to.clear();
  beat.updates_from = flow.updates->TopicOffsetFor(beat.published_to);
}

// Also while a topic may have been cut, and until all users are out: the next owner could not find that out.
bool WatermarkBeat::IsRepublishing(const OpenPartition& open) const {
  return (guard_ != nullptr && guard_->MayBeCut(open.partition)) || open.flow->publish.IsTakenBack() ||
         open.flow->sweep.IsRepublishing();
}

}  // namespace seen
