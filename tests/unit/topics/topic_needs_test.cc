#include "topics/topic_needs.h"

#include <gtest/gtest.h>

#include "model/day.h"

namespace seen {
namespace {

using Words = std::vector<std::string>;

Config OneFilter() {
  Config config;
  config.kafka.brokers = "broker:9092";
  config.input.topic = "exposures";
  config.input.dead_letter_topic = "dead";
  config.filters.resize(1);
  config.filters[0].window_days = 30;
  config.filters[0].snapshot.emplace(SnapshotConfig{"filters", SnapshotPolicy({}, {})});
  config.watermarks = WatermarksConfig{"beats"};
  config.state = StateConfig{"state"};
  return config;
}

TopicNeed NeedOf(const Config& config, const std::string& topic) {
  for (const TopicNeed& need : TopicNeeds(config, 4)) {
    if (need.spec.name == topic) return need;
  }
  ADD_FAILURE() << topic;
  return {};
}

TEST(TopicNeeds, TheLongestWindowIsOfAllFiltersAndKinds) {
  Config config;
  config.filters.resize(2);
  config.filters[0].window_days = 7;
  config.filters[1].window_days = 14;
  EXPECT_EQ(LongestWindowDays(config), 14);
  config.filters[0].kinds.push_back({"bought", 365});
  EXPECT_EQ(LongestWindowDays(config), 365);
}

TEST(TopicNeeds, NameEachWrongSettingWithTheCommandThatMendsIt) {
  struct Case {
    std::string topic;
    TopicDescription found;
    Words problems;
    std::string command;  // "": none
  };
  const Case cases[] = {
      {"exposures", {4, {{"cleanup.policy", "delete"}, {"retention.bytes", "-1"}}}, {}, ""},
      {"exposures",
       {4, {{"cleanup.policy", "compact"}}},
       {"cleanup.policy"},
       "--entity-name exposures --add-config cleanup.policy=delete"},
      {"exposures",
       {4, {{"cleanup.policy", "compact,delete"}, {"retention.bytes", "1000"}}},
       {"cleanup.policy", "retention.bytes"},
       "--add-config retention.bytes=-1"},
      {"filters",
       {4, {{"cleanup.policy", "compact,delete"}}},
       {"cleanup.policy"},
       "--add-config cleanup.policy=compact"},
      {"filters",
       {6, {{"cleanup.policy", "compact"}}},
       {"partitions"},
       "readers must map keys to the first 4"},
      {"filters",
       {3, {{"cleanup.policy", "compact"}}},
       {"partitions"},
       "--bootstrap-server broker:9092 --alter --topic filters --partitions 4"},
      {"beats", {1, {{"cleanup.policy", "compact,delete"}}}, {}, ""},
      {"beats", {1, {{"cleanup.policy", "delete"}}}, {"cleanup.policy"}, ""},
      {"dead", {1, {{"cleanup.policy", "compact"}}}, {"cleanup.policy"}, ""},
      {"state",
       {4, {{"cleanup.policy", "delete"}, {"retention.ms", "-1"}, {"retention.bytes", "-1"}}},
       {},
       ""},
      {"state",
       {4, {{"cleanup.policy", "delete"}, {"retention.ms", "604800000"}, {"retention.bytes", "-1"}}},
       {"retention.ms"},
       "--add-config retention.ms=-1"},
      {"state", {4, {}}, {}, ""},
  };
  const Config config = OneFilter();
  for (const Case& one : cases) {
    Words names;
    std::string texts;
    for (const TopicProblem& problem : ProblemsOf(NeedOf(config, one.topic), one.found, "broker:9092")) {
      EXPECT_EQ(problem.topic, one.topic);
      names.push_back(problem.problem);
      texts += problem.text + "\n";
    }
    EXPECT_EQ(names, one.problems) << texts;
    EXPECT_NE(texts.find(one.command), std::string::npos) << texts;
  }
}

TEST(TopicNeeds, ATopicTakesTheLargestSnapshotOfAFilterWithUpdates) {
  Config config = OneFilter();
  FilterConfig& filter = config.filters[0];
  SnapshotShape shape;
  filter.items_max = 2'000'000;
  const auto problems = [&](const char* takes) {
    const TopicDescription found{4, {{"cleanup.policy", "compact"}, {"max.message.bytes", takes}}};
    const auto all = ProblemsOf(NeedOf(config, "filters"), found, "broker:9092");
    return all.empty() ? "" : all[0].text;
  };
  // Without updates, a snapshot that is too large harms its user alone.
  EXPECT_EQ(problems("1048588"), "");

  filter.snapshot->updates = true;
  for (const SnapshotFormat format : {SnapshotFormat::kAuto, SnapshotFormat::kIndexedCuckoo}) {
    shape.format = format;
    filter.snapshot->policy.Change(shape, {});
    const std::string needed = NeedOf(config, "filters").spec.config.at("max.message.bytes");
    EXPECT_GT(std::stoull(needed), 2'000'000);
    EXPECT_EQ(problems(needed.c_str()), "");
    EXPECT_NE(
        problems("1048588").find("has max.message.bytes=1048588: the topic refuses the largest snapshots"),
        std::string::npos);
    EXPECT_NE(problems("1048588").find("--add-config max.message.bytes=" + needed), std::string::npos);
  }
  filter.items_max = 10'000;
  EXPECT_EQ(problems("1048588"), "");
}

TEST(TopicNeeds, TheTopicOfUpdatesTakesTheLongestRecordAndKeepsAllOfThem) {
  Config config = OneFilter();
  config.updates.emplace().topic = "updates";
  const auto problems = [&](const char* name, const char* value) {
    const TopicDescription found{4, {{"cleanup.policy", "delete"}, {name, value}}};
    const auto all = ProblemsOf(NeedOf(config, "updates"), found, "broker:9092");
    return all.empty() ? "" : all[0].text;
  };
  EXPECT_EQ(problems("max.message.bytes", "1048588"), "");
  const std::string refused = problems("max.message.bytes", "20000");
  EXPECT_NE(refused.find("has max.message.bytes=20000: the topic refuses the largest updates, of events with "
                         "many items, and readers wait for the refresh"),
            std::string::npos)
      << refused;
  EXPECT_NE(refused.find("--add-config max.message.bytes=266240"), std::string::npos) << refused;
  EXPECT_EQ(problems("retention.bytes", "-1"), "");
  EXPECT_NE(problems("retention.bytes", "1000").find("has retention.bytes=1000"), std::string::npos);
}

TEST(TopicNeeds, AKeyedTopicTakesTheTimestampsOfItsSource) {
  Config config = OneFilter();
  config.input.source_topic = "clicks";
  const TopicNeed keyed = NeedOf(config, "exposures");
  EXPECT_TRUE(
      ProblemsOf(keyed, TopicDescription{4, {{"message.timestamp.type", "CreateTime"}}}, "b").empty());
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"message.timestamp.before.max.ms", "60000"}, {"message.timestamp.type", "LogAppendTime"}}) {
    const auto problems = ProblemsOf(keyed, TopicDescription{4, {{name, value}}}, "b");
    ASSERT_EQ(problems.size(), 1u) << name;
    EXPECT_EQ(problems[0].problem, name);
  }
}

TEST(TopicNeeds, AMissingTopicIsCreatedByACommandAndAnOutageIsNoProblem) {
  const TopicNeed need = NeedOf(OneFilter(), "filters");
  const auto problems = ProblemsOf(need, Fail(Code::kNotFound, "gone"), "broker:9092");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].problem, "missing");
  EXPECT_NE(problems[0].text.find("kafka-topics.sh --bootstrap-server broker:9092 --create --topic filters "
                                  "--partitions 4 --config cleanup.policy=compact"),
            std::string::npos)
      << problems[0].text;
  EXPECT_TRUE(ProblemsOf(need, Fail(Code::kUnavailable, "no answer"), "b").empty());
}

TEST(TopicNeeds, SimilarNamesComeFirstAndKafkasOwnNever) {
  const Words names = {"orders",      "exposures",      "Exposure",          "exposures-dead-letters",
                       "__exposures", "feed.exposures", "__consumer_offsets"};
  EXPECT_EQ(SimilarNames("exposres", names), (Words{"exposures", "Exposure"}));
  EXPECT_EQ(SimilarNames("exposures", names), (Words{"exposures", "Exposure", "feed.exposures"}));
  EXPECT_EQ(SimilarNames("clicks", names), Words());
}

}  // namespace
}  // namespace seen
