#include "bulk_load/history_fill.h"

#include <fmt/format.h>

#include <algorithm>

#include "rows/keys.h"

namespace seen {
namespace {

// Shares of the memory, 1/N each. Four parts: the tail that fills, the tail that is written, the rows that
// are folded, and the rows that are read back.
constexpr uint64_t kFillTailShare = 4;
constexpr uint64_t kFillFoldShare = 4;
constexpr uint64_t kFillTailBytesMin = 1 << 20;

PartitionOptions FlowOf(PartitionOptions options, const HistoryFill::Options& fill) {
  options.covered = static_cast<FilterMask>(1U << fill.filter);
  options.tail_bytes_max = std::max(fill.memory_bytes / kFillTailShare, kFillTailBytesMin);
  options.publish_entries_max = 1;  // don't follow users: marks publish them
  options.publish_incomplete = true;
  // These belong to the partition as a whole, so a fill of one filter leaves them out.
  options.journal.reset();
  options.unexposed.reset();
  options.recorder.reset();
  options.retired_filters.clear();
  options.retired_topics.clear();
  return options;
}

StoredLimits LimitsOf(const PartitionOptions& options) {
  std::vector<DeltaLimits> limits;
  for (const FilterPolicy& filter : options.filters) {
    limits.resize(std::max<size_t>(limits.size(), filter.id.number() + size_t{1}));
    limits[filter.id.number()] = filter.limits;
  }
  return StoredLimits(std::move(limits));
}

}  // namespace

/// Splits sorted rows into pages, and skips the rows of other filters.
class HistoryFill::Pages {
 public:
  Pages(FilterId filter, size_t bytes_max, const WritePage& write)
      : filter_(filter), bytes_max_(bytes_max), write_(write) {}

  Status Add(const Row& row) {
    const auto table = row.key.empty() ? Table::kPosition : static_cast<Table>(row.key.front());
    if (table == Table::kDeltas || table == Table::kMarks) {
      const auto user = UserOf(table, row.key);
      if (!user) return Fail(user.error());
      if (user->filter != filter_) return {};
      if (table == Table::kDeltas) {
        page_.users.push_back({*user, std::string(row.value)});
      } else {
        page_.marks.push_back({*user, std::string(row.value)});
      }
    } else if (table == Table::kEndings) {
      const auto ending = EndingOf(row.key);
      if (!ending) return Fail(ending.error());
      if (ending->user.filter != filter_) return {};
      page_.endings.push_back(*ending);
    } else {
      return {};
    }
    bytes_ += sizeof(FillPage::User) + row.value.size();
    return bytes_ >= bytes_max_ ? End() : Status();
  }
  Status End() {
    if (page_.empty()) return {};
    if (Status written = write_(page_); !written) return written;
    page_ = FillPage();
    bytes_ = 0;
    return {};
  }

 private:
  const FilterId filter_;
  const size_t bytes_max_;
  const WritePage& write_;
  FillPage page_;
  size_t bytes_ = 0;
};

HistoryFill::HistoryFill(const PartitionOptions& flow, const Options& options, const Clock& clock)
    : options_(options),
      filter_(flow.filters[options.filter].id),
      builder_(FlowOf(flow, options), LimitsOf(flow), options.folder, options.from, totals_, clock) {}

Status HistoryFill::Apply(std::span<const Record> records) {
  if (Status applied = builder_.Apply(records); !applied) return applied;
  if (builder_.runs().bytes() < options_.memory_bytes / kFillFoldShare) return {};
  return builder_.runs().Spill();
}

Status HistoryFill::ForEachPage(const WritePage& write) {
  if (Status written = builder_.Checkpoint(); !written) return written;
  Pages pages(filter_, options_.page_bytes, write);
  Status visited = builder_.runs().ForEach([this](FilterId filter) { return builder_.HorizonOf(filter); },
                                           [&](const Row& row) { return pages.Add(row); });
  if (!visited) return visited;
  return pages.End();
}

std::string HistoryFill::WhatIsMissing() const {
  const uint64_t records = totals_.unknown_schema.load(std::memory_order_relaxed);
  if (records == 0) return {};
  return fmt::format(
      "left out {} records, because the schema registry doesn't know their schemas, or they can't be used: "
      "see troubles of /v1/status. If such records counted when they were new, repair the registry, and "
      "fill again under another id",
      records);
}

std::optional<TimeMs> HistoryFill::complete_since() const {
  for (const FilterWholeness& filter : builder_.position().filters) {
    if (filter.filter == filter_ && !filter.awaits_record) return filter.complete_since;
  }
  return std::nullopt;
}

}  // namespace seen
