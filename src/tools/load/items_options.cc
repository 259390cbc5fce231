#include "tools/load/items_options.h"

#include <CLI/CLI.hpp>

namespace seen {

void ItemsTopicOptions::AddTo(CLI::App& app) {
  app_ = &app;
  kafka_.topic = ItemsSettings().topic;
  AddKafkaOptions(app, kafka_);
  app.get_option("--topic")->description("the topic of items");
  app.add_option("--config", config_,
                 "the daemon's configuration: its brokers, topic, fields and rules instead of the defaults");
}

bool ItemsTopicOptions::TopicIsGiven() const { return app_->count("--topic") > 0; }

Result<ItemsTopicOptions::Outcome> ItemsTopicOptions::Read() const {
  auto settings = ReadItemsSettings(config_);
  if (!settings) return Fail(settings.error());
  auto client = kafka_.Settings();
  if (!client) return Fail(client.error());
  const bool own_brokers = settings->brokers.empty() || app_->count("--brokers") > 0;
  Outcome outcome{std::move(*settings), {}};
  outcome.places.brokers = own_brokers ? kafka_.brokers : outcome.settings.brokers;
  outcome.places.client = std::move(*client);
  outcome.places.topic = config_.empty() || TopicIsGiven() ? kafka_.topic : outcome.settings.topic;
  return outcome;
}

}  // namespace seen
