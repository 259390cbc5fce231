#include "similar/consume/items_partition.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/lifetime.h"
#include "base/log.h"
#include "base/log_budget.h"
#include "consume/stream_status.h"
#include "flow/log_port.h"
#include "flow/loss_watch.h"
#include "similar/consume/group_repair.h"
#include "similar/groups/group_flow.h"
#include "similar/groups/group_guard.h"
#include "similar/groups/item_reading.h"
#include "similar/text/segmenter.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr size_t kRecordsAtOnce = 256;
constexpr uint64_t kBytesAtOnce = 8 << 20;  // of their values; a longer record is taken alone
constexpr milliseconds kArrivedSlice{20};
constexpr std::chrono::seconds kArrivedPatience{30};  // then the wait is shown as a problem
constexpr milliseconds kReadersAwaited{2000};

LogBudget& RejectedBudget() {
  static LogBudget budget;
  return budget;
}

LogBudget& LapsedBudget() {
  static LogBudget budget;
  return budget;
}

std::span<const Record> FirstOf(std::span<const Record> records, size_t count_max) {
  size_t count = 0;
  for (uint64_t bytes = 0; count < std::min(records.size(), count_max); ++count) {
    bytes += records[count].value.size();
    if (count > 0 && bytes > kBytesAtOnce) break;
  }
  return records.first(count);
}

size_t CountBelow(std::span<const Record> records, int64_t offset) {
  const auto from = std::find_if(records.begin(), records.end(),
                                 [&](const Record& record) { return record.offset >= offset; });
  return static_cast<size_t>(from - records.begin());
}
}  // namespace

/// Members stand in the order of their creation.
struct ItemsPartition::Opened {
  Lifetime lifetime;
  TextRules rules;
  std::unique_ptr<ItemReading> reading;
  std::unique_ptr<ItemIndex> index;
  std::unique_ptr<GroupSink> sink;
  std::unique_ptr<GroupFlow> flow;
  std::unique_ptr<GroupRepair> repair;  // nullptr: the topic of groups isn't guarded
};

ItemsPartition::ItemsPartition(const ItemsHandlerOptions& options, const Assignment& assignment,
                               ItemIndexes& indexes, DeadLetterSink& dead_letters, ConsumerWait& wait,
                               const Clock& clock, ItemsCounts& counts)
    : options_(options),
      partition_(assignment.partition),
      first_low_(assignment.watermarks.low),
      first_high_(assignment.watermarks.high),
      was_read_(assignment.committed_offset.has_value()),
      indexes_(indexes),
      dead_letters_(dead_letters),
      wait_(wait),
      clock_(clock),
      counts_(counts) {}

ItemsPartition::~ItemsPartition() = default;

std::string ItemsPartition::Name() const {
  return "partition " + std::to_string(partition_) + " of topic \"" + options_.topic + "\"";
}

std::shared_ptr<ItemsPartition::Opened> ItemsPartition::Current() const {
  const MutexLock lock(opened_mutex_);
  return opened_;
}

Status ItemsPartition::Open() {
  auto opened = OpenIndex();
  if (!opened) return Fail(std::move(opened.error()));
  next_offset_.store((*opened)->flow->next_offset(), std::memory_order_release);
  checkpoint_at_ = clock_.Now();
  due_since_.reset();
  repaired_ = false;
  const MutexLock lock(opened_mutex_);
  opened_ = std::move(*opened);
  return {};
}

Result<std::shared_ptr<ItemsPartition::Opened>> ItemsPartition::OpenIndex() {
  auto opened = std::make_shared<Opened>();
  auto index = indexes_.Open(partition_);
  if (!index) return Fail(std::move(index.error()));
  opened->index = std::move(index->index);
  auto position = opened->index->ReadPosition();
  if (!position) return Fail(position.error());
  const std::string decided_by = DecidedBy(partition_, options_.instance, clock_.WallNow());
  std::unique_ptr<GroupGuard> guard;
  if (options_.watch_groups) {
    GroupGuard::Options watching{.partition = partition_,
                                 .is_only_index = options_.partitions == 1,
                                 .decided_by = decided_by,
                                 .open = options_.watch_groups};
    auto watched = GroupGuard::Open(std::move(watching),
                                    *position ? (*position)->groups_verified : std::vector<int64_t>());
    if (!watched) return Fail(Code::kUnavailable, watched.error().message);  // not the index's fault
    guard = std::move(*watched);
  }
  if (!*position) {
    if (was_read_) {
      log::Warning("index of items is missing; reading the topic again from its earliest record",
                   {{"topic", options_.topic}, {"partition", partition_}, {"from_offset", first_low_}});
    }
    // The lease begins with a commit, and nothing is sent without the lease. So the group must have a
    // position to commit.
    position->emplace().next_offset = first_low_;
    if (guard) (*position)->groups_verified = guard->Verified();
    Status saved = opened->index->Checkpoint(**position, std::numeric_limits<int32_t>::min());
    if (!saved) return Fail(saved.error());
  }
  checkpoint_offset_.store((*position)->next_offset, std::memory_order_relaxed);
  opened->rules = index->features.rules;
  opened->reading = options_.make_reading(index->features);
  auto sink = options_.make_sink(decided_by);
  if (!sink) return Fail(std::move(sink.error()));
  opened->sink = std::move(*sink);
  if (options_.lease != nullptr) {
    opened->sink =
        std::make_unique<LeasedGroupSink>(std::move(opened->sink), [this] { return HoldsLease(); });
  }

  GroupOptions group = options_.groups;
  group.method = index->method;
  group.containment_min = index->containment_min;
  group.stored_time_max = StoredTimeMax(clock_.WallNow(), options_.future_skew_max);
  auto flow = GroupFlow::Open(group, *opened->index, *opened->sink);
  if (!flow) return Fail(std::move(flow.error()));
  opened->flow = std::move(*flow);
  if (guard) {
    opened->repair =
        std::make_unique<GroupRepair>(std::move(guard), *opened->flow, Name(), counts_.groups_repaired);
  }
  if (opened->flow->Figures().times_corrected_total > 0) {
    log::Error(
        "the index of items had a time ahead of this machine's clock: the daemon corrected that time",
        {{"partition", partition_},
         {"index_time_ms", (*position)->index_time.value},
         {"remedy",
          "correct the clock if it is slow. Otherwise items are missing from the index: stop seend, remove " +
              indexes_.PathOf(partition_) +
              ", and start seend. It then reads the items again that the topic still has"}});
  }
  return opened;
}

int64_t ItemsPartition::Begin(int64_t) {
  const std::shared_ptr<Opened> opened = Current();
  log::Info("index of items opened",
            {{"topic", options_.topic},
             {"partition", partition_},
             {"next_offset", next_offset()},
             {"high_watermark", high_watermark_.load()},
             {"words_by", IcuVersion()},
             {"segmentation", std::string(SegmentationName(opened->rules.segmentation))},
             {"folding_version", opened->rules.folding_version},
             {"numbers", std::string(NumbersName(opened->rules.numbers))},
             {"tokens_min", opened->rules.tokens_min},
             {"containment_min", opened->flow->containment_min()},
             {"method", std::string(SimilarMethodName(opened->flow->method()))},
             {"items", opened->flow->Figures().items}});
  return next_offset();
}

void ItemsPartition::LetGo() {
  std::shared_ptr<Opened> opened;
  {
    const MutexLock lock(opened_mutex_);
    opened = std::move(opened_);
    opened_ = nullptr;
  }
  if (!opened) return;
  const Lifetime::Watch watch = opened->lifetime.GetWatch();
  opened.reset();
  // A reader may hold it for a moment longer. Its folder can't be opened or removed before.
  (void)watch.AwaitEnd(kReadersAwaited);
}

// --- the worker

// Checked for each group that is sent: the process may have stood still just before.
bool ItemsPartition::HoldsLease() {
  const bool holds = options_.lease->MayPublish(partition_, clock_.Now());
  if (std::exchange(held_lease_, holds) && !holds) {
    lease_lapsed_.store(true, std::memory_order_relaxed);
    counts_.leases_lapsed.fetch_add(1, std::memory_order_relaxed);
    if (LapsedBudget().Allow()) {
      log::Warning("the lease has ended: no group of items is sent until a commit of offsets succeeds",
                   {{"topic", options_.topic},
                    {"partition", partition_},
                    {"remedy", "look at the brokers; a machine that stood still goes on by itself"},
                    {"lines_held_back", LapsedBudget().TakeHeldBack()}});
    }
  }
  if (holds) lease_lapsed_.store(false, std::memory_order_relaxed);
  return holds;
}

Result<size_t> ItemsPartition::Handle(std::span<const Record> records) {
  const std::shared_ptr<Opened> opened = Current();
  if (!opened) return Fail(Code::kUnavailable, Name() + ": its index isn't open");
  if (due_since_) return size_t{0};
  const size_t skipped = CountBelow(records, next_offset());
  const auto given = FirstOf(records.subspan(skipped), one_by_one_ ? 1 : kRecordsAtOnce);
  if (given.empty()) return skipped;
  opened->reading->Read(given, read_);
  const auto some = given.first(SendLetters(given));
  const Status applied = Apply(some);
  if (!applied && opened->flow->broken()) return Failed(applied.error());
  const size_t taken = CountBelow(some, next_offset());
  NoteLosses(taken);
  one_by_one_ = taken < given.size();  // to make the features of all again would cost most
  return skipped + taken;
}

// Of the first `taken` records read.
void ItemsPartition::NoteLosses(size_t taken) const {
  if (options_.loss == nullptr || taken == 0) return;
  LiveReport live;
  live.counts.events = options_.counts_events ? taken : 0;
  for (size_t i = 0; i < taken; ++i) {
    live.newest = std::max(live.newest, read_[i].created_at);
    if (read_[i].rejection) live.Rejected(*read_[i].rejection);
  }
  options_.loss->Add(live);
}

// Returns how many records may be applied. A record that can't be read must be on its way to the dead letters
// before anything after it becomes durable.
size_t ItemsPartition::SendLetters(std::span<const Record> records) {
  for (size_t i = 0; i < records.size(); ++i) {
    if (!read_[i].rejection || records[i].offset < letters_to_) continue;
    const Rejection& rejection = *read_[i].rejection;
    if (!dead_letters_.TrySend({rejection, partition_, &records[i]})) return i;
    letters_to_ = records[i].offset + 1;
    rejected_[static_cast<size_t>(rejection.reason)].fetch_add(1, std::memory_order_relaxed);
    if (!RejectedBudget().Allow()) continue;
    log::Warning("item rejected", {{"reason", RejectReasonName(rejection.reason)},
                                   {"detail", rejection.message},
                                   {"topic", options_.topic},
                                   {"partition", partition_},
                                   {"offset", records[i].offset},
                                   {"lines_held_back", RejectedBudget().TakeHeldBack()}});
  }
  return records.size();
}

Status ItemsPartition::Apply(std::span<const Record> records) {
  if (records.empty()) return {};
  prepared_.clear();
  for (size_t i = 0; i < records.size(); ++i) {
    const ReadItem& item = read_[i];
    if (item.rejection) continue;
    prepared_.push_back({records[i].offset, records[i].timestamp, item.item_id, item.created_at, item.deleted,
                         item.deleted ? nullptr : &item.features});
  }
  GroupFlow& flow = *Current()->flow;
  Status applied = flow.Apply(prepared_);
  if (applied) flow.Pass(records.back().offset + 1);
  const int64_t next = flow.next_offset();
  next_offset_.store(next, std::memory_order_release);
  const auto cut = std::count_if(prepared_.begin(), prepared_.end(), [&](const PreparedItem& item) {
    return item.offset < next && item.features != nullptr && item.features->cut;
  });
  cut_texts_.fetch_add(static_cast<uint64_t>(cut), std::memory_order_relaxed);
  return applied;
}

void ItemsPartition::ReachedEnd(int64_t end_offset) {
  const std::shared_ptr<Opened> opened = Current();
  if (!opened) return;
  opened->flow->Pass(end_offset);
  next_offset_.store(opened->flow->next_offset(), std::memory_order_release);
}

void ItemsPartition::SkipLost(int64_t low) {
  const int64_t from = next_offset();
  lost_.fetch_add(static_cast<uint64_t>(low - from));
  log::Error("items were deleted before they were read",
             {{"topic", options_.topic},
              {"partition", partition_},
              {"from_offset", from},
              {"to_offset", low},
              {"remedy", "lengthen the topic's retention to 1.25 times items.window_days or more"}});
  ReachedEnd(low);
}

bool ItemsPartition::HasReadAll() const {
  return next_offset() >= std::max(first_high_, high_watermark_.load(std::memory_order_relaxed));
}

Status ItemsPartition::RepairGroups(Opened& opened) {
  if (!opened.repair || !HasReadAll()) return {};
  const Instant now = clock_.Now();
  if (options_.lease != nullptr && !options_.lease->MayPublish(partition_, now)) return {};
  const auto repaired = opened.repair->Step(now);
  if (!repaired) return Fail(repaired.error());
  repaired_ |= *repaired;
  return {};
}

bool ItemsPartition::CheckpointDue() const {
  if (next_offset() == checkpoint_offset_.load(std::memory_order_relaxed) && !repaired_) return false;
  return clock_.Now() - checkpoint_at_ >= options_.checkpoint_interval || Current()->flow->MuchIsUnsaved();
}

Result<std::optional<int64_t>> ItemsPartition::Idle() {
  const std::shared_ptr<Opened> opened = Current();
  if (!opened) return std::nullopt;
  if (!due_since_) {
    if (Status repaired = RepairGroups(*opened); !repaired) return Failed(repaired.error());
  }
  if (!due_since_ && !CheckpointDue()) return std::nullopt;
  if (!due_since_) due_since_ = clock_.Now();
  const Status saved = Checkpoint();
  // Nothing is taken until all that was sent is acknowledged. Otherwise a checkpoint that waits would never
  // end.
  const bool waits = !saved && !opened->flow->broken() && clock_.Now() - *due_since_ < kArrivedPatience;
  if (!saved && !waits) return Failed(saved.error());
  return std::nullopt;
}

tl::unexpected<Error> ItemsPartition::Failed(const Error& error) {
  const MutexLock lock(opened_mutex_);
  failure_ = error.message;
  return Fail(error);
}

Status ItemsPartition::Checkpoint() {
  const Instant began = clock_.Now();
  GroupFlow& flow = *Current()->flow;
  const int64_t oldest = dead_letters_.OldestUnacknowledged(partition_);
  if (oldest >= 0 && oldest < flow.next_offset())
    return Fail(Code::kUnavailable, "the dead-letter topic hasn't acknowledged all records");
  if (Status saved = flow.Checkpoint(); !saved) return saved;
  checkpoint_at_ = clock_.Now();
  due_since_.reset();
  repaired_ = false;
  checkpoints_.fetch_add(1, std::memory_order_relaxed);
  checkpoint_us_.fetch_add(
      std::chrono::duration_cast<std::chrono::microseconds>(checkpoint_at_ - began).count(),
      std::memory_order_relaxed);
  checkpoint_offset_.store(flow.next_offset(), std::memory_order_relaxed);
  const MutexLock lock(opened_mutex_);
  failure_.clear();
  return {};
}

Result<int64_t> ItemsPartition::ReadOn() {
  if (const std::shared_ptr<Opened> opened = Current(); opened && !opened->flow->broken())
    return next_offset();
  LetGo();
  if (Status opened = Open(); !opened) return Fail(std::move(opened.error()));
  log::Warning("index of items opened again, at its last checkpoint",
               {{"topic", options_.topic}, {"partition", partition_}, {"next_offset", next_offset()}});
  return next_offset();
}

void ItemsPartition::Held() {
  const MutexLock lock(opened_mutex_);
  held_ = true;
}

void ItemsPartition::Resumed() {
  const MutexLock lock(opened_mutex_);
  held_ = false;
}

void ItemsPartition::SetWatermarks(const Watermarks& watermarks) {
  if (watermarks.high >= 0) high_watermark_.store(watermarks.high, std::memory_order_relaxed);
}

void ItemsPartition::Close(const Closing& closing) {
  std::shared_ptr<Opened> opened = Current();
  if (opened && closing.checkpoint && !closing.lost && next_offset() != CommitOffset()) {
    Status saved = Checkpoint();
    for (; !saved && !opened->flow->broken() && clock_.Now() < closing.until; saved = Checkpoint())
      wait_.WaitForSpace(kArrivedSlice);
    if (!saved) {
      log::Error("last checkpoint of the index of items failed; items since the previous one are read again",
                 {{"partition", partition_}, {"reason", saved.error().message}});
    }
  }
  dead_letters_.Forget(partition_);
  opened.reset();
  LetGo();
}

// --- any thread

bool ItemsPartition::CaughtUp() const {
  const int64_t next = next_offset();
  return next >= first_high_ &&
         high_watermark_.load(std::memory_order_relaxed) - next <= options_.ready_lag_messages;
}

Result<SimilarAnswer> ItemsPartition::Similar(const SimilarQuestion& question) const {
  const std::shared_ptr<Opened> opened = Current();
  if (!opened || !CaughtUp())
    return Fail(Code::kUnavailable, "the index of items hasn't caught up with " + Name());
  ItemFeatures features;
  opened->reading->Features(question.text, features);
  auto similar = opened->flow->Similar(features, question.limit, question.except);
  if (!similar) return Fail(std::move(similar.error()));
  return SimilarAnswer{std::move(*similar), features.cut};
}

ItemsPartitionStatus ItemsPartition::GetStatus() const {
  ItemsPartitionStatus status;
  status.partition = partition_;
  status.next_offset = next_offset();
  status.checkpoint_offset = std::max<int64_t>(0, checkpoint_offset_.load(std::memory_order_relaxed));
  status.high_watermark = high_watermark_.load(std::memory_order_relaxed);
  status.lag_messages = std::max<int64_t>(0, status.high_watermark - status.next_offset);
  status.lost_messages = lost_.load();
  status.cut_texts = cut_texts_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < kRejectReasons; ++i)
    status.rejected[i] = rejected_[i].load(std::memory_order_relaxed);
  status.checkpoints = checkpoints_.load(std::memory_order_relaxed);
  status.checkpoint_seconds = static_cast<double>(checkpoint_us_.load(std::memory_order_relaxed)) / 1e6;
  std::shared_ptr<Opened> opened;
  {
    const MutexLock lock(opened_mutex_);
    opened = opened_;
    status.reason = failure_;
    if (held_ && failure_.empty()) {
      status.reason = lease_lapsed_.load(std::memory_order_relaxed)
                          ? "the lease has ended: waiting for a commit of offsets"
                          : "waiting until sent groups and dead letters are acknowledged";
    }
  }
  if (opened) status.figures = opened->flow->Figures();
  status.groups_sent = status.figures.sent_total;
  status.state = "ready";
  if (!status.reason.empty()) {
    status.state = "held";
  } else if (!opened || !CaughtUp()) {
    status.state = "catching_up";
    status.reason = std::to_string(status.lag_messages) + " items are still to be read";
  }
  return status;
}

}  // namespace seen
