#include "app/reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/listeners.h"
#include "base/log.h"
#include "config/config_check.h"
#include "serve/credentials.h"
#include "similar/text/idf_table.h"

namespace seen {

Reload::Reload(const ConfigSource& source, Config& config, Credentials& credentials, Listeners& listeners)
    : source_(source),
      config_(config),
      credentials_(credentials),
      listeners_(listeners),
      running_(nlohmann::ordered_json::parse(config.effective_json)) {}

Result<ReloadReport> Reload::Run() {
  const MutexLock lock(mutex_);
  auto report = TryRun();
  if (!report) {
    log::Error("configuration not reloaded: the daemon keeps the old one",
               {{"reason", report.error().message}});
    return report;
  }
  log::Info("configuration reloaded",
            {{"applied", fmt::format("{}", fmt::join(report->applied, ","))},
             {"waits_for_restart", fmt::format("{}", fmt::join(report->waits_for_restart, ","))}});
  return report;
}

Result<ReloadReport> Reload::TryRun() {
  const auto read = ReadConfig(source_);
  if (!read) return Fail(Code::kInvalidArgument, read.error());
  if (Status files = credentials_.Reload(); !files) return Fail(files.error());
  ReloadReport report;
  const auto document = nlohmann::ordered_json::parse(read->effective_json);
  for (const ConfigChange& change : CompareConfigs(running_, document)) {
    if (!change.is_live) {
      report.waits_for_restart.push_back(change.path);
      continue;
    }
    Apply(*read, change.path);
    running_[change.at] = document[change.at];
    report.applied.push_back(change.path);
  }
  return report;
}

void Reload::Apply(const Config& read, const std::string& path) {
  if (path.starts_with("log.")) return log::Configure(read.log.level, read.log.format);
  if (path.starts_with("http.")) return listeners_.SetLimits(read.http);
  for (size_t i = 0; i < config_.filters.size(); ++i) {
    if (!path.starts_with(fmt::format("filters[{}].snapshot.", i))) continue;
    const SnapshotPolicy& policy = read.filters[i].snapshot->policy;
    config_.filters[i].snapshot->policy.Change(policy.shape(), policy.debounce());
  }
}

PrintCommand CheckFiles(const CheckCommand& check) {
  std::string mistakes;
  const auto note = [&](const auto& read) {
    if (!read) mistakes += fmt::format("{}: {}\n", check.name, read.error().message);
  };
  CredentialFiles tls = CredentialFilesOf(check.config.access);
  CredentialFiles tokens;
  tokens.tokens.swap(tls.tokens);  // apart, so that a mistake in one doesn't hide one in the other
  note(Credentials::Load(tls));
  note(Credentials::Load(tokens));
  if (check.config.items) note(ReadIdfFile(check.config.items->idf_file));
  if (!mistakes.empty()) return {kExitConfiguration, {}, std::move(mistakes)};
  return {0, fmt::format("{}: ok\n", check.name), {}};
}

}  // namespace seen
