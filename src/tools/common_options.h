#pragma once
// Options that subcommands share, and how their errors end the program.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kafka/client_settings.h"
#include "tools/ask/http_client.h"

namespace CLI {
class App;
}

namespace seen {

struct KafkaOptions {
  std::string brokers = "127.0.0.1:9092";
  std::string topic = "exposures";
  std::vector<std::string> client;  // KEY=VALUE
  std::string partitioner = "murmur2";

  Result<ClientSettings> Settings() const;
};

/// `pairs`: KEY=VALUE, or KEY=@FILE, whose text is the value. They go before `settings`. kInvalidArgument: a
/// secret that stands on the command line; an unknown property.
Result<ClientSettings> ReadClientSettings(std::string_view option, const std::vector<std::string>& pairs,
                                          ClientSettings settings = {});

struct AskOptions {
  DaemonAddress http;
  std::string filter = "default";
};

void AddKafkaOptions(CLI::App& app, KafkaOptions& options);
void AddPartitionerOption(CLI::App& app, KafkaOptions& options);
/// --http, --token-file and --ca. `meaning`: of --http.
void AddDaemonOptions(CLI::App& app, DaemonAddress& address, const char* meaning = "the daemon's address");
void AddAskOptions(CLI::App& app, AskOptions& options);

/// Prints "seenctl: <message>" to standard error; what main() returns for it.
int ExitWith(const Error& error);

/// Set by the first SIGINT or SIGTERM once CatchInterrupts was called; a second one ends the program at once.
void CatchInterrupts();
bool Interrupted();

}  // namespace seen
