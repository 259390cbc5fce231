#include "flow/record_block.h"

#include <algorithm>
#include <cstring>

#include "base/probed_cells.h"
#include "flow/unexposed_log.h"

namespace seen {
namespace {
constexpr size_t kRecordsAhead = 4;
constexpr size_t kCacheLine = 64;

// Another core has just written the value. The hardware prefetches the rest once a few lines have been read.
void PrefetchValue(std::string_view value) {
  for (size_t at = 0; at < std::min(value.size(), 4 * kCacheLine); at += kCacheLine) {
    PrefetchLine(value.data() + at);
  }
}
}  // namespace

RecordBlock::RecordBlock(const PartitionOptions& options, const FilterMasks& filters,
                         PartitionJournal* journal)
    : options_(options),
      filters_(filters),
      rules_(options, filters),
      journal_(journal),
      decoder_(options.event_bytes_max, options.plan, MissingSchema::kGiveUp),
      ids_(std::make_unique<char[]>(kRecordsMax * kIdBytesMax)) {}

size_t RecordBlock::Read(std::span<const Record> records, int64_t next_offset, const Tail& tail, TimeMs now) {
  exposures_.clear();
  items_.clear();
  created_.clear();
  served_.clear();
  skipped_items_.clear();
  id_bytes_ = 0;
  if (journal_) journal_->BeginBlock();
  rejection_.reset();
  size_t read = 0;
  for (; read < records.size() && exposures_.size() < kRecordsMax; ++read) {
    const Record& record = records[read];
    if (read + kRecordsAhead < records.size()) PrefetchValue(records[read + kRecordsAhead].value);
    if (record.offset < next_offset) continue;
    rejection_ = ReadRecord(record, static_cast<uint32_t>(read), tail, now);
    if (rejection_) [[unlikely]]
      break;
  }
  return read;
}

void RecordBlock::Skip(SkipReason reason, uint32_t record) {
  Exposure& skipped = exposures_.emplace_back();
  skipped.skip = reason;
  skipped.record = record;
}

SkippedItems RecordBlock::skipped_items(size_t records) const {
  SkippedItems sum;
  for (const auto& [record, skipped] : skipped_items_) {
    if (record >= records) break;
    sum.without_id += skipped.without_id;
    sum.by_condition += skipped.by_condition;
  }
  return sum;
}

std::optional<Rejection> RecordBlock::ReadRecord(const Record& record, uint32_t number, const Tail& tail,
                                                 TimeMs now) {
  if (record.value_is_null) [[unlikely]] {
    if (record.replay == nullptr || record.replay->kind == ReplayNote::Kind::kRecord)
      return Rejection{RejectReason::kNullValue, "", "value: null"};
    Skip(SkipReason::kReplayMark, number);
    return std::nullopt;
  }
  auto decoded = decoder_.Decode(record.value);
  if (!decoded) return std::move(decoded.error());
  Event& event = *decoded;
  if (event.skipped_items.without_id + event.skipped_items.by_condition > 0) [[unlikely]]
    skipped_items_.emplace_back(number, event.skipped_items);
  if (event.skip != SkipReason::kNone) [[unlikely]] {
    Skip(event.skip, number);
    return std::nullopt;
  }
  // This clock may be behind, so it alone makes no event one of the future.
  const TimeMs written_at = record.timestamp.value >= 0 ? record.timestamp : now;
  if (auto rejection = TooFarAhead(event, written_at, options_.future_skew_max)) [[unlikely]] {
    if (!IsOwnEvent(record.value)) return rejection;
    // The daemon has confirmed this event, but its clock was wrong. So the event gets the time of its record.
    event.exposed_at = written_at;
  }
  const auto covering = static_cast<FilterMask>(filters_.all & event.filters);
  if (covering == 0 && !options_.unexposed) [[unlikely]] {
    Skip(SkipReason::kNoFilter, number);
    return std::nullopt;
  }
  // The event's views last only until the next event is decoded.
  char* const user_id = ids_.get() + id_bytes_;
  std::memcpy(user_id, event.user_id.data(), event.user_id.size());
  id_bytes_ += event.user_id.size();
  const Exposure common{UserKeyOf(event.user_id),
                        user_id,
                        static_cast<uint16_t>(event.user_id.size()),
                        0,
                        PartitionHash(options_.partitioner, event.user_id),
                        0,
                        0,
                        event.exposed_at,
                        number,
                        rules_.ChangeOf(event.kind),
                        covering == 0 ? SkipReason::kNoFilter : SkipReason::kNone,
                        nullptr};
  const Record* judged = &record;
  Record dated;
  const bool has_time = HasTime(record.timestamp, now);
  if (!has_time) [[unlikely]] {
    dated = record;
    dated.timestamp = WrittenAt(event.exposed_at, now);
    judged = &dated;
  }
  const bool own_times =
      std::any_of(event.details.begin(), event.details.end(),
                  [](const ItemDetails& details) { return details.exposed_at.has_value(); });
  if (!own_times) [[likely]] {
    AddExposure(event, common, covering, *judged, tail);
    return std::nullopt;
  }
  // Each run of items with one time is an exposure of its own.
  const auto time_of = [&](size_t item) { return event.details[item].exposed_at.value_or(event.exposed_at); };
  for (size_t first = 0, end = 0; first < event.items.size(); first = end) {
    for (end = first + 1; end < event.items.size() && time_of(end) == time_of(first);) ++end;
    Event part = event;
    part.exposed_at = time_of(first);
    part.items = event.items.subspan(first, end - first);
    part.details = event.details.subspan(first, end - first);
    if (!has_time) dated.timestamp = WrittenAt(part.exposed_at, now);
    AddExposure(part, common, covering, *judged, tail);
  }
  return std::nullopt;
}

void RecordBlock::AddExposure(const Event& event, const Exposure& common, FilterMask covering,
                              const Record& record, const Tail& tail) {
  const FilterMask filters = rules_.FiltersOf(event, covering, record.timestamp);
  Exposure& exposure = exposures_.emplace_back(common);
  exposure.filters = filters;
  exposure.exposed_at = event.exposed_at;
  exposure.items_from = static_cast<uint32_t>(items_.size());
  for (const ExposedItem& item : event.items) items_.push_back(item.fingerprint);
  exposure.items_to = static_cast<uint32_t>(items_.size());
  tail.PrefetchIndex(exposure.user);
  if ((filters & filters_.similar) != 0) [[unlikely]] {
    for (const ExposedItem& item : event.items) options_.groups->Prefetch(item.fingerprint);
  }
  if (event.kind != EventKind::kErased && (options_.unexposed || filters_.by_creation != 0)) [[unlikely]]
    ReadDetails(event);
  if (journal_) [[unlikely]]
    journal_->Note(exposure.record, event, filters, record, exposure.user);
}

// Reads the details of the event just added, which is the last of the block.
void RecordBlock::ReadDetails(const Event& event) {
  const ItemDetails none;
  const auto first = static_cast<uint32_t>(items_.size() - event.items.size());
  for (size_t i = 0; i < event.items.size(); ++i) {
    const ItemDetails& details = event.details.empty() ? none : event.details[i];
    if (filters_.by_creation != 0) {
      // An item without a time of creation, or with one after the exposure, gets the time of the exposure.
      const TimeMs created =
          details.created_at ? std::min(*details.created_at, event.exposed_at) : event.exposed_at;
      created_.resize(first + i, DayOf(event.exposed_at));
      created_.push_back(DayOf(created));
    }
    if (options_.unexposed && event.kind == EventKind::kServed) {
      // The place among the items of the record, which may be several events of the block.
      const uint32_t record = exposures_.back().record;
      size_t place = i;
      for (auto one = exposures_.rbegin() + 1; one != exposures_.rend() && one->record == record; ++one)
        place += one->items_to - one->items_from;
      served_.push_back({record, static_cast<uint16_t>(place), first + static_cast<uint32_t>(i),
                         UnexposedText(event.user_id, event.items[i].item_id, event.exposed_at, event.scene,
                                       details, event.request_id)});
    }
  }
}

void RecordBlock::FindSimilar(BatchReport& report) {
  similar_.clear();
  similar_ends_.clear();
  for (const Exposure& exposure : exposures_) {
    const bool joins = exposure.kind == ChangeKind::kExposed || exposure.kind == ChangeKind::kRemoved;
    if (!joins || (exposure.filters & filters_.similar) == 0) continue;
    similar_ends_.resize(exposure.items_from, static_cast<uint32_t>(similar_.size()));
    for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
      const size_t before = similar_.size();
      options_.groups->AppendSimilar(items_[i], similar_);
      report.joined += similar_.size() > before ? 1u : 0u;
      similar_ends_.push_back(static_cast<uint32_t>(similar_.size()));
    }
    report.looked_up += exposure.items_to - exposure.items_from;
  }
}

std::span<const Fingerprint> RecordBlock::SimilarTo(uint32_t first, uint32_t end) const {
  if (first == end || similar_ends_.size() < end) return {};
  const uint32_t from = first == 0 ? 0 : similar_ends_[first - 1];
  return std::span(similar_).subspan(from, similar_ends_[end - 1] - from);
}

}  // namespace seen
