#include "app/items.h"

#include <algorithm>

#include "app/item_topics.h"
#include "base/log.h"
#include "base/log_budget.h"
#include "base/threads.h"
#include "config/config_items.h"
#include "flow/log_cut.h"
#include "group/language_key.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kControlPoll{50};
constexpr milliseconds kWorkerPoll{50};
constexpr milliseconds kBackOffMin{100};
constexpr milliseconds kBackOffMax{2000};
constexpr milliseconds kReadOnAfter{500};
constexpr milliseconds kLettersAwaited{500};
constexpr int kSaidEvery = 15;
constexpr size_t kRecordsAPoll = 1024;
}  // namespace

/// What re-keying tells, as items' figures; what it drops is in the dead letters.
class Items::RekeyReports final : public Reporter {
 public:
  void BatchRekeyed(const RekeyReport& report) override {
    for (size_t i = 0; i < kRejectReasons; ++i)
      rejected_[i].fetch_add(report.rejected[i], std::memory_order_relaxed);
  }
  void EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) override {
    if (!budget_.Allow()) return;
    log::Warning("item rejected", {{"reason", RejectReasonName(rejection.reason)},
                                   {"detail", rejection.message},
                                   {"source_partition", partition},
                                   {"offset", offset},
                                   {"lines_held_back", budget_.TakeHeldBack()}});
  }
  void RekeyingLost(int32_t partition, const LostRange& range) override {
    log::Error("items were deleted before they were put in order",
               {{"source_partition", partition},
                {"from_offset", range.from},
                {"to_offset", range.to},
                {"remedy", "lengthen the retention of items.topic"}});
  }
  void BatchApplied(const BatchReport&) override {}
  void EventMisrouted(int32_t, int32_t, int64_t) override {}
  void RangeLost(int32_t, const LostRange&) override {}
  void CheckpointWritten(int32_t, const CheckpointReport&) override {}
  void CheckpointFailed(int32_t, const Error&) override {}
  void FlowHeld(int32_t, std::string_view) override {}
  void FlowResumed(int32_t, std::string_view, milliseconds) override {}
  void SnapshotsSent(FilterIndex, uint64_t, uint64_t) override {}
  void SnapshotsAcknowledged(FilterIndex, const LatencyCounts&, const LatencyCounts&) override {}
  void SnapshotsFailed(FilterIndex, uint64_t) override {}
  void UserKeyCollision(int32_t) override {}

  std::array<uint64_t, kRejectReasons> rejected() const {
    std::array<uint64_t, kRejectReasons> counts{};
    for (size_t i = 0; i < kRejectReasons; ++i) counts[i] = rejected_[i].load(std::memory_order_relaxed);
    return counts;
  }

 private:
  std::array<std::atomic<uint64_t>, kRejectReasons> rejected_{};
  LogBudget budget_;
};

Items::Items(const Options& options, const Admin& admin, const Clock& clock, OnFailed on_failed)
    : options_(options),
      config_(*options.config->items),
      admin_(admin),
      clock_(clock),
      on_failed_(std::move(on_failed)),
      rekey_reports_(std::make_unique<RekeyReports>()) {}

Items::~Items() { Stop(milliseconds(0)); }

Result<std::unique_ptr<Items>> Items::Start(const Options& options, const Admin& admin, const Clock& clock,
                                            OnFailed on_failed) {
  std::unique_ptr<Items> items(new Items(options, admin, clock, std::move(on_failed)));
  if (Status read = items->ReadIdf(); !read) return Fail(std::move(read.error()));
  items->control_ = std::thread([raw = items.get()] {
    NameThread("items-control");
    raw->RunControl();
  });
  return items;
}

Status Items::ReadIdf() {
  auto read = ReadIdfFile(config_.idf_file);
  if (!read) return Fail(std::move(read.error()));
  idf_ = std::move(read->table);
  idf_text_ = std::move(read->text);
  return {};
}

Status Items::Open() {
  const auto topics = EnsureItemTopics(*options_.config, admin_, options_.embedded_kafka);
  if (!topics) return Fail(topics.error());
  if (Status fits = CheckItemsDirectory(options_.directory, topics->ordered_topic, topics->ordered_partitions,
                                        options_.rebuild);
      !fits) {
    return fits;
  }
  ordered_topic_ = topics->ordered_topic;
  ordered_partitions_ = topics->ordered_partitions;

  const KafkaConfig& kafka = options_.config->kafka;
  DeadLetterProducer::Options letters;
  letters.brokers = kafka.brokers;
  letters.client = kafka.client;
  letters.topic = options_.config->input.dead_letter_topic;
  letters.source_topic = ordered_topic_;
  letters.queue_bytes_max = options_.dead_letter_bytes_max;
  auto dead_letters = DeadLetterProducer::Open(letters);
  if (!dead_letters) return Fail(std::move(dead_letters.error()));
  dead_letters_ = std::move(*dead_letters);

  Consumer::Options consumer;
  consumer.brokers = kafka.brokers;
  consumer.client = kafka.client;
  consumer.topic = ordered_topic_;
  consumer.group_id = ItemsGroup(*options_.config);
  consumer.instance_id = options_.instance_id;
  consumer.workers = 1;
  consumer.fetch_bytes_max = options_.fetch_bytes_max;
  consumer.batch_records_max = kRecordsAPoll;
  auto opened = Consumer::Open(consumer, *this);
  if (!opened) return Fail(std::move(opened.error()));
  consumer_ = std::move(*opened);
  if (ordered_topic_ != config_.topic) {
    if (Status started = StartRekeying(topics->source_partitions); !started) {
      consumer_.reset();
      return started;
    }
  }
  open_.store(true, std::memory_order_release);
  worker_ = std::thread([this] {
    NameThread("items-0");
    RunWorker();
  });
  return {};
}

Status Items::StartRekeying(int32_t source_partitions) {
  Rekeying::Options rekeying;
  rekeying.config = options_.config;
  rekeying.source_topic = config_.topic;
  rekeying.keyed_topic = ordered_topic_;
  rekeying.topic_key = "items.topic";
  rekeying.group_id = ItemsRekeyingGroup(*options_.config);
  rekeying.record_bytes_max = ItemRecordBytesMax(config_);
  rekeying.make_keyer = [this] {
    return NewItemKeyer(config_.format, ItemRecordBytesMax(config_), options_.config->input.future_skew_max);
  };
  rekeying.instance_id = options_.instance_id;
  rekeying.rebuild = options_.rebuild;
  rekeying.workers = std::min(2, source_partitions);
  rekeying.fetch_bytes_max = options_.fetch_bytes_max;
  rekeying.dead_letter_bytes_max = options_.dead_letter_bytes_max;
  rekeying.producer_bytes_max = options_.producer_bytes_max;
  auto started =
      Rekeying::Start(rekeying, {}, *rekey_reports_, clock_, [this](const Error& error) { Refuse(error); });
  if (!started) return Fail(std::move(started.error()));
  rekeying_ = std::move(*started);
  return {};
}

void Items::Refuse(const Error& error) {
  SetProblem(error.message);
  on_failed_(error);
}

void Items::SetProblem(std::string problem) {
  const std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
}

/// False: asked to stop.
bool Items::WaitFor(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return stop_; });
}

void Items::Stop(milliseconds drain) {
  stopping_.store(true);
  for (const PartitionPointer& partition : All()) partition->Hurry(drain);
  if (open_.load(std::memory_order_acquire) && rekeying_) rekeying_->Stop(drain);
  drain_ms_.store(drain.count());
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (control_.joinable()) control_.join();
}

// --- the control thread

void Items::RunControl() {
  milliseconds back_off = kBackOffMin;
  for (int tries = 0;; ++tries) {
    const Status opened = Open();
    if (opened) break;
    if (opened.error().code != Code::kUnavailable && opened.error().code != Code::kNotFound) {
      Refuse(opened.error());
      return;
    }
    SetProblem("waiting for items: " + opened.error().message);
    if (tries % kSaidEvery == 0) log::Warning("waiting for items", {{"reason", opened.error().message}});
    if (!WaitFor(back_off)) return;
    back_off = std::min(back_off * 2, kBackOffMax);
  }
  SetProblem("");
  bool refused = false;
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (refused) {  // the daemon is on its way out
      std::this_thread::sleep_for(kControlPoll);
      continue;
    }
    if (Status polled = consumer_->PollControl(kControlPoll); !polled) {
      Refuse(polled.error());
      refused = true;
    }
  }
  worker_.join();
  consumer_->Close();  // runs OnRevoked: last checkpoints
}

Result<std::optional<int64_t>> Items::OnAssigned(const Assignment& assignment) {
  ItemPartitionOptions partition;
  partition.config = options_.config;
  partition.partition = assignment.partition;
  partition.topic = ordered_topic_;
  partition.directory = ItemsDirectory(options_.directory);
  partition.idf = idf_;
  partition.idf_text = idf_text_;
  partition.resources = options_.resources;
  // Any daemon may come to own all of them.
  partition.presence_bytes_max =
      options_.presence_bytes_max / static_cast<uint64_t>(std::max(1, ordered_partitions_));
  partition.groups.brokers = options_.config->kafka.brokers;
  partition.groups.client = options_.config->kafka.client;
  partition.groups.topic = config_.groups_topic;
  partition.groups.queue_bytes_max = options_.producer_bytes_max;
  partition.threads = options_.threads;
  partition.rebuild = options_.rebuild;
  auto made = std::make_shared<ItemPartition>(std::move(partition), *dead_letters_, clock_);
  const std::lock_guard writer(writer_mutex_);
  const auto from = made->Open(assignment.watermarks);
  if (!from) return Fail(from.error());
  const std::lock_guard lock(mutex_);
  partitions_[assignment.partition] = std::move(made);
  return from;
}

void Items::OnRevoked(std::span<const int32_t> partitions, bool lost) {
  const std::lock_guard writer(writer_mutex_);
  if (stopping_.load()) (void)dead_letters_->Flush(kLettersAwaited);
  for (const int32_t number : partitions) {
    const PartitionPointer partition = Find(number);
    if (!partition) continue;
    const int64_t committed = lost ? -1 : partition->Checkpoint();
    if (committed >= 0 && consumer_->brokers_reachable()) consumer_->Commit(number, committed);
    dead_letters_->Forget(number);
    {
      const std::lock_guard lock(mutex_);
      partitions_.erase(number);
    }
    partition->Close();
  }
}

// --- the worker thread

void Items::RunWorker() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    consumer_->PollWorker(0, kWorkerPoll, *this);
    for (const PartitionPointer& partition : All()) {
      const std::lock_guard writer(writer_mutex_);
      if (Find(partition->partition()) != partition) continue;
      const int32_t number = partition->partition();
      partition->SetHighWatermark(consumer_->CachedWatermarks(number).high);
      if (const auto held = held_until_.find(number);
          held != held_until_.end() && clock_.Now() >= held->second) {
        held_until_.erase(held);
        (void)partition->ReopenIfBroken();
        (void)consumer_->Seek(number, partition->next_offset());
      }
      const int64_t committed = partition->CheckpointIfDue();
      if (committed >= 0) consumer_->Commit(number, committed);
      if (partition->Failing()) held_until_.try_emplace(number, clock_.Now() + kReadOnAfter);
    }
  }
}

void Items::OnBatch(const PartitionBatch& batch) {
  const std::lock_guard writer(writer_mutex_);
  const PartitionPointer partition = Find(batch.partition);
  if (!partition || held_until_.contains(batch.partition)) return;
  const Status taken = partition->Take(batch.records, batch.end_offset);
  if (taken || stopping_.load()) return;
  if (held_budget_.Allow()) {
    log::Warning("items are held", {{"partition", batch.partition},
                                    {"reason", taken.error().message},
                                    {"lines_held_back", held_budget_.TakeHeldBack()}});
  }
  held_until_.try_emplace(batch.partition, clock_.Now() + kReadOnAfter);
}

void Items::OnOffsetOutOfRange(int32_t number, int64_t wanted_offset, const Watermarks& now) {
  const std::lock_guard writer(writer_mutex_);
  const PartitionPointer partition = Find(number);
  if (!partition) return;
  if (wanted_offset > now.high) {
    return Refuse(LogWasCut("partition " + std::to_string(number) + " of topic \"" + ordered_topic_ +
                                "\": offset " + std::to_string(wanted_offset) + " is beyond the log's end " +
                                std::to_string(now.high),
                            "start once with --rebuild to read it from the earliest record"));
  }
  partition->NoteLost(now.low - wanted_offset);
  (void)partition->Take({}, now.low);
  (void)consumer_->Seek(number, now.low);
}

// --- any thread

Items::PartitionPointer Items::Find(int32_t partition) const {
  const std::lock_guard lock(mutex_);
  const auto found = partitions_.find(partition);
  return found == partitions_.end() ? nullptr : found->second;
}

std::vector<Items::PartitionPointer> Items::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<PartitionPointer> all;
  for (const auto& [number, partition] : partitions_) all.push_back(partition);
  return all;
}

Result<SimilarAnswer> Items::Similar(const SimilarQuestion& question) {
  if (!open_.load(std::memory_order_acquire))
    return Fail(Code::kUnavailable, "the stream of items isn't read yet; try again");
  const int32_t number =
      PartitionOf(Partitioner::kMurmur2, LanguageKey(question.text.lang), ordered_partitions_);
  const PartitionPointer partition = Find(number);
  if (!partition) {
    return Fail(Code::kUnavailable, "partition " + std::to_string(number) + " of topic \"" + ordered_topic_ +
                                        "\", which has that language, isn't this daemon's; ask the others");
  }
  if (rekeying_) {
    if (const RekeyingStatus status = rekeying_->GetStatus(); !status.caught_up)
      return Fail(Code::kUnavailable, status.problem);
  }
  SimilarAnswer answer;
  auto similar = partition->Similar(question.text, question.limit, question.except, answer.cut);
  if (!similar) return Fail(similar.error());
  answer.similar = std::move(*similar);
  return answer;
}

ItemsStatus Items::GetStatus() const {
  ItemsStatus status;
  status.topic = config_.topic;
  status.group_id = ItemsGroup(*options_.config);
  {
    const std::lock_guard lock(mutex_);
    status.problem = problem_;
  }
  status.rekeying_rejected = rekey_reports_->rejected();
  if (!open_.load(std::memory_order_acquire)) return status;
  status.ordered_topic = ordered_topic_;
  if (rekeying_) status.rekeying = rekeying_->GetStatus();
  for (const PartitionPointer& partition : All()) {
    status.partitions.push_back(partition->GetStatus());
    const ItemsPartitionStatus& of = status.partitions.back();
    if (status.problem.empty() && of.state != "ready")
      status.problem = "partition " + std::to_string(of.partition) + " is " + of.state + ": " + of.reason;
  }
  if (status.problem.empty() && status.rekeying) status.problem = status.rekeying->problem;
  return status;
}

}  // namespace seen
