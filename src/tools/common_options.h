#pragma once
// What subcommands share: options, times, colours, interrupts, and how errors end the program.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kafka/client_settings.h"
#include "model/day.h"

namespace CLI {
class App;
}

namespace seen {

using SortedJson = nlohmann::json;           // keys in byte order, as the daemon answers
using OrderedJson = nlohmann::ordered_json;  // keys in the order of insertion, as commands print

struct KafkaOptions {
  std::string brokers = "127.0.0.1:9092";
  std::string topic = "exposures";
  std::vector<std::string> client;  // KEY=VALUE
  std::string partitioner = "murmur2";

  Result<ClientSettings> Settings() const;
};

/// `pairs`: KEY=VALUE, or KEY=@FILE to take the value from the file. `pairs` override `settings`.
/// kInvalidArgument: a malformed pair, an unreadable file, a secret on the command line, an unknown property.
Result<ClientSettings> ReadClientSettings(std::string_view option, const std::vector<std::string>& pairs,
                                          ClientSettings settings = {});

/// A daemon's address, with a client's token and CAs for it.
struct DaemonAddress {
  std::string base = "http://127.0.0.1:8080";
  std::string token_file = {};  // holds a token; empty: no token is sent
  std::string ca = {};  // PEM file of CAs, of which one signed its certificate; empty: the machine's CAs
};

struct AskOptions {
  DaemonAddress http;
  std::string filter = "default";
};

void AddKafkaOptions(CLI::App& app, KafkaOptions& options);
void AddPartitionerOption(CLI::App& app, KafkaOptions& options);
/// Adds --http, --token-file and --ca. `meaning`: the help text of --http.
void AddDaemonOptions(CLI::App& app, DaemonAddress& address, const char* meaning = "the daemon's address");
void AddAskOptions(CLI::App& app, AskOptions& options);

/// For CLI::Option::check: accepts what kafka.brokers accepts. The error names the value.
std::string BrokersProblem(const std::string& text);
/// For CLI::Option::check: accepts numbers from 0 on. The error names the value.
std::string NotNegative(const std::string& text);
/// The same, from `low` to `high`. CLI::Range would accept nan.
std::function<std::string(const std::string&)> NumberIn(double low, double high);

enum class Paint : uint8_t { kGood, kBad, kTitle };

/// `text` in the form to write to `stream`: with colours for a person at a terminal. No colours with NO_COLOR
/// (no-color.org), without TERM, and with TERM=dumb.
std::string Painted(Paint paint, std::string_view text, std::FILE* stream);

/// Prints "seenctl: <message>" to standard error. Returns the exit status for main().
int ExitWith(const Error& error);

/// After CatchInterrupts, the first SIGINT or SIGTERM sets Interrupted. A second one ends the program.
void CatchInterrupts();
bool Interrupted();
const std::atomic<bool>& InterruptFlag();

/// Parses a point in time of the command line: ms since the epoch, "2026-11-21", "2026-11-21T10:04:00Z", or
/// an age before `now` like "90s", "15m", "2h", "7d". kInvalidArgument names `option` and the allowed forms.
Result<TimeMs> ParseTime(std::string_view option, std::string_view text, TimeMs now);

}  // namespace seen
