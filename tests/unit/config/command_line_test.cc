#include "config/command_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "config/config_text.h"

namespace seen {
namespace {

class CommandLine : public testing::Test {
 protected:
  ~CommandLine() override { std::remove(path_.c_str()); }

  std::string File(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  static Command Parse(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"seend"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return ParseCommandLine(static_cast<int>(argv.size()), argv.data(), {"0.1.0", "2.0.2", "7.8.3"});
  }
  static PrintCommand Printed(const std::vector<std::string>& arguments) {
    const Command command = Parse(arguments);
    const auto* const print = std::get_if<PrintCommand>(&command);
    if (print != nullptr) return *print;
    ADD_FAILURE() << "runs";
    return {-1, "", ""};
  }

  const std::string path_ = fmt::format("{}/seen-command-line-{}.json", testing::TempDir(), ::getpid());
  static constexpr const char* kMinimal = R"({"kafka": {"brokers": "a:1"}})";
};

TEST_F(CommandLine, RunsWithAConfigurationNamedEitherWay) {
  const std::string path = File(kMinimal);
  const std::vector<std::vector<std::string>> ways = {
      {path}, {"--config", path}, {"--config=" + path}, {"--set", "store.memory_mib=64", path}};
  for (const auto& arguments : ways) {
    const Command command = Parse(arguments);
    const auto* const run = std::get_if<RunCommand>(&command);
    ASSERT_NE(run, nullptr) << std::get<PrintCommand>(command).error;
    EXPECT_EQ(run->config.kafka.brokers, "a:1");
    EXPECT_FALSE(run->embedded_kafka);
    EXPECT_FALSE(run->rebuild);
  }
}

TEST_F(CommandLine, RunsWithoutAFileWhereTheBrokerIsEmbedded) {
  const Command command = Parse({"--embedded-kafka", "--rebuild", "--publish-incomplete", "--set",
                                 "store.directory=/tmp/x", "--set", "http.listen=127.0.0.1:0"});
  const auto* const run = std::get_if<RunCommand>(&command);
  ASSERT_NE(run, nullptr) << std::get<PrintCommand>(command).error;
  EXPECT_TRUE(run->embedded_kafka);
  EXPECT_TRUE(run->rebuild);
  EXPECT_TRUE(run->publish_incomplete);
  EXPECT_FALSE(run->share_topics);
  EXPECT_EQ(run->config.store.directory, "/tmp/x");
  EXPECT_EQ(run->config.http.listen, "127.0.0.1:0");
}

TEST_F(CommandLine, PrintsEachMistakeOnALineOfItsOwnAndAsksForStatus2) {
  const std::string path = File(R"({"filters": [{"window_dys": 7}], "store": {"memory_mib": 1}})");
  for (const char* const mode : {"--check-config", "--print-config", "--rebuild"}) {
    const PrintCommand print = Printed({path, mode});
    EXPECT_EQ(print.exit_status, 2);
    EXPECT_EQ(print.out, "");
    EXPECT_EQ(print.error,
              path + ": filters[0].window_dys: unknown key; did you mean \"window_days\"?\n" +  //
                  path + ": store.memory_mib: 1: must be a whole number from 64 to 1048576 (MiB)\n" + path +
                  ": kafka.brokers: missing; give host:port of the cluster, e.g. \"127.0.0.1:9092\", or "
                  "run with --embedded-kafka\n");
  }
}

TEST_F(CommandLine, NamesWhatIsWrongWithTheArguments) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--no-such"}, "--no-such"},
      {{"/nowhere/c.json"}, "/nowhere/c.json: No such file or directory"},
      {{testing::TempDir()}, testing::TempDir()},
      {{File(kMinimal), "--config", path_}, "give one"},
      {{path_, "second.json"}, "second.json"},
      {{path_, "--set"}, "--set"},
      {{path_, "--set", "x"}, "must be KEY=VALUE"},
      {{}, "kafka.brokers: missing"},
  };
  for (const auto& [arguments, part] : cases) {
    const PrintCommand print = Printed(arguments);
    EXPECT_EQ(print.exit_status, 2);
    EXPECT_NE(print.error.find(part), std::string::npos) << part << "\n" << print.error;
  }
}

TEST_F(CommandLine, RefusesAFileThatIsNoConfigurationBySize) {
  EXPECT_NE(Printed({File(std::string(1024 * 1024 + 1, ' '))}).error.find("longer than"), std::string::npos);
}

TEST_F(CommandLine, PrintsTheEffectiveConfigurationWithOverrides) {
  const PrintCommand print = Printed({File(kMinimal), "--print-config", "--set", "store.memory_mib=256"});
  EXPECT_EQ(print.exit_status, 0);
  EXPECT_EQ(ConfigJson::parse(print.out)["store"]["memory_mib"], 256);
  EXPECT_EQ(Printed({File(print.out), "--print-config"}).out, print.out);
}

TEST_F(CommandLine, AnswersTheRestWithoutAConfiguration) {
  EXPECT_EQ(Printed({"--version"}).out, "seend 0.1.0 (librdkafka 2.0.2, RocksDB 7.8.3)\n");
  EXPECT_EQ(Printed({"--version"}).exit_status, 0);
  EXPECT_TRUE(ConfigJson::accept(Printed({"--print-config-schema"}).out));
  const PrintCommand help = Printed({"--help"});
  EXPECT_EQ(help.exit_status, 0);
  for (const char* const option :
       {"--config", "--set", "--check-config", "--print-config", "--print-config-schema", "--version",
        "--embedded-kafka", "--rebuild", "Exit status"}) {
    EXPECT_NE(help.out.find(option), std::string::npos) << option << "\n" << help.out;
  }
}

TEST_F(CommandLine, ChecksTheFilesOfAConfigurationWithoutMistakes) {
  const Command command = Parse({File(kMinimal), "--check-config"});
  const auto* const check = std::get_if<CheckCommand>(&command);
  ASSERT_NE(check, nullptr) << std::get<PrintCommand>(command).error;
  EXPECT_EQ(check->name, path_);
  EXPECT_EQ(check->config.kafka.brokers, "a:1");
  EXPECT_EQ(Printed({File("{}"), "--check-config"}).exit_status, kExitConfiguration);
}

}  // namespace
}  // namespace seen
