#include "consume/rekey_flow.h"

#include <string>

#include "decode/event_decoder.h"
#include "decode/record_events.h"
#include "flow/event_rules.h"
#include "similar/port/options.h"

namespace seen {

RecordKeyer NewEventKeyer(const std::shared_ptr<const EventPlan>& plan, uint64_t event_bytes_max,
                          std::chrono::milliseconds future_skew_max) {
  return [decoder = std::make_shared<EventDecoder>(event_bytes_max, plan, MissingSchema::kGiveUp),
          future_skew_max](const Record& record) -> tl::expected<RecordKey, Rejection> {
    const auto event = decoder->Decode(record.value);
    if (!event) return tl::unexpected<Rejection>(event.error());
    if (event->skip != SkipReason::kNone) return RecordKey{{}, event->skip};
    if (auto rejection = TooFarAhead(*event, record.timestamp, future_skew_max))
      return tl::unexpected<Rejection>(std::move(*rejection));
    return RecordKey{event->user_id};
  };
}

RecordKeyer NewItemKeyer(const ItemFormat& format, uint64_t record_bytes_max,
                         std::chrono::milliseconds future_skew_max) {
  return [decoder = std::make_shared<ItemDecoder>(format, record_bytes_max), future_skew_max,
          key = std::make_shared<std::string>()](const Record& record) -> tl::expected<RecordKey, Rejection> {
    const auto item = decoder->Decode(record.value);
    if (!item) return tl::unexpected<Rejection>(item.error());
    if (auto rejection = TooFarAhead(*item, record.timestamp, future_skew_max))
      return tl::unexpected<Rejection>(std::move(*rejection));
    *key = LanguageKey(item->lang);
    return RecordKey{*key};
  };
}

namespace {
constexpr std::chrono::milliseconds kTryAgainAfter{1000};
}  // namespace

RekeyFlow::RekeyFlow(const RekeyOptions& options, int64_t start_offset, KeyedRecordSink& sink,
                     DeadLetterSink& dead_letters, RekeyReporter& reporter)
    : options_(options),
      sink_(sink),
      dead_letters_(dead_letters),
      reporter_(reporter),
      keyer_(options.keyer ? options.keyer
                           : NewEventKeyer(options.plan, options.event_bytes_max, options.future_skew_max)),
      pending_(start_offset) {}

size_t RekeyFlow::Apply(std::span<const Record> records) {
  held_by_ = HoldReason::kNone;
  RekeyReport report;
  report.partition = options_.partition;
  size_t taken = 0;
  const int64_t next_offset = this->next_offset();
  for (; taken < records.size() && !rewinding_.load(std::memory_order_acquire); ++taken) {
    const Record& record = records[taken];
    if (record.offset < next_offset) continue;
    if (Handle(record, report) == Step::kHeld) break;
    ++report.records;
    report.bytes += record.key.size() + record.value.size();
  }
  if (report.records > 0 || report.sent > 0 || report.live.counts.events > 0) reporter_.BatchRekeyed(report);
  return taken;
}

RekeyFlow::Step RekeyFlow::Handle(const Record& record, RekeyReport& report) {
  if (record.value_is_null) return Reject({RejectReason::kNullValue, "", "value: null"}, record, report);
  const auto key = keyer_(record);
  if (!key) {
    if (record.event == 0 && MayHoldSeveral(key.error()) && SplitEvents(record.value, events_))
      return HandleSeveral(record, report);
    return Reject(key.error(), record, report);
  }
  if (key->skip != SkipReason::kNone) {
    Pass(record.offset);
    ++report.skipped[static_cast<size_t>(key->skip)];
    if (record.replay == nullptr) {
      ++report.live.counts.events;
      ++report.live.counts.LostBy(LossCause::kSkipped);
    }
    return Step::kTaken;
  }
  return Send(key->key, record, report);
}

// Each event of the record becomes a record, under its own user.
RekeyFlow::Step RekeyFlow::HandleSeveral(const Record& record, RekeyReport& report) {
  if (several_offset_ != record.offset) several_taken_ = 0;
  several_offset_ = record.offset;
  {
    const MutexLock lock(mutex_);
    pending_.Begin(record.offset);
  }
  for (; several_taken_ < events_.size(); ++several_taken_) {
    Record one = record;
    one.value = events_[several_taken_];
    one.event = static_cast<uint32_t>(several_taken_ + 1);
    if (Handle(one, report) == Step::kHeld) return Step::kHeld;
  }
  several_offset_ = -1;
  const MutexLock lock(mutex_);
  pending_.End();
  return Step::kTaken;
}

RekeyFlow::Step RekeyFlow::Send(std::string_view key, const Record& record, RekeyReport& report) {
  uint32_t number = 0;
  bool too_large = false;
  {
    // The offset is pending before the record is sent: its acknowledgement may come at once.
    const MutexLock lock(mutex_);
    too_large = !too_large_.empty() && too_large_.contains({record.offset, record.event});
    if (!too_large) number = pending_.Add(record.offset, record.event);
  }
  if (!too_large) {
    const uint64_t ticket = uint64_t{options_.ticket_tag} << 32 | number;
    const auto taken = sink_.TrySend(key, record, ticket);
    if (taken == KeyedRecordSink::SendResult::kQueued) {
      ++report.sent;
      report.live.counts.events += record.replay == nullptr ? 1u : 0u;
      return Step::kTaken;
    }
    {
      const MutexLock lock(mutex_);
      pending_.TakeBack();
    }
    if (taken == KeyedRecordSink::SendResult::kFull) return Step::kHeld;
  }
  return Reject({RejectReason::kTooLarge, "", "value: longer than the keyed topic takes"}, record, report);
}

RekeyFlow::Step RekeyFlow::Reject(const Rejection& rejection, const Record& record, RekeyReport& report) {
  if (rejection.reason == RejectReason::kSchemaPending) {
    held_by_ = HoldReason::kSchema;
    return Step::kHeld;
  }
  if (!dead_letters_.TrySend({rejection, options_.partition, &record})) {
    held_by_ = HoldReason::kDeadLettersFull;
    return Step::kHeld;
  }
  Pass(record.offset);
  ++report.rejected[static_cast<size_t>(rejection.reason)];
  if (record.replay == nullptr) {
    ++report.live.counts.events;
    report.live.Rejected(rejection);
  }
  reporter_.EventRejected(rejection, options_.partition, record.offset);
  return Step::kTaken;
}

void RekeyFlow::Pass(int64_t offset) {
  const MutexLock lock(mutex_);
  pending_.Pass(offset + 1);
  if (!too_large_.empty())
    too_large_.erase(too_large_.begin(), too_large_.lower_bound({pending_.position(), 0}));
}

void RekeyFlow::ReachedEnd(int64_t end_offset) {
  const MutexLock lock(mutex_);
  pending_.Pass(end_offset);
}

std::optional<int64_t> RekeyFlow::Rewind(Instant now) {
  if (!rewinding_.load(std::memory_order_acquire)) return std::nullopt;
  const MutexLock lock(mutex_);
  if (now < *rewind_due_) return std::nullopt;
  rewind_due_.reset();
  rewinding_.store(false, std::memory_order_release);
  pending_.Rewind();
  several_offset_ = -1;  // all events of a record are sent again
  reporter_.RekeyingRewound(options_.partition, pending_.next_offset());
  return pending_.next_offset();
}

void RekeyFlow::Delivered(std::span<const DeliveryReport> told, Instant now) {
  const MutexLock lock(mutex_);
  for (const auto& [number, delivery] : told) {
    if (delivery == Delivery::kAcknowledged) {
      pending_.Done(number);
      continue;
    }
    if (!pending_.Knows(number)) continue;
    if (delivery == Delivery::kTooLarge)
      too_large_.insert({pending_.OffsetOf(number), pending_.EventOf(number)});
    // A record that is known to be too large needs no wait.
    const Instant due = delivery == Delivery::kTooLarge ? now : now + kTryAgainAfter;
    if (!rewind_due_ || due > *rewind_due_) rewind_due_ = due;
    rewinding_.store(true, std::memory_order_release);
  }
}

int64_t RekeyFlow::position() const {
  int64_t position = 0;
  {
    const MutexLock lock(mutex_);
    position = pending_.position();
  }
  // Asks for letters after the position: the sink knows a letter before its offset is passed.
  const int64_t letter = dead_letters_.OldestUnacknowledged(options_.partition);
  return letter < 0 ? position : std::min(position, letter);
}

int64_t RekeyFlow::next_offset() const {
  const MutexLock lock(mutex_);
  return pending_.next_offset();
}

}  // namespace seen
