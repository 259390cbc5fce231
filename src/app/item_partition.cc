#include "app/item_partition.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "base/log_budget.h"
#include "config/config_items.h"
#include "flow/log_cut.h"
#include "group/segmenter.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr size_t kRecordsAtOnce = 256;
constexpr uint64_t kBytesAtOnce = 8 << 20;  // of their values, but for a longer one alone
constexpr milliseconds kLettersAwaited{5000};
constexpr milliseconds kReadersAwaited{10'000};
constexpr int kFailuresMax = 2;  // then the index is opened again, at its last checkpoint
constexpr uint64_t kRecordBytesMax = 16 << 20;

LogBudget& RejectedBudget() {
  static LogBudget budget;
  return budget;
}

std::string Name(int32_t partition, const std::string& topic) {
  return "partition " + std::to_string(partition) + " of topic \"" + topic + "\"";
}
}  // namespace

IndexGeneration GenerationOf(const ItemsConfig& config) {
  IndexGeneration generation;
  generation.method = config.method == SimilarMethod::kSimHash   ? "simhash"
                      : config.method == SimilarMethod::kMinHash ? "minhash"
                                                                 : "both";
  generation.distance_max = config.distance_max;
  generation.similarity_min = config.similarity_min;
  generation.verify = config.verify ? "sketch" : "off";
  generation.window_days = config.window_days;
  generation.text_bytes_max = config.text_bytes_max;
  return generation;
}

uint64_t ItemRecordBytesMax(const ItemsConfig& config) {
  return std::max<uint64_t>(kRecordBytesMax, config.text_bytes_max + (1 << 20));
}

ItemPartition::ItemPartition(ItemPartitionOptions options, DeadLetterProducer& dead_letters,
                             const Clock& clock)
    : options_(std::move(options)), dead_letters_(dead_letters), clock_(clock) {}

std::shared_ptr<ItemPartition::Opened> ItemPartition::Current() const {
  const std::lock_guard lock(opened_mutex_);
  return opened_;
}

void ItemPartition::SetHeld(std::string reason) {
  const std::lock_guard lock(opened_mutex_);
  held_ = std::move(reason);
}

Result<int64_t> ItemPartition::Open(const Watermarks& watermarks) {
  auto opened = OpenIndex(watermarks);
  if (!opened && opened.error().code == Code::kRefused && options_.rebuild) {
    log::Warning("index of items dropped, reading from the earliest",
                 {{"partition", options_.partition}, {"reason", opened.error().message}});
    if (Status removed = RocksItemIndex::Remove(options_.directory, options_.partition); !removed)
      return Fail(removed.error());
    opened = OpenIndex(watermarks);
  }
  if (!opened) return Fail(opened.error());
  const int64_t from = std::max((*opened)->flow->next_offset(), watermarks.low);
  if ((*opened)->flow->next_offset() > 0 && from > (*opened)->flow->next_offset()) {
    NoteLost(from - (*opened)->flow->next_offset());
    log::Error("items were deleted before they were read",
               {{"topic", options_.topic},
                {"partition", options_.partition},
                {"from_offset", (*opened)->flow->next_offset()},
                {"to_offset", from},
                {"remedy", "lengthen the topic's retention to items.window_days and a quarter of it"}});
  }
  (*opened)->flow->Pass(from);
  next_offset_.store(from, std::memory_order_release);
  checkpoint_offset_.store(from, std::memory_order_relaxed);
  first_high_.store(watermarks.high);
  SetHighWatermark(watermarks.high);
  checkpoint_at_ = clock_.Now();
  failures_ = 0;
  log::Info("index of items opened", {{"topic", options_.topic},
                                      {"partition", options_.partition},
                                      {"next_offset", from},
                                      {"high_watermark", watermarks.high},
                                      {"words_by", NewIcuSegmenter()->Version()},
                                      {"items", (*opened)->flow->Figures().items}});
  const std::lock_guard lock(opened_mutex_);
  opened_ = std::move(*opened);
  held_.clear();
  return from;
}

Result<std::shared_ptr<ItemPartition::Opened>> ItemPartition::OpenIndex(const Watermarks& watermarks) {
  const ItemsConfig& config = *options_.config->items;
  auto opened = std::make_shared<Opened>();
  auto index = RocksItemIndex::Open({.directory = options_.directory,
                                     .partition = options_.partition,
                                     .generation = GenerationOf(config),
                                     .idf = options_.idf,
                                     .idf_text = options_.idf_text,
                                     .resources = *options_.resources,
                                     .presence_bytes_max = options_.presence_bytes_max});
  if (!index) return Fail(index.error());
  opened->index = std::move(*index);
  if (options_.rebuild && opened->index->idf()->version() != options_.idf->version()) {
    return Fail(Code::kRefused,
                Name(options_.partition, options_.topic) + ": built with another items.idf_file");
  }
  const auto position = opened->index->ReadPosition();
  if (!position) return Fail(position.error());
  if (*position && (*position)->next_offset > watermarks.high) {
    return Fail(
        LogWasCut(Name(options_.partition, options_.topic) + ": the index of items reaches offset " +
                      std::to_string((*position)->next_offset) + ", but the topic ends at " +
                      std::to_string(watermarks.high),
                  "point items.topic at the right topic, or start once with --rebuild to drop the index and "
                  "read from the earliest record"));
  }
  ItemReadingOptions reading;
  reading.format = config.format;
  reading.record_bytes_max = ItemRecordBytesMax(config);
  reading.future_skew_max = options_.config->input.future_skew_max;
  reading.clock = &clock_;
  reading.features = {opened->index->idf(), config.similarity_min, config.text_bytes_max};
  reading.threads = options_.threads;
  opened->reading = std::make_unique<ItemReading>(reading);
  auto groups = GroupProducer::Open(options_.groups);
  if (!groups) return Fail(groups.error());
  opened->groups = std::move(*groups);

  GroupOptions group = GroupOptionsOf(config);
  group.stored_time_max = StoredTimeMax(clock_.WallNow(), options_.config->input.future_skew_max);
  auto flow = GroupFlow::Open(group, *opened->index, *opened->groups);
  if (!flow) return Fail(flow.error());
  opened->flow = std::move(*flow);
  if (opened->flow->Figures().times_corrected_total > 0) {
    log::Error("the index of items had a time ahead of this machine's clock: it was corrected",
               {{"partition", options_.partition},
                {"index_time_ms", (*position)->index_time.value},
                {"remedy",
                 "correct the clock if it is slow; else items are missing from the index: stop seend, "
                 "remove " +
                     RocksItemIndex::PathOf(options_.directory, options_.partition) +
                     " and start it, which reads them again as far as the topic has them"}});
  }
  return opened;
}

void ItemPartition::Close() {
  std::shared_ptr<Opened> opened;
  {
    const std::lock_guard lock(opened_mutex_);
    opened = std::move(opened_);
    opened_ = nullptr;
  }
  const std::weak_ptr<Opened> gone = opened;
  opened.reset();
  // Whoever still reads it is done soon; it can't be opened again before.
  for (const Instant until = clock_.Now() + kReadersAwaited; !gone.expired() && clock_.Now() < until;)
    std::this_thread::sleep_for(milliseconds(1));
}

Status ItemPartition::Take(std::span<const Record> records, int64_t end_offset) {
  const bool some = !records.empty();
  const std::shared_ptr<Opened> opened = Current();
  if (!opened) return Fail(Code::kUnavailable, "the index isn't open");
  Status taken;
  while (taken && !records.empty()) {
    size_t count = 0;
    for (uint64_t bytes = 0; count < records.size() && count < kRecordsAtOnce; ++count) {
      bytes += records[count].value.size();
      if (count > 0 && bytes > kBytesAtOnce) break;
    }
    taken = TakeSome(*opened, records.first(count));
    records = records.subspan(count);
  }
  if (taken && end_offset >= 0) opened->flow->Pass(end_offset);
  next_offset_.store(opened->flow->next_offset(), std::memory_order_release);
  if (taken) {
    if (some && failures_ > 0) SetHeld("");
    if (some) failures_ = 0;
    return taken;
  }
  ++failures_;
  SetHeld(taken.error().message);
  return taken;
}

Status ItemPartition::TakeSome(Opened& opened, std::span<const Record> records) {
  opened.reading->Read(records, read_);
  // Before anything behind them can become durable.
  if (Status sent = SendLetters(records); !sent) return sent;
  prepared_.clear();
  uint64_t cut = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const ReadItem& item = read_[i];
    if (item.rejection) continue;
    cut += !item.deleted && item.features.cut ? 1 : 0;
    prepared_.push_back({records[i].offset, records[i].timestamp, item.item_id, item.created_at, item.deleted,
                         item.deleted ? nullptr : &item.features});
  }
  if (Status applied = opened.flow->Apply(prepared_); !applied) return applied;
  opened.flow->Pass(records.back().offset + 1);
  cut_texts_.fetch_add(cut, std::memory_order_relaxed);
  return {};
}

Status ItemPartition::SendLetters(std::span<const Record> records) {
  bool some = false;
  for (size_t i = 0; i < records.size(); ++i) {
    if (!read_[i].rejection) continue;
    const Rejection& rejection = *read_[i].rejection;
    if (!dead_letters_.TrySend({rejection, options_.partition, &records[i]}))
      return Fail(Code::kUnavailable, "the dead-letter topic takes no more records");
    some = true;
    rejected_[static_cast<size_t>(rejection.reason)].fetch_add(1, std::memory_order_relaxed);
    if (!RejectedBudget().Allow()) continue;
    log::Warning("item rejected", {{"reason", RejectReasonName(rejection.reason)},
                                   {"detail", rejection.message},
                                   {"topic", options_.topic},
                                   {"partition", options_.partition},
                                   {"offset", records[i].offset},
                                   {"lines_held_back", RejectedBudget().TakeHeldBack()}});
  }
  if (some && !dead_letters_.Flush(kLettersAwaited))
    return Fail(Code::kUnavailable, "the dead-letter topic hasn't acknowledged all records");
  return {};
}

bool ItemPartition::ReopenIfBroken() {
  if (failures_ < kFailuresMax) return false;
  log::Warning("index of items opened again, at its last checkpoint", {{"partition", options_.partition}});
  Close();
  const auto from = Open({0, std::max(high_watermark_.load(), next_offset())});
  if (!from) SetHeld(from.error().message);
  return from.has_value();
}

int64_t ItemPartition::CheckpointIfDue() {
  if (clock_.Now() - checkpoint_at_ < options_.config->store.checkpoint_interval) return -1;
  if (next_offset() == checkpoint_offset_.load(std::memory_order_relaxed)) return -1;
  return Checkpoint();
}

int64_t ItemPartition::Checkpoint() {
  const std::shared_ptr<Opened> opened = Current();
  if (!opened) return -1;
  const Instant began = clock_.Now();
  const Status saved = opened->flow->Checkpoint();
  checkpoint_at_ = clock_.Now();
  if (!saved) {
    ++failures_;
    SetHeld(saved.error().message);
    log::Warning("checkpoint of the index of items failed",
                 {{"partition", options_.partition}, {"reason", saved.error().message}});
    return -1;
  }
  checkpoints_.fetch_add(1, std::memory_order_relaxed);
  checkpoint_us_.fetch_add(
      std::chrono::duration_cast<std::chrono::microseconds>(checkpoint_at_ - began).count(),
      std::memory_order_relaxed);
  const int64_t offset = opened->flow->next_offset();
  checkpoint_offset_.store(offset, std::memory_order_relaxed);
  return offset;
}

void ItemPartition::Hurry(milliseconds patience) {
  if (const std::shared_ptr<Opened> opened = Current()) opened->groups->Hurry(patience);
}

bool ItemPartition::CaughtUp() const {
  const int64_t next = next_offset();
  const int64_t lag = high_watermark_.load(std::memory_order_relaxed) - next;
  return Current() && next >= first_high_.load() &&
         lag <= static_cast<int64_t>(options_.config->http.ready_lag_messages);
}

Result<std::vector<NearItem>> ItemPartition::Similar(const ItemText& text, size_t limit,
                                                     std::string_view except, bool& cut) {
  const std::shared_ptr<Opened> opened = Current();
  if (!opened || !CaughtUp()) {
    return Fail(Code::kUnavailable,
                "the index of items hasn't caught up with " + Name(options_.partition, options_.topic));
  }
  ItemFeatures features;
  opened->reading->Features(text, features);
  cut = features.cut;
  return opened->flow->Similar(features, limit, except);
}

ItemsPartitionStatus ItemPartition::GetStatus() const {
  ItemsPartitionStatus status;
  status.partition = options_.partition;
  status.next_offset = next_offset();
  status.checkpoint_offset = checkpoint_offset_.load(std::memory_order_relaxed);
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
    const std::lock_guard lock(opened_mutex_);
    opened = opened_;
    status.reason = held_;
  }
  if (opened) {
    status.figures = opened->flow->Figures();
    status.groups_sent = opened->groups->sent_total();
  }
  if (!status.reason.empty()) {
    status.state = "held";
  } else if (!CaughtUp()) {
    status.state = "catching_up";
    status.reason = std::to_string(status.lag_messages) + " items are still to be read";
  } else {
    status.state = "ready";
  }
  return status;
}

}  // namespace seen
