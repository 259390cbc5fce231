#include "tools/common_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "tools/commands.h"

namespace seen {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void OnInterrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Result<ClientSettings> KafkaOptions::Settings() const {
  ClientSettings settings;
  for (const std::string& pair : client) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--client: {}: expected KEY=VALUE, e.g. security.protocol=SASL_SSL", pair));
    }
    settings[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  if (auto checked = CheckClientSettings(settings); !checked) return Fail(checked.error());
  return settings;
}

void AddKafkaOptions(CLI::App& app, KafkaOptions& options) {
  app.add_option("--brokers", options.brokers, "Kafka's HOST:PORT,...")->capture_default_str();
  app.add_option("--topic", options.topic, "the daemon's input topic")->capture_default_str();
  app.add_option("--client", options.client, "a librdkafka property, KEY=VALUE; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

void AddPartitionerOption(CLI::App& app, KafkaOptions& options) {
  app.add_option("--partitioner", options.partitioner, "how users map to partitions: murmur2 or crc32")
      ->check(CLI::IsMember({"murmur2", "crc32"}))
      ->capture_default_str();
}

void AddAskOptions(CLI::App& app, AskOptions& options) {
  app.add_option("--http", options.http, "the daemon's address")->capture_default_str();
  app.add_option("--filter", options.filter, "the filter's name")->capture_default_str();
}

int ExitWith(const Error& error) {
  std::fprintf(stderr, "seenctl: %s\n", error.message.c_str());
  return error.code == Code::kInvalidArgument ? kExitUsage : kExitFailed;
}

void CatchInterrupts() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
}

bool Interrupted() { return interrupted != 0; }

}  // namespace seen
