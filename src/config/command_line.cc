#include "config/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "config/config_keys.h"

namespace seen {
namespace {

constexpr size_t kConfigBytesMax = 1024 * 1024;

constexpr const char* kDescription =
    "seend reads exposure events from Kafka, keeps what each user has seen, and gives the recall stage a "
    "small\nfilter per user. Configuration: docs/CONFIGURATION.md.";

constexpr const char* kExitStatuses =
    "Exit status: 0 after SIGTERM; 1 after a failure; 2 for a mistake in the command line or the "
    "configuration;\n"
    "3 if it can't go on without losing or mixing up data: the log names the remedy.";

struct Flags {
  std::string config_argument;
  std::string config_option;
  std::vector<std::string> overrides;
  bool check_config = false;
  bool print_config = false;
  bool print_schema = false;
  bool version = false;
  bool embedded_kafka = false;
  bool rebuild = false;
  bool publish_incomplete = false;
  bool share_topics = false;
};

void AddOptions(CLI::App& app, Flags& flags) {
  app.add_option("CONFIG", flags.config_argument, "Configuration file, JSON with comments");
  app.add_option("--config", flags.config_option, "The same as CONFIG")->option_text("FILE");
  app.add_option(
         "--set", flags.overrides,
         "Override one key, e.g. store.memory_mib=256 or filters.default.snapshot=null; may be repeated")
      ->option_text("KEY=VALUE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_flag("--check-config", flags.check_config, "Check the configuration and exit");
  app.add_flag("--print-config", flags.print_config,
               "Print the configuration with all defaults filled in and exit");
  app.add_flag("--print-config-schema", flags.print_schema,
               "Print the JSON schema of the configuration and exit");
  app.add_flag("--version", flags.version, "Print versions and exit");
  app.add_flag("--embedded-kafka", flags.embedded_kafka,
               "Start a broker within this process, for trials: it keeps little data, and none after the "
               "process ends");
  app.add_flag("--rebuild", flags.rebuild,
               "Read a partition from the earliest offset if its local state is gone");
  app.add_flag("--publish-incomplete", flags.publish_incomplete,
               "Publish incomplete state as it is, over complete snapshots that were published before");
  app.add_flag("--share-topics", flags.share_topics,
               "Start even if another consumer group publishes to the same topics");
}

tl::expected<std::string, std::string> ReadConfigFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kConfigBytesMax + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    return tl::unexpected(fmt::format("{}: {}", path, errno != 0 ? std::strerror(errno) : "not readable"));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kConfigBytesMax) {
    return tl::unexpected(fmt::format("{}: longer than {} bytes", path, kConfigBytesMax));
  }
  return text;
}

PrintCommand Mistake(std::string lines) { return {kExitConfiguration, {}, std::move(lines)}; }

std::string ErrorLines(const std::string& source, const std::vector<ConfigError>& errors) {
  std::string lines;
  for (const ConfigError& error : errors) {
    lines += source + ": ";
    if (!error.path.empty()) lines += error.path + ": ";
    lines += error.message + '\n';
  }
  return lines;
}

Command Execute(Flags flags, const ProgramVersions& versions) {
  if (flags.version) {
    return PrintCommand{0,
                        fmt::format("seend {} (librdkafka {}, RocksDB {})\n", versions.seend,
                                    versions.librdkafka, versions.rocksdb),
                        {}};
  }
  if (flags.print_schema) return PrintCommand{0, ConfigSchema(), {}};
  if (!flags.config_argument.empty() && !flags.config_option.empty()) {
    return Mistake("seend: CONFIG and --config are the same; give one\n");
  }
  const std::string path = flags.config_argument.empty() ? flags.config_option : flags.config_argument;
  ConfigSource source{path, std::move(flags.overrides), flags.embedded_kafka};
  auto config = ReadConfig(source);
  if (!config) return Mistake(config.error());
  if (flags.print_config) return PrintCommand{0, config->effective_json, {}};
  if (flags.check_config) return CheckCommand{std::move(*config), path.empty() ? "configuration" : path};
  return RunCommand{std::move(*config), std::move(source),        flags.embedded_kafka,
                    flags.rebuild,      flags.publish_incomplete, flags.share_topics};
}

}  // namespace

tl::expected<Config, std::string> ReadConfig(const ConfigSource& source) {
  std::string text;
  if (!source.path.empty()) {
    auto read = ReadConfigFile(source.path);
    if (!read) return tl::unexpected(fmt::format("seend: {}\n", read.error()));
    text = std::move(*read);
  }
  auto config = LoadConfig(text, source.overrides, {.embedded_kafka = source.embedded_kafka});
  if (!config) return tl::unexpected(ErrorLines(source.path.empty() ? "seend" : source.path, config.error()));
  return std::move(*config);
}

Command ParseCommandLine(int argc, const char* const* argv, const ProgramVersions& versions) {
  CLI::App app(kDescription, "seend");
  app.footer(kExitStatuses);
  Flags flags;
  AddOptions(app, flags);
  try {
    app.parse(argc, const_cast<char**>(argv));  // older CLI11 takes char**, and doesn't change the text
  } catch (const CLI::CallForHelp&) {
    return PrintCommand{0, app.help(), {}};
  } catch (const CLI::ParseError& mistake) {
    return Mistake(fmt::format("seend: {}\nTry 'seend --help'.\n", mistake.what()));
  }
  return Execute(std::move(flags), versions);
}

}  // namespace seen
