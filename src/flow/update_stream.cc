#include "flow/update_stream.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/result.h"

namespace seen {
namespace {
constexpr size_t kHeaderBytesMost = 4096 + 256;  // 16 names of 255 bytes
constexpr size_t kRowsBytesMax = kUpdateBytesMax - kHeaderBytesMost;
constexpr size_t kItemsAtOnce = 16'384;  // of an event, so that its parts fit
constexpr size_t kSpareMax = 4, kSpareBytes = 64 * 1024;
constexpr size_t kSamplesMax = 4'096;
constexpr std::chrono::seconds kSampleEvery{1};
}  // namespace

UpdateStream::UpdateStream(const PartitionState& state)
    : state_(state),
      bytes_max_(state.options().updates->bytes_max),
      from_(state.next_offset()),
      latencies_(state.options().filters.size()) {
  for (size_t i = 0; i < state.options().filters.size(); ++i) {
    if (state.filters().updates >> i & 1) names_.push_back(state.options().filters[i].name);
  }
}

UpdateStream::Batch::Batch(UpdateStream& stream, const Anchor& last_read, Instant visible_at, bool skips)
    : stream_(stream), visible_at_(visible_at), skips_(skips) {
  stream_.mutex_.lock();
  const int64_t next = stream_.state_.next_offset();
  stream_.batch_held_ = {next, last_read};
  if (skips_) stream_.EndRecordAt(next, {-1}, {});
  if (!skips_ && std::exchange(stream_.skipping_, false)) stream_.gap_to_ = stream_.from_;
  if (stream_.from_ == next) stream_.held_ = stream_.batch_held_;
}

UpdateStream::Batch::~Batch() {
  if (added_ >= stream_.state_.next_offset()) [[unlikely]]
    EndPiece();
  if (skips_ && stream_.state_.next_offset() > stream_.from_) {
    stream_.from_ = stream_.state_.next_offset();
    if (!std::exchange(stream_.skipping_, true)) stream_.CountGap("the partition is far behind");
  }
  stream_.mutex_.unlock();
}

void UpdateStream::Batch::Add(FilterMask filters, AdditionKind kind, uint32_t until_s,
                              std::string_view user_id, std::span<const Fingerprint> items, int64_t offset) {
  const FilterMask mask = stream_.Compressed(filters);
  if (mask == 0 || offset < stream_.from_) return;  // or the event is a gap
  added_ = offset;
  if (skips_) return;
  stream_.waiting_.filters = static_cast<FilterMask>(stream_.waiting_.filters | filters);
  const uint64_t user = UpdateUserOf(user_id);
  UpdateRows& rows = stream_.rows_;
  while (!items.empty()) {
    const auto here = items.first(std::min(items.size(), kItemsAtOnce));
    // 16 bytes of a new section, 10 for the user
    const size_t bytes = 26 + here.size() * sizeof(uint32_t);
    if (rows.bytes() + bytes > kRowsBytesMax) [[unlikely]] {
      MakeRoom(offset);
      if (rows.bytes() + bytes > kRowsBytesMax) EndPart(offset);
      if (offset < stream_.from_) return;
    }
    rows.Add(mask, kind, until_s, user, here);
    items = items.subspan(here.size());
  }
}

// Ends the record before the event at `offset`: its rows stay together as long as they fit, and its parts
// hold nothing else.
void UpdateStream::Batch::MakeRoom(int64_t offset) {
  UpdateRows rest;
  stream_.rows_.SplitAtMark(rest);
  if (stream_.from_ < offset) EndRecord(offset);
  stream_.rows_ = std::move(rest);
}

// The batch ends within a record of several events. What was added of it so far becomes a part.
void UpdateStream::Batch::EndPiece() {
  MakeRoom(added_);
  EndPart(added_);
}

// More parts than a record can number, or some weren't sent: the event is a gap.
void UpdateStream::Batch::EndPart(int64_t offset) {
  if (!skips_ && stream_.part_ + 1 < kUpdatePartsMax) return EndRecord(offset);
  stream_.rows_.Clear();
  stream_.part_ = 0;
  stream_.gap_to_ = stream_.from_ = offset + 1;
  stream_.CountGap("an event needs too many records");
}

void UpdateStream::Batch::EndRecord(int64_t to) { stream_.EndRecordAt(to, {-1}, {}); }

// The names are those of the filters with updates alone.
FilterMask UpdateStream::Compressed(FilterMask filters) {
  if (filters == compressed_.first) [[likely]]
    return compressed_.second;
  FilterMask mask = 0;
  for (uint32_t i = 0, bit = 0; i < kFiltersMax; ++i) {
    if ((state_.filters().updates >> i & 1) == 0) continue;
    if (filters >> i & 1) mask = static_cast<FilterMask>(mask | 1u << bit);
    ++bit;
  }
  compressed_ = {filters, mask};
  return mask;
}

// `now`: when it is known, which isn't so within a batch.
void UpdateStream::EndRecordAt(int64_t to, TimeMs as_of, Instant now) {
  if (to < from_ || (to == from_ && rows_.empty() && now == Instant{})) return;
  Record& record = records_.emplace_back();
  record.number = next_number_++;
  record.to = to;
  record.held = held_;
  record.at = now;
  record.items = rows_.items();
  record.waiting = std::exchange(waiting_, {});
  record.is_part = to == from_ && record.items > 0;
  record.is_quiet = to == from_ && record.items == 0;
  if (!spare_.empty()) {
    record.bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  EncodeUpdate(
      {state_.options().partition, state_.generation(), from_, to, as_of, static_cast<uint8_t>(part_)},
      names_, rows_, record.bytes);
  bytes_ += record.bytes.size();
  rows_.Clear();
  if (record.is_part) {
    ++part_;
  } else if (to > from_) {
    part_ = 0;
  }
  from_ = to;
  held_ = batch_held_;
}

void UpdateStream::Step(Instant now, TimeMs wall) {
  const MutexLock lock(mutex_);
  if (now - std::exchange(last_step_, now) > kAbsence) writes_alone_ = false;
  if (state_.next_offset() != stepped_to_ || now - stepped_at_ >= kQuietEvery) {
    // Asked before the offset: what held everything then still does when the offset has grown.
    const AsOf known = state_.GetAsOf(now);
    stepped_to_ = state_.next_offset();
    stepped_at_ = now;
    EndRecordAt(stepped_to_, known.age ? TimeMs{wall.value - known.age->count()} : TimeMs{-1}, now);
  }
  for (Record& record : records_) {
    if (record.at == Instant{}) record.at = now;
  }
  while (!records_.empty() && now - records_.front().at > kPatience)
    DropFront("brokers took none for a minute");
  if (bytes_ + rows_.bytes() > bytes_max_) DropAll("more waits than store.memory_mib has room for");
}

// Numbers may pass 2^32 and begin again at 0.
UpdateStream::Record* UpdateStream::Find(uint32_t number) {
  const uint32_t place = records_.empty() ? 0 : number - records_.front().number;
  return place < records_.size() ? &records_[place] : nullptr;
}

void UpdateStream::CountGap(std::string_view cause) {
  ++figures_.gaps;
  ++new_gaps_;
  gap_cause_ = cause;
}

void UpdateStream::DropFront(std::string_view cause) {
  Record& front = records_.front();
  if (!front.delivered && !front.is_quiet) {
    CountGap(cause);
    gap_to_ = std::max(gap_to_, front.to + (front.is_part ? 1 : 0));
  }
  bytes_ -= front.bytes.size();
  if (spare_.size() < kSpareMax && front.bytes.capacity() <= kSpareBytes)
    spare_.push_back(std::move(front.bytes));
  records_.pop_front();
}

void UpdateStream::DropAll(std::string_view cause) {
  while (!records_.empty()) DropFront(cause);
  if (!rows_.empty()) CountGap(cause);
  rows_.Clear();
  waiting_ = {};
  from_ = std::max(state_.next_offset(), from_ + (part_ > 0 ? 1 : 0));  // an event without its first parts
  gap_to_ = from_;
  part_ = 0;
}

void UpdateStream::Discard() {
  const MutexLock lock(mutex_);
  const auto gaps = std::tuple(figures_.gaps, new_gaps_, gap_cause_);
  DropAll({});
  std::tie(figures_.gaps, new_gaps_, gap_cause_) = gaps;  // the owner sends them
  figures_.problem.clear();
  writes_alone_ = false;
}

std::optional<UpdateStream::Outgoing> UpdateStream::NextUnsent() {
  const MutexLock lock(mutex_);
  const auto next =
      std::find_if(records_.begin(), records_.end(), [](const Record& one) { return !one.sent; });
  if (next == records_.end()) return std::nullopt;
  return Outgoing{next->number, next->bytes};
}

void UpdateStream::Sent(uint32_t number) {
  const MutexLock lock(mutex_);
  if (Record* const found = Find(number)) found->sent = true;
}

void UpdateStream::Delivered(uint32_t number, int64_t offset, Instant now, TimeMs wall,
                             std::string_view refusal) {
  const MutexLock lock(mutex_);
  figures_.problem = refusal;
  Record* const found = Find(number);  // nullptr: it was dropped meanwhile
  if (offset < 0) {
    if (found != nullptr) found->sent = false;
    writes_alone_ = false;  // the broker may have taken it all the same
    return;
  }
  if (std::exchange(writes_alone_, true) && offset > delivered_at_ + 1) {
    const auto between = static_cast<uint64_t>(offset - delivered_at_ - 1);
    foreign_ += between;
    figures_.foreign_records += between;
  }
  // The topic was made anew, or lost its end. Readers that begin there lack what was sent before.
  if (offset <= delivered_at_) {
    samples_.clear();
    gap_to_ = std::max(gap_to_, figures_.sent_to);
    CountGap("the topic was created again, or lost its end");
  }
  delivered_at_ = offset;
  if (found == nullptr) return;
  found->delivered = true;
  const Waiting& waiting = found->waiting;
  for (size_t i = 0; i < latencies_.size() && waiting.events > 0; ++i) {
    if ((waiting.filters & state_.filters().updates) >> i & 1) {
      const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - waiting.visible_at);
      latencies_[i].visible_to_published.Add(since.count(), waiting.events);
      latencies_[i].record_to_published.Add(std::max<int64_t>(0, wall.value - waiting.oldest.value),
                                            waiting.events);
    }
  }
  ++figures_.records;
  figures_.bytes += found->bytes.size();
  figures_.items += found->items;
  // Readers that begin at a part of an event would miss the parts before it.
  const bool is_later =
      samples_.empty() || (found->to >= samples_.back().to && found->at - samples_.back().at >= kSampleEvery);
  if (is_later && !found->is_part) {
    samples_.push_back({found->to, offset, found->at});
    if (samples_.size() > kSamplesMax) samples_.pop_front();
  }
  DropDone();
}

void UpdateStream::TooLarge(uint32_t number, std::string_view refusal) {
  const MutexLock lock(mutex_);
  figures_.problem = refusal;
  Record* const found = Find(number);
  if (found == nullptr) return;
  found->sent = ++found->too_large >= kTries;
  DropDone();
}

void UpdateStream::DropDone() {
  while (!records_.empty() && records_.front().is_done()) {
    if (records_.front().delivered) figures_.sent_to = std::max(figures_.sent_to, records_.front().to);
    DropFront("the topic refuses a record as too large");
  }
}

void UpdateStream::Report(Reporter& reporter) {
  std::vector<Latencies> latencies(state_.options().filters.size());
  uint64_t foreign = 0, gaps = 0;
  std::string cause;
  {
    const MutexLock lock(mutex_);
    latencies.swap(latencies_);
    foreign = std::exchange(foreign_, 0);
    gaps = std::exchange(new_gaps_, 0);
    if (gaps > 0) cause = figures_.problem.empty() ? std::string(gap_cause_) : figures_.problem;
  }
  if (gaps > 0) reporter.UpdatesDropped(state_.options().partition, gaps, cause);
  if (foreign > 0) reporter.ForeignUpdates(state_.options().partition, foreign);
  for (FilterIndex i; i < latencies.size(); i = FilterIndex(i + 1)) {
    if (state_.filters().updates >> i & 1)
      reporter.SnapshotsAcknowledged(i, latencies[i].visible_to_published, latencies[i].record_to_published);
  }
}

size_t UpdateStream::Outstanding() const {
  const MutexLock lock(mutex_);
  return records_.size() + (rows_.empty() ? 0 : 1);
}

std::optional<UpdateStream::Held> UpdateStream::HeldAt() const {
  const MutexLock lock(mutex_);
  const auto first = std::find_if(records_.begin(), records_.end(),
                                  [](const Record& one) { return !one.is_quiet && !one.delivered; });
  if (first != records_.end()) return first->held;
  if (from_ < state_.next_offset()) return held_;
  return std::nullopt;
}

int64_t UpdateStream::TopicOffsetFor(int64_t published_to) {
  const MutexLock lock(mutex_);
  while (samples_.size() > 1 && samples_[1].to <= published_to) samples_.pop_front();
  return samples_.empty() || samples_.front().to > published_to ? -1 : samples_.front().offset;
}

int64_t UpdateStream::GapTo() const {
  const MutexLock lock(mutex_);
  return gap_to_;
}

UpdateFigures UpdateStream::GetFigures() const {
  const MutexLock lock(mutex_);
  UpdateFigures figures = figures_;
  figures.outstanding_bytes = bytes_ + rows_.bytes();
  return figures;
}

}  // namespace seen
