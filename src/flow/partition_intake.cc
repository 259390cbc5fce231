// Records into the tail: decoded some at a time, then appended. The worker's side of a partition.
#include <algorithm>
#include <cstring>

#include "flow/event_checks.h"
#include "flow/partition_flow.h"
#include "model/record_hash.h"

namespace seen {
namespace {
constexpr size_t kMisroutedIdBytes = 16;
constexpr size_t kRecordsAhead = 4;
constexpr size_t kCacheLine = 64;

// Another core has just written it. The hardware follows once a few lines have been read.
void PrefetchValue(std::string_view value) {
  for (size_t at = 0; at < std::min(value.size(), 4 * kCacheLine); at += kCacheLine) {
    __builtin_prefetch(value.data() + at);
  }
}
}  // namespace

bool PartitionFlow::IsBehind(const Record& newest) const {
  return LagMessages() > options_.behind_lag_messages &&
         clock_.WallNow().value - newest.timestamp.value > options_.behind_age.count();
}

Result<size_t> PartitionFlow::Apply(std::span<const Record> records) {
  if (records.empty()) return size_t{0};
  BatchReport report;
  report.partition = options_.partition;
  ++batch_number_;
  defer_ = IsBehind(records.back()) || !publish_.HasRoom();
  size_t taken = 0;
  while (taken < records.size()) {
    const auto rest = records.subspan(taken);
    const auto read = ReadBlock(rest);
    if (!read) return Fail(read.error());
    const size_t appended = AppendBlock(rest, *read, report);
    taken += appended;
    if (appended < *read) break;  // the tail is full
    if (block_rejection_) {
      if (!Reject(records[taken], *block_rejection_, report)) break;
      NoteTaken(records[taken++], report);
    }
  }
  if (report.records > 0) {
    const Record& last = records[taken - 1];
    anchor_ = {last.offset, last.timestamp, RecordHash(last.key, last.value)};
    const int64_t now = clock_.WallNow().value;
    const Instant visible_at = clock_.Now();
    for (const Record& record : records.first(taken)) {
      report.record_to_visible.Add(std::max<int64_t>(0, now - record.timestamp.value));
    }
    for (const TimeMs exposed_at : exposed_) {
      report.exposed_to_visible.Add(std::max<int64_t>(0, now - exposed_at.value));
    }
    if (defer_) {
      for (size_t i = 0; i < dirty_.size(); ++i) {
        dirty_slots_[i]->deferred = static_cast<FilterMask>(dirty_slots_[i]->deferred | dirty_[i].filters);
      }
    } else {
      publish_.AddDirty(dirty_, visible_at);
    }
    NoteCaughtUp();
    reporter_.BatchApplied(report);
  }
  dirty_.clear();
  dirty_slots_.clear();
  exposed_.clear();
  return taken;
}

// Decodes records up to a block's length, or up to one that must be rejected: those before it come first.
Result<size_t> PartitionFlow::ReadBlock(std::span<const Record> records) {
  block_.clear();
  block_items_.clear();
  block_created_.clear();
  block_served_.clear();
  block_id_bytes_ = 0;
  if (journal_) journal_->BeginBlock();
  block_rejection_.reset();
  const int64_t next_offset = next_offset_.load(std::memory_order_relaxed);
  size_t read = 0;
  for (; read < records.size() && block_.size() < kBlockRecords; ++read) {
    const Record& record = records[read];
    if (read + kRecordsAhead < records.size()) PrefetchValue(records[read + kRecordsAhead].value);
    if (!anchor_is_checked_) [[unlikely]] {
      if (Status checked = CheckAnchor(record); !checked) return Fail(checked.error());
    }
    if (record.offset < next_offset) continue;
    block_rejection_ = ReadRecord(record, static_cast<uint32_t>(read));
    if (block_rejection_) [[unlikely]]
      break;
  }
  return read;
}

void PartitionFlow::Skip(SkipReason reason, uint32_t record) {
  Exposure& skipped = block_.emplace_back();
  skipped.skip = reason;
  skipped.record = record;
}

std::optional<Rejection> PartitionFlow::ReadRecord(const Record& record, uint32_t number) {
  if (record.value_is_null) return Rejection{RejectReason::kNullValue, "", "value: null"};
  auto decoded = decoder_.Decode(record.value);
  if (!decoded) return std::move(decoded.error());
  const Event& event = *decoded;
  if (event.skip != SkipReason::kNone) [[unlikely]] {
    Skip(event.skip, number);
    return std::nullopt;
  }
  if (auto rejection = TooFarAhead(event, record.timestamp, options_.future_skew_max)) [[unlikely]]
    return rejection;
  const auto covering = static_cast<FilterMask>(all_filters_ & event.filters);
  if (covering == 0 && !unexposed_) [[unlikely]] {
    Skip(SkipReason::kNoFilter, number);
    return std::nullopt;
  }
  const FilterMask filters = FiltersOf(event, covering, record.timestamp);
  // The event's views last only until the next one is decoded.
  char* const user_id = block_ids_.get() + block_id_bytes_;
  std::memcpy(user_id, event.user_id.data(), event.user_id.size());
  block_id_bytes_ += event.user_id.size();
  const auto items_from = static_cast<uint32_t>(block_items_.size());
  for (const ExposedItem& item : event.items) block_items_.push_back(item.fingerprint);
  block_.push_back({UserKeyOf(event.user_id), user_id, static_cast<uint16_t>(event.user_id.size()), filters,
                    PartitionHash(options_.partitioner, event.user_id), items_from,
                    static_cast<uint32_t>(block_items_.size()), event.exposed_at, number,
                    ChangeOf(event.kind), covering == 0 ? SkipReason::kNoFilter : SkipReason::kNone,
                    nullptr});
  tail_->PrefetchIndex(block_.back().user);
  if ((filters & similar_) != 0) [[unlikely]] {
    for (const ExposedItem& item : event.items) options_.groups->Prefetch(item.fingerprint);
  }
  if (event.kind != EventKind::kErased && (unexposed_ || by_creation_ != 0)) [[unlikely]]
    ReadDetails(event);
  if (journal_) [[unlikely]]
    journal_->Note(number, event, filters, record, block_.back().user);
  return std::nullopt;
}

// How many of the `read` records were taken: fewer when the tail is full.
size_t PartitionFlow::AppendBlock(std::span<const Record> records, size_t read, BatchReport& report) {
  if (TailIsFull()) return block_.empty() ? read : block_.front().record;
  for (const Exposure& exposure : block_) tail_->PrefetchSlot(exposure.user);
  if (similar_ != 0) [[unlikely]] {
    for (const Fingerprint item : block_items_) options_.groups->PrefetchLikes(item);
  }
  for (Exposure& exposure : block_) {
    if (exposure.filters == 0) continue;
    exposure.slot =
        &tail_->SlotOf(exposure.user, {exposure.user_id, exposure.user_id_bytes}, exposure.id_check);
    tail_->PrefetchBlock(*exposure.slot);
  }
  if (similar_ != 0) [[unlikely]]
    JoinBlock(report);
  for (const Exposure& exposure : block_) {
    if (TailIsFull()) return exposure.record;
    Append(exposure, records[exposure.record], report);
    NoteTaken(records[exposure.record], report);
  }
  return read;
}

// What the block's items are like, as far as their events concern filters that record it. An item that
// nothing is known of is like nothing; nobody waits.
void PartitionFlow::JoinBlock(BatchReport& report) {
  block_similar_.clear();
  block_similar_ends_.clear();
  for (const Exposure& exposure : block_) {
    const bool joins = exposure.kind == ChangeKind::kExposed || exposure.kind == ChangeKind::kRemoved;
    if (!joins || (exposure.filters & similar_) == 0) continue;
    block_similar_ends_.resize(exposure.items_from, static_cast<uint32_t>(block_similar_.size()));
    for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
      const size_t before = block_similar_.size();
      options_.groups->AppendSimilar(block_items_[i], block_similar_);
      report.joined += block_similar_.size() > before ? 1u : 0u;
      block_similar_ends_.push_back(static_cast<uint32_t>(block_similar_.size()));
    }
    report.looked_up += exposure.items_to - exposure.items_from;
  }
}

// Of the items [first_item, end_item) of the block.
void PartitionFlow::AppendSimilar(const Exposure& exposure, uint32_t first_item, uint32_t end_item,
                                  ChangeKind kind, FilterMask filters) {
  if (filters == 0 || first_item == end_item || block_similar_ends_.size() < end_item) return;
  const auto second = static_cast<uint32_t>(exposure.exposed_at.value / 1000);
  const uint32_t from = first_item == 0 ? 0 : block_similar_ends_[first_item - 1];
  for (uint32_t i = from; i < block_similar_ends_[end_item - 1]; ++i) {
    tail_->Append(*exposure.slot, {block_similar_[i], second, kind}, filters);
  }
}

void PartitionFlow::Append(const Exposure& exposure, const Record& record, BatchReport& report) {
  if (unexposed_) [[unlikely]]
    NoteUnexposed(exposure, record);
  if (exposure.skip != SkipReason::kNone) [[unlikely]] {
    ++report.skipped[static_cast<size_t>(exposure.skip)];
    return;
  }
  const auto expected =
      static_cast<int32_t>(exposure.id_check % static_cast<uint32_t>(options_.partition_count));
  if (expected != options_.partition) [[unlikely]] {
    ++report.misrouted;
    NoteMisrouted(record, {exposure.user_id, exposure.user_id_bytes}, expected);
  }
  const uint32_t items = exposure.items_to - exposure.items_from;
  if (exposure.filters == 0) {
    report.too_old += items;
    return;
  }
  Tail::UserSlot& slot = *exposure.slot;
  if (slot.ids_met) [[unlikely]] {
    slot.ids_met = false;
    reporter_.UserKeysMet(options_.partition);
  }
  const auto second = static_cast<uint32_t>(exposure.exposed_at.value / 1000);
  if (exposure.kind == ChangeKind::kExposed) [[likely]] {
    const auto plain = static_cast<FilterMask>(exposure.filters & ~by_creation_);
    for (uint32_t i = exposure.items_from; i < exposure.items_to && plain != 0; ++i) {
      tail_->Append(slot, {block_items_[i], second, ChangeKind::kExposed}, plain);
    }
    if ((plain & similar_) != 0) [[unlikely]] {
      AppendSimilar(exposure, exposure.items_from, exposure.items_to, ChangeKind::kSimilar,
                    static_cast<FilterMask>(plain & similar_));
    }
    if (plain != exposure.filters) [[unlikely]]
      AppendByCreation(exposure, record);
    report.events += items;
    exposed_.push_back(exposure.exposed_at);
  } else {
    AppendOther(exposure, second, report);
  }
  if (journal_) [[unlikely]]
    journal_->Append(exposure.record, exposure.user);
  NoteDirty(slot, static_cast<FilterMask>(published_filters_ & exposure.filters), record.timestamp);
}

void PartitionFlow::NoteTaken(const Record& record, BatchReport& report) {
  if (record.timestamp.value > partition_time_ms_.load(std::memory_order_relaxed)) {
    partition_time_ms_.store(record.timestamp.value, std::memory_order_release);
  }
  // Readers may find more than the offset says, never less.
  next_offset_.store(record.offset + 1, std::memory_order_release);
  ++report.records;
  report.bytes += record.key.size() + record.value.size();
}

void PartitionFlow::NoteDirty(Tail::UserSlot& slot, FilterMask filters, TimeMs record_timestamp) {
  if (filters == 0) return;
  if (slot.dirty_batch == batch_number_) {
    // Its earlier records of this batch may have been too old for some of the filters.
    dirty_[slot.dirty_index].filters = static_cast<FilterMask>(dirty_[slot.dirty_index].filters | filters);
    return;
  }
  slot.dirty_batch = batch_number_;
  slot.dirty_index = static_cast<uint32_t>(dirty_.size());
  dirty_slots_.push_back(&slot);
  dirty_.push_back({slot.key, filters, record_timestamp});
}

bool PartitionFlow::Reject(const Record& record, const Rejection& rejection, BatchReport& report) {
  dead_letters_full_ = !dead_letters_.TrySend({rejection, options_.partition, &record});
  if (dead_letters_full_) return false;
  rejected_.push_back({record.offset, record.timestamp, RecordHash(record.key, record.value)});
  ++report.rejected[static_cast<size_t>(rejection.reason)];
  reporter_.EventRejected(rejection, options_.partition, record.offset);
  return true;
}

void PartitionFlow::NoteMisrouted(const Record& record, std::string_view user_id, int32_t expected) {
  reporter_.EventMisrouted(options_.partition, expected, record.offset);
  const std::lock_guard lock(status_mutex_);
  ++misrouted_;
  misrouted_last_ = {record.offset, expected, std::string(user_id.substr(0, kMisroutedIdBytes))};
}

}  // namespace seen
