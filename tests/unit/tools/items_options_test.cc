#include "tools/load/items_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "unit/tools/scratch_folder.h"

namespace seen {
namespace {

Result<ItemsTopicOptions::Outcome> Read(std::vector<std::string> arguments) {
  CLI::App app;
  ItemsTopicOptions options;
  options.AddTo(app);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  app.parse(arguments);
  return options.Read();
}

TEST(ItemsTopicOptions, AreTheDaemonsDefaultsWithoutAConfiguration) {
  const auto read = Read({});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->topic.topic, "items");
  EXPECT_EQ(read->topic.brokers, "127.0.0.1:9092");
  EXPECT_EQ(read->items.similarity_min, 0.8);
}

TEST(ItemsTopicOptions, TakeFromTheConfigurationWhatTheCommandLineDoesNotSay) {
  const ScratchFolder folder;
  const std::string path = folder.Write(
      "seend.json", R"({"kafka": {"brokers": "k:9092"}, "items": {"topic": "articles", "distance_max": 1}})");
  const auto read = Read({"--config", path});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->topic.topic, "articles");
  EXPECT_EQ(read->topic.brokers, "k:9092");
  EXPECT_EQ(read->items.distance_max, 1);
  const auto given = Read({"--config", path, "--topic", "other", "--brokers", "b:1"});
  EXPECT_EQ(given->topic.topic, "other");
  EXPECT_EQ(given->topic.brokers, "b:1");
}

TEST(ItemsTopicOptions, NameTheFileAndEveryMistakeInIt) {
  const ScratchFolder folder;
  const std::string path = folder.Write("seend.json", R"({"items": {"method": "md5", "distance_max": 4}})");
  const auto read = Read({"--config", path});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kInvalidArgument);
  EXPECT_TRUE(read.error().message.starts_with("--config: " + path + ": items.method: \"md5\": must be"))
      << read.error().message;
  EXPECT_NE(read.error().message.find("; items.distance_max: 4: must be"), std::string::npos)
      << read.error().message;
  const auto missing = Read({"--config", "/no/such/file"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kInvalidArgument);
  EXPECT_TRUE(missing.error().message.starts_with("--config: /no/such/file: ")) << missing.error().message;
}

}  // namespace
}  // namespace seen
