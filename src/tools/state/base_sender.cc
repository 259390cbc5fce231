#include "tools/state/base_sender.h"

#include <thread>

#include "tools/common_options.h"

namespace seen {
namespace {

constexpr uint64_t kOpeningTicket = 1;
constexpr uint64_t kPartTicket = 2;
constexpr std::chrono::milliseconds kPolls{5};

}  // namespace

BaseSender::BaseSender(Options options, PartitionSink& sink)
    : options_(std::move(options)), sink_(sink), partitions_(options_.places.size()) {}

Status BaseSender::Poll(std::chrono::steady_clock::time_point until) {
  sink_.PollDeliveries([this](const PartitionDelivery& delivery) {
    --unacknowledged_;
    failed_ |= delivery.offset < 0;
    Partition& partition = partitions_[static_cast<size_t>(delivery.partition)];
    if (delivery.ticket == kOpeningTicket) partition.epoch = delivery.offset;
    if (delivery.ticket == kPartTicket && partition.base_at == kNoOffset) partition.base_at = delivery.offset;
  });
  if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
  if (!failed_ && std::chrono::steady_clock::now() <= until) return {};
  const std::string refusal = options_.refusal ? options_.refusal() : "";
  return Fail(Code::kUnavailable, refusal.empty() ? "the brokers didn't take all records in time" : refusal);
}

Status BaseSender::Send(int32_t partition, const std::string& record, uint64_t ticket) {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  while (!sink_.TrySend(partition, record, ticket)) {
    if (Status polled = Poll(until); !polled) return polled;
    std::this_thread::sleep_for(kPolls);
  }
  ++unacknowledged_;
  bytes_ += record.size();
  return Poll(until);
}

Status BaseSender::WaitForAll() {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  while (unacknowledged_ > 0) {
    if (Status polled = Poll(until); !polled) return polled;
    std::this_thread::sleep_for(kPolls);
  }
  return Poll(until);
}

Status BaseSender::Begin(const std::function<RowBatch(int32_t partition)>& first_rows) {
  const auto count = static_cast<int32_t>(options_.places.size());
  StateOpening opening = options_.opening;
  std::string record;
  for (int32_t partition = 0; partition < count; ++partition) {
    const auto& place = options_.places[static_cast<size_t>(partition)];
    opening.position = place.position;
    opening.base_at = place.older_base_at;
    record.clear();
    EncodeStateOpening(opening, record);
    if (Status sent = Send(partition, record, kOpeningTicket); !sent) return sent;
  }
  if (Status opened = WaitForAll(); !opened) return opened;
  for (int32_t number = 0; number < count; ++number) {
    const auto& place = options_.places[static_cast<size_t>(number)];
    Partition& partition = partitions_[static_cast<size_t>(number)];
    StatePart head;
    head.kind = StreamKind::kBase;
    head.epoch = partition.epoch;
    head.from = head.to = place.position;
    head.base_at = place.older_base_at;
    partition.writer = std::make_unique<PartWriter>(
        head, options_.record_bytes_max,
        [this, number](const std::string& part) { return Send(number, part, kPartTicket); });
    const RowBatch rows = first_rows(number);
    for (size_t i = 0; i < rows.rows(); ++i) {
      if (Status added = partition.writer->Add(rows.GetRow(i)); !added) return added;
    }
    // Sends it now: the last part needs the offset at which the base begins.
    if (Status flushed = partition.writer->Flush(); !flushed) return flushed;
  }
  return WaitForAll();
}

Status BaseSender::Add(int32_t partition, const Row& row) {
  return partitions_[static_cast<size_t>(partition)].writer->Add(row);
}

// A base counts only with its last part. So all partitions get their base or none does, unless a failure
// falls among these last records.
Status BaseSender::Finish() {
  for (Partition& partition : partitions_) {
    if (Status flushed = partition.writer->Flush(); !flushed) return flushed;
  }
  if (Status arrived = WaitForAll(); !arrived) return arrived;
  for (Partition& partition : partitions_) {
    if (Status finished = partition.writer->Finish(partition.base_at); !finished) return finished;
  }
  return WaitForAll();
}

}  // namespace seen
