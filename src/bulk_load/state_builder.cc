#include "bulk_load/state_builder.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "config/flow_options.h"
#include "decode/event_decoder.h"
#include "flow/event_rules.h"

namespace seen {
namespace {

constexpr size_t kBatchesOfAGroup = 16;
// Shares of the memory, 1/N each: two tails per partition, the rows being folded, and these rows again during
// writing.
constexpr uint64_t kTailShare = 5;
constexpr uint64_t kFoldShare = 4;
constexpr uint64_t kTailBytesMin = 1 << 20;

}  // namespace

/// A wall clock that stands still, so that the same history gives the same state.
class StateBuilder::FixedClock final : public Clock {
 public:
  explicit FixedClock(TimeMs now) : now_(now) {}
  TimeMs WallNow() const override { return now_; }
  Instant Now() const override { return SystemClock().Now(); }

 private:
  const TimeMs now_;
};

/// Lines that one thread decodes together.
struct StateBuilder::Batch {
  struct Line {
    size_t at;
    size_t bytes;
    LinePlace place;
  };
  std::string text;
  std::vector<Line> lines;
  // The results of decoding.
  std::vector<std::vector<Record>> records;  // by partition; views of `text` and `ids`
  std::deque<std::string> ids;               // ids that don't stand in the text unchanged
  std::vector<RejectedLine> rejected;
  BuildCounts counts;

  void Clear() {
    text.clear();
    lines.clear();
    for (auto& of : records) of.clear();
    ids.clear();
    rejected.clear();
    counts = {};
  }
};

struct StateBuilder::Group {
  std::vector<Batch> batches = std::vector<Batch>(kBatchesOfAGroup);
  size_t used = 1;

  void Clear() {
    for (Batch& batch : batches) batch.Clear();
    used = 1;
  }
};

Status InParallel(unsigned threads, size_t tasks, const std::function<Status(size_t)>& run) {
  std::atomic<size_t> next{0};
  std::vector<Status> outcomes(threads);
  const auto work = [&](size_t thread) {
    for (size_t task = next++; task < tasks && outcomes[thread]; task = next++) outcomes[thread] = run(task);
  };
  {
    std::vector<std::jthread> others;
    for (size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  }
  for (Status& outcome : outcomes) {
    if (!outcome) return outcome;
  }
  return {};
}

StateBuilder::StateBuilder(const Options& options, std::shared_ptr<const EventPlan> plan,
                           StoreDescriptor descriptor)
    : options_(options),
      plan_(std::move(plan)),
      descriptor_(std::move(descriptor)),
      clock_(std::make_unique<FixedClock>(options.as_of)),
      totals_(std::make_unique<BuildTotals>()),
      filling_(std::make_unique<Group>()),
      processing_(std::make_unique<Group>()) {}

StateBuilder::~StateBuilder() {
  if (outcome_.valid()) outcome_.wait();
}

Result<std::unique_ptr<StateBuilder>> StateBuilder::Make(const Options& options) {
  auto plan = EventPlan::Make(options.config.input.format);
  if (!plan) return Fail(Code::kInvalidArgument, plan.error().path + ": " + plan.error().message);
  StoreDescriptor descriptor{.identity = IdentityOf(options.config, 0, options.partitions), .filters = {}};
  const std::vector<StoredFilter> filters = StoredFiltersOf(options.config);
  const std::vector<FilterId> ids = RegisterFilters(descriptor, filters);
  auto kinds = RegisterKinds(descriptor, DeclaredKindNames(options.config));
  if (!kinds) return Fail(kinds.error());
  if (auto topics = RegisterTopics(descriptor, SnapshotTopicsOf(options.config)); !topics)
    return Fail(topics.error());

  auto made =
      std::unique_ptr<StateBuilder>(new StateBuilder(options, std::move(*plan), std::move(descriptor)));
  made->filter_ids_ = ids;
  made->kind_numbers_ = std::move(*kinds);
  for (size_t i = 0; i < filters.size(); ++i)
    made->past_kinds_.push_back(PastKinds(made->descriptor_, ids[i], filters[i]));
  const auto count = static_cast<uint64_t>(options.partitions);
  made->fold_bytes_max_ = options.memory_bytes / kFoldShare / count;
  for (int32_t partition = 0; partition < options.partitions; ++partition) {
    PartitionOptions flow = FlowOptionsOf(options.config, partition, options.partitions,
                                          {made->filter_ids_, made->kind_numbers_, made->past_kinds_});
    flow.plan = made->plan_;
    flow.tail_bytes_max = std::max(options.memory_bytes / kTailShare / count, kTailBytesMin);
    flow.publish_entries_max = 1;
    // Items that were served long ago aren't reported as never shown. The builder doesn't know which items
    // are similar.
    flow.unexposed = std::nullopt;
    for (FilterPolicy& filter : flow.filters) filter.similar = Similar::kOff;
    made->partitions_.push_back(
        std::make_unique<PartitionBuilder>(std::move(flow), StoredLimits(made->descriptor_.filters),
                                           options.folder, 0, *made->totals_, *made->clock_));
  }
  return made;
}

Status StateBuilder::Add(std::string_view event, const LinePlace& place,
                         std::vector<RejectedLine>& rejected) {
  Batch* batch = &filling_->batches[filling_->used - 1];
  if (batch->text.size() >= options_.text_bytes) {
    if (filling_->used == kBatchesOfAGroup) {
      if (Status handed = Hand(rejected); !handed) return handed;
    } else {
      ++filling_->used;
    }
    batch = &filling_->batches[filling_->used - 1];
  }
  batch->lines.push_back({batch->text.size(), event.size(), place});
  batch->text += event;
  return {};
}

// The threads process one group while the caller fills the other.
Status StateBuilder::Hand(std::vector<RejectedLine>& rejected) {
  if (Status taken = Take(rejected); !taken) return taken;
  std::swap(filling_, processing_);
  outcome_ = std::async(std::launch::async, [this] { return Process(*processing_); });
  filling_->Clear();
  return {};
}

Status StateBuilder::Take(std::vector<RejectedLine>& rejected) {
  if (!outcome_.valid()) return {};
  Status outcome = outcome_.get();
  for (Batch& batch : processing_->batches) {
    counts_.events += batch.counts.events;
    counts_.skipped += batch.counts.skipped;
    counts_.rejected += batch.counts.rejected;
    counts_.beyond_windows += batch.counts.beyond_windows;
    counts_.before_1971 += batch.counts.before_1971;
    if (batch.counts.events > 0) {
      const bool is_first = counts_.first.value == 0;
      counts_.first = is_first ? batch.counts.first : std::min(counts_.first, batch.counts.first);
      counts_.last = std::max(counts_.last, batch.counts.last);
    }
    std::move(batch.rejected.begin(), batch.rejected.end(), std::back_inserter(rejected));
    batch.rejected.clear();
  }
  Check(totals_->rejected.load(std::memory_order_relaxed) == 0,
        "an event that was decoded before is rejected");
  counts_.items = totals_->items.load(std::memory_order_relaxed);
  return outcome;
}

// First decodes all lines, to find their partitions. Then each partition takes its own records in order.
Status StateBuilder::Process(Group& group) {
  if (Status decoded = InParallel(options_.threads, group.used,
                                  [&](size_t batch) { return Decode(group.batches[batch]); });
      !decoded)
    return decoded;
  return InParallel(options_.threads, partitions_.size(), [&](size_t partition) -> Status {
    PartitionBuilder& builder = *partitions_[partition];
    for (size_t i = 0; i < group.used; ++i) {
      std::vector<Record>& records = group.batches[i].records[partition];
      int64_t offset = builder.next_offset();
      for (Record& record : records) record.offset = offset++;
      if (Status applied = builder.Apply(records); !applied) return applied;
      if (builder.runs().bytes() < fold_bytes_max_) continue;
      if (Status spilled = builder.runs().Spill(); !spilled) return spilled;
    }
    return {};
  });
}

Status StateBuilder::Decode(Batch& batch) const {
  EventDecoder decoder(options_.config.input.event_bytes_max, plan_);
  batch.records.resize(partitions_.size());
  const auto reject = [&](const Batch::Line& line, std::string_view text, std::string_view reason,
                          std::string message) {
    ++batch.counts.rejected;
    batch.rejected.push_back({line.place, reason, std::move(message), std::string(text.substr(0, 4096))});
  };
  const std::chrono::milliseconds ahead_max = options_.config.input.future_skew_max;
  const int64_t latest = options_.as_of.value + ahead_max.count();
  const Day oldest = DayOf(options_.as_of) - LongestWindowDays(options_.config);
  const Partitioner partitioner = options_.config.input.partitioner;
  for (const Batch::Line& line : batch.lines) {
    const std::string_view text = std::string_view(batch.text).substr(line.at, line.bytes);
    const auto event = decoder.Decode(text);
    if (!event) {
      if (event.error().reason == RejectReason::kSchemaPending)
        return Fail(Code::kUnavailable, event.error().message);
      reject(line, text, RejectReasonName(event.error().reason), event.error().message);
      continue;
    }
    const TimeMs at = event->exposed_at;
    if (event->skip != SkipReason::kNone || event->filters == 0 || (options_.since && at < *options_.since) ||
        (options_.until && at >= *options_.until)) {
      ++batch.counts.skipped;
      continue;
    }
    if (at.value > latest) {
      reject(line, text, RejectReasonName(RejectReason::kTooFarAhead), "exposed_at: ahead of the clock");
      continue;
    }
    if (batch.counts.events == 0 || at < batch.counts.first) batch.counts.first = at;
    batch.counts.last = std::max(batch.counts.last, at);
    ++batch.counts.events;
    if (DayOf(at) < oldest && event->kind != EventKind::kErased) {
      ++batch.counts.beyond_windows;
      batch.counts.before_1971 += at < kBegin1971 ? 1u : 0u;
    }
    std::string_view user = event->user_id;
    if (user.data() < text.data() || user.data() >= text.data() + text.size())
      user = batch.ids.emplace_back(user);
    const int32_t partition = PartitionOf(partitioner, user, options_.partitions);
    Record record;
    record.timestamp = at;
    record.key = user;
    record.value = text;
    batch.records[static_cast<size_t>(partition)].push_back(record);
  }
  return {};
}

Status StateBuilder::Finish(std::vector<RejectedLine>& rejected) {
  if (Status handed = Hand(rejected); !handed) return handed;
  if (Status taken = Take(rejected); !taken) return taken;
  return InParallel(options_.threads, partitions_.size(), [&](size_t partition) -> Status {
    if (Status written = partitions_[partition]->Checkpoint(); !written) return written;
    return partitions_[partition]->runs().Spill();
  });
}

Position StateBuilder::PositionOf(const BuiltState& state) const {
  Position position;
  position.next_offset = state.live_offset;
  position.partition_time = partitions_[static_cast<size_t>(state.partition)]->position().partition_time;
  for (size_t i = 0; i < filter_ids_.size(); ++i) {
    position.filters.push_back({.filter = filter_ids_[i],
                                .complete_since = state.complete_since,
                                .awaits_record = false,
                                .window_days = LongestWindowDays(options_.config.filters[i]),
                                .last_published = LastPublished::kInState});
  }
  return position;
}

StoreDescriptor StateBuilder::DescriptorOf(int32_t partition) const {
  StoreDescriptor descriptor = descriptor_;
  descriptor.identity.partition = partition;
  return descriptor;
}

Status StateBuilder::ForEachUserRow(int32_t partition, const RowFold::Visit& visit) {
  PartitionBuilder& builder = *partitions_[static_cast<size_t>(partition)];
  return builder.runs().ForEach([&](FilterId filter) { return builder.HorizonOf(filter); }, visit);
}

uint64_t StateBuilder::sorted_bytes() const {
  uint64_t bytes = 0;
  for (const auto& partition : partitions_) bytes += partition->runs().stored_bytes();
  return bytes;
}

}  // namespace seen
