#include "tools/load/items_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/whole_file.h"

namespace seen {
namespace {

constexpr std::string_view kDefaults = R"({"items": {}})";

/// An empty `path` gives the defaults.
Result<ItemsSections> ReadConfig(const std::string& path) {
  std::string text(kDefaults);
  if (!path.empty()) {
    auto whole = ReadWhole(path);
    if (!whole) return Fail(whole.error().code, "--config: " + whole.error().message);
    text = std::move(*whole);
  }
  auto sections = LoadItems(text);
  if (sections) return std::move(*sections);
  std::string mistakes;
  for (const ConfigError& error : sections.error()) {
    mistakes += mistakes.empty() ? "" : "; ";
    mistakes += error.path.empty() ? error.message : error.path + ": " + error.message;
  }
  return Fail(Code::kInvalidArgument, fmt::format("--config: {}: {}", path, mistakes));
}

}  // namespace

void ItemsTopicOptions::AddTo(CLI::App& app) {
  app_ = &app;
  kafka_.topic = LoadItems(kDefaults)->items.topic;
  AddKafkaOptions(app, kafka_);
  app.get_option("--topic")->description("the topic of items");
  app.add_option("--config", config_,
                 "the daemon's configuration: its brokers, topic, fields and rules instead of the defaults");
}

bool ItemsTopicOptions::TopicIsGiven() const { return app_->count("--topic") > 0; }

Result<ItemsTopicOptions::Outcome> ItemsTopicOptions::Read() const {
  auto sections = ReadConfig(config_);
  if (!sections) return Fail(sections.error());
  auto client = kafka_.Settings();
  if (!client) return Fail(client.error());
  const bool own_brokers = sections->brokers.empty() || app_->count("--brokers") > 0;
  Outcome outcome{std::move(sections->items), {}};
  outcome.places.brokers = own_brokers ? kafka_.brokers : sections->brokers;
  outcome.places.client = std::move(*client);
  outcome.places.topic = config_.empty() || TopicIsGiven() ? kafka_.topic : outcome.items.topic;
  return outcome;
}

}  // namespace seen
