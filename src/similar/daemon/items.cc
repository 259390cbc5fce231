#include "similar/daemon/items.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/back_off.h"
#include "base/log.h"
#include "base/threads.h"
#include "config/config_items.h"
#include "kafka/admin.h"
#include "kafka/kafka_group_topic.h"
#include "model/day.h"
#include "similar/consume/items_handler.h"
#include "similar/groups/item_reading.h"
#include "similar/port/boilerplate.h"
#include "similar/port/options.h"
#include "similar/store/rocks_item_indexes.h"
#include "topics/rekeying.h"

namespace seen {

/// The topics that hold the stream of items.
struct ItemTopics {
  std::string ordered_topic;  // items.topic itself if it has one partition
  int32_t ordered_partitions = 0;
  int32_t source_partitions = 0;  // of items.topic
};

void ItemsRekeyReports::BatchRekeyed(const RekeyReport& report) {
  for (size_t i = 0; i < kRejectReasons; ++i)
    rejected_[i].fetch_add(report.rejected[i], std::memory_order_relaxed);
  if (loss_ != nullptr) loss_->Add(report.live);
}

void ItemsRekeyReports::EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) {
  if (!budget_.Allow()) return;
  log::Warning("item rejected", {{"reason", RejectReasonName(rejection.reason)},
                                 {"detail", rejection.message},
                                 {"source_partition", partition},
                                 {"offset", offset},
                                 {"lines_held_back", budget_.TakeHeldBack()}});
}

void ItemsRekeyReports::RekeyingLost(int32_t partition, const LostRange& range) {
  log::Error("items were deleted before they were put in order",
             {{"source_partition", partition},
              {"from_offset", range.from},
              {"to_offset", range.to},
              {"remedy", "lengthen the retention of items.topic"}});
}

std::array<uint64_t, kRejectReasons> ItemsRekeyReports::rejected() const {
  std::array<uint64_t, kRejectReasons> counts{};
  for (size_t i = 0; i < kRejectReasons; ++i) counts[i] = rejected_[i].load(std::memory_order_relaxed);
  return counts;
}

namespace {
using std::chrono::milliseconds;

constexpr milliseconds kOpenBackOffMin{100};
constexpr milliseconds kOpenBackOffMax{2000};
constexpr int kSaidEvery = 15;
constexpr size_t kRecordsAPoll = 1024;
constexpr uint64_t kRecordBytesMax = 16 << 20;
// Small, because queued records must arrive within half of a lease, even if a broker's quota slows them down.
constexpr uint64_t kGroupsQueueBytesMax = 4 << 20;
constexpr uint64_t kGuardFetchBytes = 1 << 20;
constexpr milliseconds kGuardAsks{2000};
constexpr milliseconds kAskTopic{2000};
constexpr uint64_t kKeyOverhead = 1024;

/// The settings of `config` with which an index is built.
IndexGeneration GenerationOf(const ItemsConfig& config) {
  IndexGeneration generation;
  generation.method = config.method.value_or(kDefaultMethod);
  generation.distance_max = config.distance_max;
  generation.similarity_min = config.similarity_min;
  generation.verify = config.verify ? "sketch" : "off";
  generation.window_days = config.window_days;
  generation.text_bytes_max = config.text_bytes_max;
  const TextRules rules = TextRulesOf(config);
  generation.segmentation = rules.segmentation;
  generation.numbers = rules.numbers;
  generation.tokens_min = rules.tokens_min;
  generation.containment_min = config.containment_min.value_or(kDefaultContainmentMin);
  if (config.boilerplate) generation.boilerplate = config.boilerplate->patterns();
  return generation;
}

/// The longest record of an item that the daemon reads.
uint64_t ItemRecordBytesMax(const ItemsConfig& config) {
  return std::max<uint64_t>(kRecordBytesMax, config.text_bytes_max + (1 << 20));
}

/// Creates items.ordered_topic if it is needed and missing. kUnavailable, kNotFound: items.topic doesn't
/// exist, or no broker answers: retry. kRefused: the broker refuses to create the topic.
Result<ItemTopics> EnsureItemTopics(const Config& config, const Admin& admin, bool embedded_kafka) {
  const ItemsConfig& items = *config.items;
  const auto source = admin.PartitionCount(items.topic, kAskTopic);
  if (!source) {
    if (source.error().code != Code::kNotFound) return Fail(source.error());
    return Fail(Code::kUnavailable, "there is no topic \"" + items.topic +
                                        "\" (items.topic): the producer of items must create it");
  }
  ItemTopics topics{items.topic, *source, *source};
  if (*source == 1) return topics;
  topics.ordered_topic = items.ordered_topic;
  const auto existing = admin.PartitionCount(items.ordered_topic, kAskTopic);
  if (existing) {
    topics.ordered_partitions = *existing;
    return topics;
  }
  if (existing.error().code != Code::kNotFound || embedded_kafka) return Fail(existing.error());
  // Nothing reads a record again after it has left the window, not even an index that is built again.
  TopicSpec spec{items.ordered_topic,
                 1,
                 {{"cleanup.policy", "delete"},
                  {"message.timestamp.type", "CreateTime"},
                  {"retention.ms", std::to_string(KeptDays(items.window_days) * kMsPerDay)}}};
  const auto bytes = admin.TopicConfig(items.topic, "max.message.bytes", kAskTopic);
  if (!bytes) return Fail(bytes.error());
  if (*bytes) {
    spec.config["max.message.bytes"] = std::to_string(std::min<uint64_t>(
        std::strtoull((*bytes)->c_str(), nullptr, 10) + kKeyOverhead, std::numeric_limits<int32_t>::max()));
  }
  const auto state = admin.EnsureTopic(spec, kAskTopic);
  if (!state) return Fail(state.error());
  if (state->created) log::Info("topic created", {{"topic", spec.name}, {"partitions", state->partitions}});
  topics.ordered_partitions = state->partitions;
  return topics;
}
}  // namespace

/// In the order of creation. Members below use those above, and are destroyed first.
struct Items::Reading {
  explicit Reading(const LeaseTimes& lease_times) : lease(lease_times) {}

  std::string ordered_topic;
  CommitLease lease;  // for the ordered topic's partitions
  SpaceSignal space;
  std::unique_ptr<DeadLetterProducer> dead_letters;
  std::unique_ptr<RocksItemIndexes> indexes;
  std::unique_ptr<ItemsHandler> handler;
  std::unique_ptr<TopicConsumer> topic_consumer;
  std::unique_ptr<Consumer> consumer;  // calls the topic_consumer
  std::unique_ptr<Rekeying> rekeying;
  std::unique_ptr<ConsumerThreads> threads;
};

Items::Items(const Options& options, const Admin& admin, const Clock& clock, OnFailed on_failed)
    : options_(options),
      admin_(admin),
      clock_(clock),
      on_failed_(std::move(on_failed)),
      rekey_reports_(std::make_unique<ItemsRekeyReports>(options.loss)) {}

Items::~Items() { Stop(milliseconds(0)); }

Result<std::unique_ptr<Items>> Items::Start(const Options& options, const Admin& admin, const Clock& clock,
                                            OnFailed on_failed) {
  auto idf = ReadIdfFile(options.config->items->idf_file);
  if (!idf) return Fail(std::move(idf.error()));
  std::unique_ptr<Items> items(new Items(options, admin, clock, std::move(on_failed)));
  items->idf_ = std::move(idf->table);
  items->idf_text_ = std::move(idf->text);
  items->opening_ = std::thread([raw = items.get()] {
    NameThread("items-opening");
    raw->OpenWithRetries();
  });
  return items;
}

void Items::OpenWithRetries() {
  BackOff back_off(kOpenBackOffMin, kOpenBackOffMax);
  for (int tries = 0;; ++tries) {
    const Status opened = Open();
    if (opened) return SetProblem("");
    if (opened.error().code == Code::kInvalidArgument) return Refuse(opened.error());
    SetProblem("waiting for items: " + opened.error().message);
    if (tries % kSaidEvery == 0) log::Warning("waiting for items", {{"reason", opened.error().message}});
    const auto until = std::chrono::steady_clock::now() + back_off.Next();
    const MutexLock lock(mutex_);
    while (!stop_ && stop_wanted_.WaitUntil(mutex_, until)) {
    }
    if (stop_) return;
  }
}

Status Items::Open() {
  const auto topics = EnsureItemTopics(*options_.config, admin_, options_.embedded_kafka);
  if (!topics) return Fail(topics.error());
  auto reading = std::make_unique<Reading>(options_.lease_times);
  reading->ordered_topic = topics->ordered_topic;
  if (Status opened = OpenIndexes(*topics, *reading); !opened) return opened;
  if (Status opened = OpenHandler(*topics, *reading); !opened) return opened;
  if (topics->ordered_topic != options_.config->items->topic) {
    if (Status started = StartRekeying(*topics, *reading); !started) return started;
  }
  reading->threads = std::make_unique<ConsumerThreads>(*reading->topic_consumer, "items", 1,
                                                       [this](const Error& error) { Refuse(error); });
  reading_ = std::move(reading);
  open_.store(reading_.get(), std::memory_order_release);
  return {};
}

Status Items::OpenIndexes(const ItemTopics& topics, Reading& reading) {
  RocksItemIndexes::Options indexes;
  indexes.directory = options_.directory + "/items";
  indexes.topic = topics.ordered_topic;
  indexes.partitions = topics.ordered_partitions;
  indexes.generation = GenerationOf(*options_.config->items);
  indexes.kept = {.versions = true,
                  .method = !options_.config->items->method,
                  .segmentation = !options_.config->items->segmentation,
                  .numbers = !options_.config->items->numbers,
                  .tokens_min = !options_.config->items->tokens_min,
                  .containment_min = !options_.config->items->containment_min};
  indexes.idf = idf_;
  indexes.idf_text = idf_text_;
  indexes.resources = options_.resources;
  indexes.presence_bytes_max = options_.presence_bytes_max;
  indexes.rebuild = options_.rebuild;
  reading.indexes = std::make_unique<RocksItemIndexes>(std::move(indexes));
  return reading.indexes->Prepare();
}

Status Items::OpenHandler(const ItemTopics& topics, Reading& reading) {
  const Config& config = *options_.config;
  const ItemsConfig& items = *config.items;
  DeadLetterProducer::Options letters;
  letters.brokers = config.kafka.brokers;
  letters.client = config.kafka.client;
  letters.topic = config.input.dead_letter_topic;
  letters.source_topic = topics.ordered_topic;
  letters.queue_bytes_max = options_.dead_letter_bytes_max;
  auto dead_letters = DeadLetterProducer::Open(letters);
  if (!dead_letters) return Fail(std::move(dead_letters.error()));
  reading.dead_letters = std::move(*dead_letters);

  ItemsHandlerOptions handler;
  handler.topic = topics.ordered_topic;
  handler.partitions = topics.ordered_partitions;
  handler.groups = GroupOptionsOf(items);
  handler.future_skew_max = config.input.future_skew_max;
  handler.checkpoint_interval = config.store.checkpoint_interval;
  handler.ready_lag_messages = static_cast<int64_t>(config.http.ready_lag_messages);
  handler.make_reading = [this](const FeatureOptions& features) {
    const ItemsConfig& of = *options_.config->items;
    ItemReadingOptions options;
    options.format = of.format;
    options.record_bytes_max = ItemRecordBytesMax(of);
    options.future_skew_max = options_.config->input.future_skew_max;
    options.clock = &clock_;
    options.features = features;
    options.threads = options_.threads;
    return std::make_unique<ItemReading>(options);
  };
  GroupProducer::Options groups;
  groups.brokers = config.kafka.brokers;
  groups.client = config.kafka.client;
  groups.topic = items.groups_topic;
  groups.queue_bytes_max = std::min(options_.producer_bytes_max, kGroupsQueueBytesMax);
  groups.delivery_timeout = options_.lease_times.delivery;
  handler.instance = options_.instance_id;
  handler.make_sink = [groups](const std::string& decided_by) {
    GroupProducer::Options sink = groups;
    sink.decided_by = decided_by;
    return GroupProducer::Open(sink);
  };
  if (options_.guards_groups) {
    const TopicReader::Options written{.brokers = config.kafka.brokers,
                                       .client = config.kafka.client,
                                       .topic = items.groups_topic,
                                       .queue_bytes_max = kGuardFetchBytes};
    handler.watch_groups = [written](const std::vector<int64_t>& from) {
      return FollowedGroupTopic::Open(written, from, kGuardAsks);
    };
  }
  handler.loss = options_.loss;
  handler.counts_events = topics.ordered_topic == items.topic;
  handler.lease = &reading.lease;
  handler.awaits = [&reading] {
    return reading.rekeying ? reading.rekeying->GetStatus().problem : std::string();
  };
  reading.handler = std::make_unique<ItemsHandler>(std::move(handler), *reading.indexes,
                                                   *reading.dead_letters, reading.space, clock_);
  TopicConsumer::Options topic_consumer;
  topic_consumer.topic = topics.ordered_topic;
  topic_consumer.remedy = "point items.topic at the right topic, or ";
  topic_consumer.rebuild_does = "drop this partition's index and read it from its earliest record";
  topic_consumer.rebuild = options_.rebuild;
  reading.topic_consumer =
      std::make_unique<TopicConsumer>(std::move(topic_consumer), *reading.handler, reading.space, clock_);

  Consumer::Options consumer;
  consumer.brokers = config.kafka.brokers;
  consumer.client = config.kafka.client;
  consumer.topic = topics.ordered_topic;
  consumer.group_id = ItemsGroup(config);
  consumer.instance_id = options_.instance_id;
  consumer.workers = 1;
  consumer.lease = &reading.lease;
  consumer.watch_owners = !options_.embedded_kafka;
  consumer.fetch_bytes_max = options_.fetch_bytes_max;
  consumer.batch_records_max = kRecordsAPoll;
  auto opened = Consumer::Open(consumer, *reading.topic_consumer);
  if (!opened) return Fail(std::move(opened.error()));
  reading.consumer = std::move(*opened);
  reading.topic_consumer->SetLog(*reading.consumer);
  return {};
}

Status Items::StartRekeying(const ItemTopics& topics, Reading& reading) {
  const ItemsConfig& items = *options_.config->items;
  Rekeying::Options rekeying;
  rekeying.config = options_.config;
  rekeying.source_topic = items.topic;
  rekeying.keyed_topic = topics.ordered_topic;
  rekeying.topic_key = "items.topic";
  rekeying.group_id = ItemsRekeyingGroup(*options_.config);
  rekeying.record_bytes_max = ItemRecordBytesMax(items);
  rekeying.make_keyer = [&items, ahead_max = options_.config->input.future_skew_max] {
    return NewItemKeyer(items.format, ItemRecordBytesMax(items), ahead_max);
  };
  rekeying.instance_id = options_.instance_id;
  rekeying.watch_owners = !options_.embedded_kafka;
  rekeying.rebuild = options_.rebuild;
  rekeying.workers = std::min(2, topics.source_partitions);
  rekeying.fetch_bytes_max = options_.fetch_bytes_max;
  rekeying.dead_letter_bytes_max = options_.dead_letter_bytes_max;
  rekeying.producer_bytes_max = options_.producer_bytes_max;
  auto started =
      Rekeying::Start(rekeying, {}, *rekey_reports_, clock_, [this](const Error& error) { Refuse(error); });
  if (!started) return Fail(std::move(started.error()));
  reading.rekeying = std::move(*started);
  return {};
}

void Items::Refuse(const Error& error) {
  SetProblem(error.message);
  on_failed_(error);
}

void Items::SetProblem(std::string problem) {
  const MutexLock lock(mutex_);
  problem_ = std::move(problem);
}

void Items::Stop(milliseconds drain) {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  stop_wanted_.NotifyAll();
  if (opening_.joinable()) opening_.join();
  if (!reading_) return;
  if (reading_->rekeying) reading_->rekeying->Stop(drain);
  reading_->threads->Stop(drain);
}

// --- any thread

Result<SimilarAnswer> Items::Similar(const SimilarQuestion& question) {
  Reading* const reading = open_.load(std::memory_order_acquire);
  if (reading == nullptr) return Fail(Code::kUnavailable, "the stream of items isn't read yet; try again");
  return reading->handler->Similar(question);
}

ItemsStatus Items::GetStatus() const {
  ItemsStatus status;
  status.topic = options_.config->items->topic;
  status.group_id = ItemsGroup(*options_.config);
  {
    const MutexLock lock(mutex_);
    status.problem = problem_;
  }
  status.rekeying_rejected = rekey_reports_->rejected();
  const Reading* const reading = open_.load(std::memory_order_acquire);
  if (reading == nullptr) return status;
  status.ordered_topic = reading->ordered_topic;
  status.unread.unowned = reading->consumer->unowned_partitions();
  status.unread.open_transactions = reading->topic_consumer->OpenTransactions();
  reading->handler->AddStatus(reading->topic_consumer->Problems(), status);
  if (!reading->rekeying) return status;
  status.rekeying = reading->rekeying->GetStatus();
  if (status.problem.empty()) status.problem = status.rekeying->problem;
  return status;
}

}  // namespace seen
