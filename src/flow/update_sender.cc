#include "flow/update_sender.h"

#include <algorithm>

#include "flow/partition_flow.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kPoll{5};  // while records are under way
constexpr milliseconds kRetryAfter{500};
}  // namespace

milliseconds UpdateSender::Step() {
  // The wall clock first: if the process stands still in between, records say that they are older than they
  // are.
  const TimeMs wall = clock_.WallNow();
  const Instant now = clock_.Now();
  const auto opened = partitions_.All();
  TakeDeliveries(opened);
  const bool owns = owner_ == nullptr || owner_->IsThisGroup();
  const auto at_most = milliseconds(1'000 * static_cast<int64_t>(opened.size()) / kRecordsASecond);
  const milliseconds every = std::max(kEvery, at_most);
  if (now - made_at_ >= every) {
    made_at_ = now;
    for (const PartitionPointer& open : opened) {
      if (!open->flow->updates || open->stopped.load(std::memory_order_acquire)) continue;
      if (!owns) {
        open->flow->updates->Discard();
      } else if (open->assigned.load(std::memory_order_acquire)) {
        open->flow->updates->Step(now, wall);
      }
    }
  }
  for (const PartitionPointer& open : opened) {
    if (owns && now - failed_at_[open->partition] >= kRetryAfter) SendAll(*open);
  }
  const auto left = std::chrono::ceil<milliseconds>(every - (clock_.Now() - made_at_));
  return std::clamp(under_way_ == 0 ? left : std::min(left, kPoll), milliseconds(1), every);
}

void UpdateSender::SendAll(const OpenPartition& open) {
  if (!open.flow->updates || !open.assigned.load(std::memory_order_acquire)) return;
  UpdateStream& updates = *open.flow->updates;
  while (const auto next = updates.NextUnsent()) {
    if (!sink_.TrySend(open.partition, next->bytes, open.ticket_tag | next->number)) return;
    updates.Sent(next->number);
    ++under_way_;
  }
}

// A partition that was closed meanwhile needs no report: its next owner sends again what its state lacks.
void UpdateSender::TakeDeliveries(const std::vector<PartitionPointer>& opened) {
  sink_.PollDeliveries([&](const PartitionDelivery& delivery) {
    --under_way_;
    if (delivery.offset < 0) failed_at_[delivery.partition] = clock_.Now();
    const uint64_t tag = delivery.ticket & ~uint64_t{UINT32_MAX};
    for (const PartitionPointer& open : opened) {
      if (open->ticket_tag != tag) continue;
      const auto number = static_cast<uint32_t>(delivery.ticket);
      if (delivery.too_large) {
        open->flow->updates->TooLarge(number, delivery.refusal);
      } else {
        open->flow->updates->Delivered(number, delivery.offset, clock_.Now(), clock_.WallNow(),
                                       delivery.refusal);
      }
    }
  });
}

}  // namespace seen
