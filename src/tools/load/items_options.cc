#include "tools/load/items_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/read_files.h"

namespace seen {
namespace {

constexpr std::string_view kDefaults = R"({"items": {}})";

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
  std::string text(kDefaults);
  if (!config_.empty()) {
    auto whole = ReadWhole(config_);
    if (!whole) return Fail(whole.error().code, "--config: " + whole.error().message);
    text = std::move(*whole);
  }
  auto sections = LoadItems(text);
  if (!sections) return Fail(Code::kInvalidArgument, MistakesText(config_, sections.error()));
  auto client = kafka_.Settings();
  if (!client) return Fail(client.error());
  const bool own_brokers = sections->brokers.empty() || app_->count("--brokers") > 0;
  Outcome outcome{std::move(sections->items), {}};
  outcome.topic.brokers = own_brokers ? kafka_.brokers : sections->brokers;
  outcome.topic.client = std::move(*client);
  outcome.topic.topic = config_.empty() || TopicIsGiven() ? kafka_.topic : outcome.items.topic;
  return outcome;
}

Result<ItemCounts> ReadItems(const WholeTopic& topic, const ItemFormat& format, const UseItem& use) {
  ItemDecoder decoder(format, kItemBytesMax);
  ItemCounts counts;
  const auto read = ReadWholeTopic(topic, [&](int32_t partition, const Record& record) -> Status {
    std::string why = "a null value";
    if (!record.value_is_null) {
      const auto item = decoder.Decode(record.value);
      if (item) {
        ++counts.items;
        use(*item, record.timestamp);
        return {};
      }
      why = item.error().message;
    }
    if (counts.skipped++ == 0) {
      counts.first_skipped =
          fmt::format("{}: partition {}, offset {}: {}", topic.topic, partition, record.offset, why);
    }
    return {};
  });
  if (!read) return Fail(read.error());
  return counts;
}

}  // namespace seen
