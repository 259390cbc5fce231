// What becomes of events of each kind, beyond the exposures of a default filter.
#include <algorithm>

#include "flow/partition_flow.h"

namespace seen {

// What an event of the kind does to a seen set.
ChangeKind PartitionFlow::ChangeOf(EventKind kind) const {
  switch (kind) {
    case EventKind::kExposed:
      return ChangeKind::kExposed;
    case EventKind::kServed:
      return ChangeKind::kServed;
    case EventKind::kRemoved:
      return ChangeKind::kRemoved;
    case EventKind::kErased:
      return ChangeKind::kErased;
  }
  return static_cast<ChangeKind>(options_.kinds[static_cast<uint8_t>(kind) - kDeclaredKindFirst]);
}

// Those of the covering filters that the event changes something in.
FilterMask PartitionFlow::FiltersOf(const Event& event, FilterMask covering, TimeMs record_timestamp) const {
  // However old: bytes from before the window are dropped late.
  if (event.kind == EventKind::kErased) return all_filters_;
  FilterMask filters = covering;
  for (size_t i = 0; i < options_.filters.size(); ++i) {
    if (!Concerns(options_.filters[i], event, record_timestamp)) {
      filters = static_cast<FilterMask>(filters & ~(1u << i));
    }
  }
  return filters;
}

bool PartitionFlow::Concerns(const FilterPolicy& filter, const Event& event, TimeMs record_timestamp) const {
  switch (event.kind) {
    case EventKind::kExposed:
      return !filter.IsTooOld(event.exposed_at, record_timestamp);
    case EventKind::kServed:
      return !filter.ServedIsTooOld(event.exposed_at, record_timestamp);
    case EventKind::kRemoved: {
      // From before all windows there is nothing left to remove.
      int32_t days = filter.window_days;
      for (const KindPolicy& kind : filter.kinds) days = std::max(days, kind.window_days);
      return DayOf(event.exposed_at) >= DayOf(record_timestamp) - days;
    }
    case EventKind::kErased:
      return true;
  }
  const auto number = static_cast<uint8_t>(ChangeOf(event.kind));
  const auto kind = std::find_if(filter.kinds.begin(), filter.kinds.end(),
                                 [&](const KindPolicy& declared) { return declared.number == number; });
  return kind != filter.kinds.end() && DayOf(event.exposed_at) >= DayOf(record_timestamp) - kind->window_days;
}

// Of the event just decoded, which is the last of the block.
void PartitionFlow::ReadDetails(const Event& event) {
  const ItemDetails none;
  for (size_t i = 0; i < event.items.size(); ++i) {
    const ItemDetails& details = event.details.empty() ? none : event.details[i];
    if (by_creation_ != 0) {
      // Without a time of creation, or with one from the future, it goes by the exposure's.
      const TimeMs created =
          details.created_at ? std::min(*details.created_at, event.exposed_at) : event.exposed_at;
      block_created_.resize(block_items_.size() - event.items.size() + i, DayOf(event.exposed_at));
      block_created_.push_back(DayOf(created));
    }
    if (unexposed_ && event.kind == EventKind::kServed) {
      block_served_.push_back({block_.back().record, static_cast<uint16_t>(i),
                               UnexposedText(event.user_id, event.items[i].item_id, event.exposed_at,
                                             event.scene, details, event.request_id)});
    }
  }
}

void PartitionFlow::AppendByCreation(const Exposure& exposure, const Record& record) {
  const Day shown = DayOf(exposure.exposed_at);
  for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
    const Day created = i < block_created_.size() ? block_created_[i] : shown;
    FilterMask filters = 0;
    for (size_t at = 0; at < options_.filters.size(); ++at) {
      const bool by_creation = (by_creation_ & exposure.filters) >> at & 1;
      if (by_creation && !options_.filters[at].IsTooOld(StartOf(created), record.timestamp)) {
        filters = static_cast<FilterMask>(filters | 1u << at);
      }
    }
    if (filters == 0) continue;
    const auto packed =
        static_cast<uint32_t>(created.since_epoch) << 16 | static_cast<uint32_t>(shown.since_epoch);
    tail_->Append(*exposure.slot, {block_items_[i], packed, ChangeKind::kExposedOfCreation}, filters);
    AppendSimilar(exposure, i, i + 1, ChangeKind::kSimilar, static_cast<FilterMask>(filters & similar_));
  }
}

void PartitionFlow::AppendOther(const Exposure& exposure, uint32_t second, BatchReport& report) {
  Tail::UserSlot& slot = *exposure.slot;
  const uint32_t items = exposure.items_to - exposure.items_from;
  if (exposure.kind == ChangeKind::kErased) {
    tail_->Append(slot, {{}, second, ChangeKind::kErased}, exposure.filters);
    tail_has_erased_ = true;
    ++report.erased;
    return;
  }
  for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
    tail_->Append(slot, {block_items_[i], second, exposure.kind}, exposure.filters);
  }
  if (exposure.kind == ChangeKind::kRemoved) {
    AppendSimilar(exposure, exposure.items_from, exposure.items_to, ChangeKind::kRemoved,
                  static_cast<FilterMask>(exposure.filters & similar_));
    report.removed += items;
  } else if (exposure.kind == ChangeKind::kServed) {
    tail_has_served_ = true;
    report.served += items;
  } else {
    report.declared += items;
  }
}

void PartitionFlow::NoteUnexposed(const Exposure& exposure, const Record& record) {
  const int64_t second = exposure.exposed_at.value / 1000;
  if (exposure.kind == ChangeKind::kServed) {
    for (const StagedServed& staged : block_served_) {
      if (staged.record != exposure.record) continue;
      unexposed_log_->AddServed(exposure.user, block_items_[exposure.items_from + staged.place], second,
                                record.offset, staged.place, staged.text);
    }
  } else if (exposure.kind == ChangeKind::kExposed) {
    const int64_t partition_second =
        std::max(partition_time_ms_.load(std::memory_order_relaxed), record.timestamp.value) / 1000;
    for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
      unexposed_log_->AddExposed(exposure.user, block_items_[i], second, partition_second);
    }
  } else if (exposure.kind == ChangeKind::kErased) {
    unexposed_log_->AddErased(exposure.user);
  }
}

bool PartitionFlow::TailIsFull() const {
  uint64_t bytes = tail_->bytes();
  if (unexposed_log_) bytes += unexposed_log_->bytes();
  if (journal_) bytes += journal_->bytes();
  return bytes >= options_.tail_bytes_max;
}

}  // namespace seen
