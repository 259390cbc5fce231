// backup: copies a running daemon's state into a directory. Later backups add only what is new.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/state/backup_directory.h"
#include "tools/state/daemon_state.h"
#include "tools/state/state_source.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPreviousEndsWithin{30};  // the daemon drops a killed backup's copy after 5 s

struct BackupOptions {
  DaemonAddress http;
  std::string to;
  uint32_t keep = 0;  // 0: all
  int64_t timeout_s = 3'600;
  bool list = false;
  bool copy = false;
  bool no_verify = false;
  bool json = false;
  bool quiet = false;
};

// An operator may remove the daemon's whole directory. The backups must survive this.
Status CheckApart(const std::string& to, const std::string& copy_folder) {
  const fs::path store = fs::weakly_canonical(fs::path(copy_folder).parent_path().parent_path());
  const fs::path target = fs::weakly_canonical(fs::absolute(to));
  const auto [in_store, in_target] = std::mismatch(store.begin(), store.end(), target.begin(), target.end());
  if (in_store != store.end()) return {};
  return Fail(Code::kRefused,
              fmt::format("--to: {} is in the daemon's store.directory, {}. Remedy: name a directory "
                          "outside, best on another disk",
                          target.string(), store.string()));
}

Result<std::vector<BackedUpPartition>> TakeFiles(const BackupOptions& options, const StateCopy& copy,
                                                 BackupDirectory& directory, BackupDirectory::Added& added) {
  Progress progress("backup", 0, "files", options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  uint64_t files = 0;
  std::vector<BackedUpPartition> partitions;
  for (const CopiedPartition& copied : copy.partitions) {
    BackedUpPartition& partition = partitions.emplace_back();
    partition.partition = copied.partition;
    const fs::path folder = fs::path(copy.folder) / copied.folder;
    std::vector<std::string> names;
    std::error_code code;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
      names.push_back(entry.path().filename().string());
    if (code || names.empty())
      return Fail(Code::kUnavailable, fmt::format("can't list {}: {}", folder.string(), code.message()));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (Interrupted()) return Fail(Code::kUnavailable, "interrupted; earlier backups are unchanged");
      auto file = directory.Take((folder / name).string(), name, !options.copy, added);
      if (!file) return Fail(file.error());
      partition.files.push_back(std::move(*file));
      progress.Update(++files);
    }
  }
  return partitions;
}

/// Checks that the files on the disk hold the daemon's state.
Status Verify(const BackupOptions& options, const BackupDirectory& directory,
              const BackupManifest& manifest) {
  for (const BackedUpPartition& partition : manifest.partitions) {
    for (const BackupFile& file : partition.files) {
      if (Status same = directory.Verify(file); !same) return same;
      if (Interrupted()) return Fail(Code::kUnavailable, "interrupted; earlier backups are unchanged");
    }
  }
  const auto source = StateSource::OfBackup(directory, manifest);
  if (!source) return Fail(source.error());
  const auto found = DigestSource(*source, manifest.report.as_of, options.quiet);
  if (!found) return Fail(found.error());
  const std::vector<std::string> differences = CompareReports(manifest.report, *found);
  if (differences.empty()) return {};
  return Fail(
      Code::kCorrupt,
      fmt::format(
          "the backup isn't what the daemon has: {}. Remedy: check the disk of {}, and run backup again",
          differences.front(), directory.path()));
}

nlohmann::ordered_json SummaryOf(const BackupManifest& manifest) {
  return {{"backup", manifest.number},      {"made_at_ms", manifest.made_at.value},
          {"topic", manifest.report.topic}, {"partitions", manifest.partitions.size()},
          {"files", manifest.Files()},      {"bytes", manifest.Bytes()}};
}

int RunList(const BackupOptions& options) {
  const auto directory = BackupDirectory::OpenToRead(options.to);
  if (!directory) return ExitWith(directory.error());
  const auto numbers = directory->Numbers();
  if (!numbers) return ExitWith(numbers.error());
  int status = kExitOk;
  auto list = nlohmann::ordered_json::array();
  for (const uint32_t number : *numbers) {
    const auto manifest = directory->Read(number);
    if (!manifest) {
      status = ExitWith(manifest.error());
      continue;
    }
    list.push_back(SummaryOf(*manifest));
    if (options.json) continue;
    fmt::print("{:>6}  {}  {} partitions of {}, {} files, {}\n", number, TimeText(manifest->made_at),
               manifest->partitions.size(), manifest->report.topic, manifest->Files(),
               WithByteUnit(manifest->Bytes()));
  }
  if (options.json) fmt::print("{}\n", list.dump(2));
  return status;
}

Result<nlohmann::ordered_json> MakeBackup(const BackupOptions& options) {
  auto daemon = DaemonClient::Make(options.http);
  if (!daemon) return Fail(daemon.error());
  const auto held = HeldCopy::Make(*daemon, kPreviousEndsWithin);
  if (!held) return Fail(held.error());
  if (Status apart = CheckApart(options.to, held->copy().folder); !apart) return Fail(apart.error());
  auto directory = BackupDirectory::OpenToWrite(options.to, held->owner());
  if (!directory) return Fail(directory.error());
  BackupManifest manifest;
  manifest.made_at = SystemClock().WallNow();
  manifest.program = SEEN_VERSION;
  manifest.instance = held->owner().instance;
  manifest.partitioner = held->owner().partitioner;
  BackupDirectory::Added added;
  auto partitions = TakeFiles(options, held->copy(), *directory, added);
  if (!partitions) return Fail(partitions.error());
  manifest.partitions = std::move(*partitions);
  auto report = DigestDaemon(*daemon, manifest.made_at, &held->copy(),
                             std::chrono::seconds(options.timeout_s), options.quiet);
  if (!report) return Fail(report.error());
  manifest.report = std::move(*report);
  if (!options.no_verify) {
    if (Status verified = Verify(options, *directory, manifest); !verified) return Fail(verified.error());
  }
  if (Status committed = directory->Commit(manifest); !committed) return Fail(committed.error());
  uint32_t gone = 0;
  if (options.keep > 0) {
    const auto removed = directory->Keep(options.keep);
    if (!removed) return Fail(removed.error());
    gone = *removed;
  }
  if (Status removed = directory->RemoveUnnamed(); !removed)
    fmt::print(stderr, "seenctl: warning: unused files weren't removed: {}\n", removed.error().message);
  auto summary = SummaryOf(manifest);
  summary["new_files"] = added.files;
  summary["new_bytes"] = added.bytes;
  summary["verified"] = !options.no_verify;
  summary["removed_backups"] = gone;
  return summary;
}

int RunBackup(const BackupOptions& options) {
  if (options.list) return RunList(options);
  CatchInterrupts();
  const auto summary = MakeBackup(options);
  if (!summary) return ExitWith(summary.error());
  if (options.json) {
    fmt::print("{}\n", summary->dump(2));
    return kExitOk;
  }
  fmt::print("backup {} in {}: {} partitions, {} files with {}; {} of them new, with {}; {}\n",
             summary->at("backup").get<uint32_t>(), options.to, summary->at("partitions").get<size_t>(),
             summary->at("files").get<uint64_t>(), WithByteUnit(summary->at("bytes").get<uint64_t>()),
             summary->at("new_files").get<uint64_t>(), WithByteUnit(summary->at("new_bytes").get<uint64_t>()),
             options.no_verify ? "not verified" : "read back, and the digests agree");
  return kExitOk;
}

}  // namespace

Subcommand AddBackup(CLI::App& root) {
  auto options = std::make_shared<BackupOptions>();
  CLI::App* app = root.add_subcommand("backup", "back up a running daemon's state, on its machine");
  AddDaemonOptions(*app, options->http);
  app->add_option("--to", options->to, "the directory of the backups; created if missing")->required();
  app->add_flag("--list", options->list, "list the existing backups, and make none");
  app->add_option("--keep", options->keep, "afterwards keep only so many backups, the newest ones")
      ->check(CLI::Range(1, 1'000'000));
  app->add_flag("--copy", options->copy, "copy files instead of linking them");
  app->add_flag("--no-verify", options->no_verify, "don't read the backup back");
  app->add_option("--timeout", options->timeout_s, "seconds to wait for the daemon's digests at most")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  app->add_flag("--json", options->json, "answer as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunBackup(*options); }};
}

}  // namespace seen
