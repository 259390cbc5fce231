#include "tools/common_options.h"

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/text.h"
#include "config/config_keys.h"
#include "config/config_text.h"
#include "decode/field_rule.h"
#include "tools/commands.h"
#include "tools/read_files.h"

namespace seen {
namespace {

std::atomic<bool> interrupted{false};

extern "C" void OnInterrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

bool HasColours(std::FILE* stream) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (none == nullptr || *none == '\0') && terminal != nullptr && std::string_view(terminal) != "dumb" &&
         isatty(fileno(stream)) != 0;
}

fmt::text_style StyleOf(Paint paint) {
  switch (paint) {
    case Paint::kGood:
      return fmt::fg(fmt::terminal_color::green);
    case Paint::kBad:
      return fmt::fg(fmt::terminal_color::red) | fmt::emphasis::bold;
    case Paint::kTitle:
      return fmt::text_style(fmt::emphasis::bold);
  }
  return {};
}

}  // namespace

Result<ClientSettings> ReadClientSettings(std::string_view option, const std::vector<std::string>& pairs,
                                          ClientSettings settings) {
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: {}: expected KEY=VALUE, e.g. security.protocol=SASL_SSL", option, pair));
    }
    const std::string key = pair.substr(0, equals);
    std::string value = pair.substr(equals + 1);
    if (value.starts_with('@')) {
      auto whole = ReadWhole(value.substr(1));
      if (!whole)
        return Fail(Code::kInvalidArgument, fmt::format("{}: {}: {}", option, key, whole.error().message));
      value = std::move(*whole);
      while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
    } else if (IsSecretProperty(key)) {  // every user of the machine can read a process's arguments
      return Fail(Code::kInvalidArgument, fmt::format("{0}: {1}: a secret can't be on the command line. "
                                                      "Write the secret into a file: {0} {1}=@FILE",
                                                      option, key));
    }
    settings[key] = std::move(value);
  }
  if (auto checked = CheckClientSettings(settings); !checked) return Fail(checked.error());
  return settings;
}

Result<ClientSettings> KafkaOptions::Settings() const { return ReadClientSettings("--client", client); }

void AddKafkaOptions(CLI::App& app, KafkaOptions& options) {
  app.add_option("--brokers", options.brokers, "Kafka's HOST:PORT,...")
      ->check(BrokersProblem)
      ->capture_default_str();
  app.add_option("--topic", options.topic, "the daemon's input topic")->capture_default_str();
  app.add_option("--client", options.client,
                 "a librdkafka property, KEY=VALUE, or KEY=@FILE for a secret; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

void AddPartitionerOption(CLI::App& app, KafkaOptions& options) {
  app.add_option("--partitioner", options.partitioner, "how users map to partitions: murmur2, crc32 or fnv1a")
      ->check(CLI::IsMember(std::vector<std::string>(kPartitionerNames.begin(), kPartitionerNames.end())))
      ->capture_default_str();
}

void AddDaemonOptions(CLI::App& app, DaemonAddress& address, const char* meaning) {
  app.add_option("--http", address.base, meaning)->envname("SEEN_HTTP")->capture_default_str();
  app.add_option("--token-file", address.token_file,
                 "a file that holds only a token, for a daemon that asks for one")
      ->envname("SEEN_TOKEN_FILE");
  app.add_option("--ca", address.ca,
                 "PEM file of CAs, one of which signed the daemon's certificate; default: the machine's CAs")
      ->envname("SEEN_CA");
}

void AddAskOptions(CLI::App& app, AskOptions& options) {
  AddDaemonOptions(app, options.http);
  app.add_option("--filter", options.filter, "the filter's name")->capture_default_str();
}

std::string BrokersProblem(const std::string& text) {
  const std::string problem = ProblemOf(kBrokerList, text);
  return problem.empty() ? problem : fmt::format("{}: {}", text, problem);
}

std::string NotNegative(const std::string& text) {
  double number = 0;
  const bool is_number = CLI::detail::lexical_cast(text, number) && std::isfinite(number);
  return is_number && number >= 0 ? std::string() : fmt::format("{}: expected a number, 0 or more", text);
}

std::function<std::string(const std::string&)> NumberIn(double low, double high) {
  return [=](const std::string& text) {
    double number = 0;
    const bool is_in = CLI::detail::lexical_cast(text, number) && number >= low && number <= high;
    return is_in ? std::string() : fmt::format("{}: expected a number from {:g} to {:g}", text, low, high);
  };
}

std::string Painted(Paint paint, std::string_view text, std::FILE* stream) {
  return HasColours(stream) ? fmt::format(StyleOf(paint), "{}", text) : std::string(text);
}

int ExitWith(const Error& error) {
  std::fprintf(stderr, "%s %s\n", Painted(Paint::kBad, "seenctl:", stderr).c_str(),
               PrintableLines(error.message).c_str());
  return error.code == Code::kInvalidArgument ? kExitUsage : kExitFailed;
}

void CatchInterrupts() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
}

bool Interrupted() { return interrupted; }
const std::atomic<bool>& InterruptFlag() { return interrupted; }

namespace {

// "2026-11-21", or RFC 3339, whose time zone may be left out.
std::optional<TimeMs> ParseDate(std::string_view text) {
  const std::string_view rest = text.size() == 10 ? "T00:00:00Z" : text.size() == 19 ? "Z" : "";
  return ParseTimestamp(std::string(text).append(rest));
}

}  // namespace

Result<TimeMs> ParseTime(std::string_view option, std::string_view text, TimeMs now) {
  if (const auto ms = ParseInteger(text); ms && *ms >= 0) return TimeMs{*ms};
  if (const auto date = ParseDate(text)) return *date;
  if (!text.empty()) {
    const auto amount = ParseInteger(text.substr(0, text.size() - 1));
    const std::string_view units = "smhd";
    constexpr int64_t kMs[] = {1000, 60'000, 3'600'000, kMsPerDay};
    const size_t unit = units.find(text.back());
    if (amount && *amount >= 0 && *amount < 100'000 && unit != std::string_view::npos)
      return TimeMs{now.value - *amount * kMs[unit]};
  }
  return Fail(
      Code::kInvalidArgument,
      fmt::format(
          "{}: {}: expected ms since the epoch, a date like 2026-11-21 or 2026-11-21T10:04:00Z (UTC), "
          "or an age like 15m, 2h, 7d",
          option, text));
}

}  // namespace seen
