#include "app/loss_watches.h"

#include "base/log.h"

namespace seen {

LossWatches::LossWatches(const Config& config, const Clock& clock) {
  const auto watch = [&](LossWatch::Options options) {
    return std::make_unique<LossWatch>(std::move(options), clock);
  };
  LossWatch::Options input{
      .topic = config.input.topic, .partitioner = config.input.partitioner, .limits = config.loss};
  input.longest_window = std::chrono::days(LongestWindowDays(config));
  for (const FilterConfig& filter : config.filters) input.filters.push_back(filter.name);
  input_ = watch(std::move(input));
  if (config.input.source_topic) {
    source_ = watch({.topic = *config.input.source_topic,
                     .causes = {LossCause::kSkipped, LossCause::kRejected},
                     .limits = config.loss});
  }
  if (config.items) {
    items_ = watch({.topic = config.items->topic,
                    .noun = "items",
                    .causes = {LossCause::kRejected},
                    .limits = config.loss});
  }
}

std::vector<TopicLoss> LossWatches::Look() const {
  std::vector<TopicLoss> losses;
  for (const LossWatch* watch : {input_.get(), source_.get(), items_.get()}) {
    if (watch != nullptr) losses.push_back(watch->Look());
  }
  return losses;
}

void LossWatches::LogChanges(const std::vector<TopicLoss>& losses) {
  for (const TopicLoss& loss : losses) {
    for (const LossShare& share : loss.causes) {
      const auto key = std::pair(loss.topic, share.cause);
      if (share.trouble.empty()) {
        if (logged_.erase(key) > 0) {
          log::Info("the share of lost events is within input.loss again",
                    {{"topic", loss.topic}, {"cause", LossCauseName(share.cause)}, {"share", share.share}});
        }
      } else if (logged_.insert(key).second) {
        log::Warning("events are lost", {{"topic", loss.topic},
                                         {"cause", LossCauseName(share.cause)},
                                         {"reason", share.trouble},
                                         {"lost", share.lost},
                                         {"share", share.share},
                                         {"share_max", share.share_max}});
      }
    }
  }
}

}  // namespace seen
