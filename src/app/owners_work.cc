#include "app/owners_work.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kLastRekeyedAwaited{1000};
constexpr milliseconds kLastGroupsAwaited{1500};
}  // namespace

int WorkersFor(const Config& config, int32_t partitions) {
  const auto processors = static_cast<int32_t>(std::max(1U, std::thread::hardware_concurrency()));
  return std::min(config.input.workers.value_or(processors), partitions);
}

void OwnersWork::PrepareConfig() {
  if (items_ || rekeying_) return;  // both read config_
  config_ = options_.config;
  config_.kafka.group_id = options_.promotions.FirstGroup();  // both go on from this group's offsets
}

Status OwnersWork::StartItems() {
  if (!options_.config.items || items_) return {};
  PrepareConfig();
  const RunCommand& command = options_.command;
  Items::Options items;
  items.config = &config_;
  items.lease_times = options_.lease_times;
  items.directory = options_.directory;
  items.resources = &options_.resources;
  items.instance_id = options_.instance_id;
  items.rebuild = command.rebuild || command.embedded_kafka;
  items.embedded_kafka = command.embedded_kafka;
  // Two groups that share their topics would replace each other's records without end.
  items.guards_groups = !command.share_topics;
  items.threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
  items.fetch_bytes_max = options_.budget.ItemsFetchBytes();
  items.producer_bytes_max = options_.budget.ItemsProducerBytes();
  items.dead_letter_bytes_max = options_.budget.DeadLetterBytes(true);
  items.loss = options_.items_loss;
  items.presence_bytes_max = options_.budget.presence_bytes;
  auto started = Items::Start(items, options_.admin, options_.clock, options_.on_failed);
  if (!started) return Fail(started.error());
  items_ = std::move(*started);
  shown_items_.store(items_.get());
  options_.queries.SetSimilar(items_.get());
  return {};
}

Status OwnersWork::StartRekeying(Exposures& exposures, const InputTopics& topics) {
  if (!options_.config.input.source_topic || rekeying_) return {};
  PrepareConfig();
  const auto plan = EventPlan::Make(config_.input.format);
  if (!plan) return Fail(Code::kInvalidArgument, plan.error().path + ": " + plan.error().message);
  const RunCommand& command = options_.command;
  Rekeying::Options rekeying = Rekeying::ForEvents(config_, *plan);
  rekeying.instance_id = options_.instance_id;
  rekeying.rebuild = command.rebuild || command.embedded_kafka;
  rekeying.watch_owners = !command.embedded_kafka;
  rekeying.workers = WorkersFor(config_, topics.source_partitions);
  rekeying.keyed_message_bytes_max = topics.message_bytes_max;
  rekeying.fetch_bytes_max = options_.budget.FetchBytes(true);
  rekeying.dead_letter_bytes_max = options_.budget.DeadLetterBytes(true);
  rekeying.producer_bytes_max = options_.budget.KeyedProducerBytes();
  auto started = Rekeying::Start(rekeying, {&exposures.open(), &exposures.consumer()}, options_.metrics,
                                 options_.clock, options_.on_failed);
  if (!started) return Fail(started.error());
  rekeying_ = std::move(*started);
  shown_rekeying_.store(rekeying_.get());
  return {};
}

void OwnersWork::Stop() {
  if (rekeying_) {
    shown_rekeying_.store(nullptr);
    rekeying_->Stop(kLastRekeyedAwaited);
    past_rekeyings_.push_back(std::move(rekeying_));
  }
  if (items_) {
    shown_items_.store(nullptr);
    options_.queries.SetSimilar(nullptr);
    items_->Stop(kLastGroupsAwaited);
    past_items_.push_back(std::move(items_));
  }
}

std::optional<ItemsStatus> OwnersWork::items() const {
  const Items* const items = shown_items_.load();
  return items != nullptr ? std::optional(items->GetStatus()) : std::nullopt;
}

}  // namespace seen
