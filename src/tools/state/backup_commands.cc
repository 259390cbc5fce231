// backup: copies a running daemon's state into a directory. Later backups add only what is new.
// restore: puts a backup into a directory on which a daemon can start.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/text.h"
#include "store/store_directory.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/state/backup_directory.h"
#include "tools/state/daemon_state.h"
#include "tools/state/state_commands.h"
#include "tools/state/stored_state.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPreviousEndsWithin{30};  // the daemon drops a killed backup's copy after 5 s

// An operator may remove the daemon's whole directory. The backups must survive this.
Status CheckApart(const std::string& to, const std::string& copy_folder) {
  const fs::path store = fs::weakly_canonical(fs::path(copy_folder).parent_path().parent_path());
  const fs::path target = fs::weakly_canonical(fs::absolute(to));
  const auto [in_store, in_target] = std::mismatch(store.begin(), store.end(), target.begin(), target.end());
  if (in_store != store.end()) return {};
  return Fail(Code::kRefused, fmt::format("--to: {} is in the daemon's store.directory, {}. Remedy: name a "
                                          "directory outside, best on another disk",
                                          target.string(), store.string()));
}

Result<std::vector<BackedUpPartition>> TakeFiles(const StateArguments& given, const StateCopy& copy,
                                                 BackupDirectory& directory, BackupDirectory::Added& added) {
  Progress progress("backup", 0, "files", given.quiet);
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
      auto file = directory.Take((folder / name).string(), name, !given.copy, added);
      if (!file) return Fail(file.error());
      partition.files.push_back(std::move(*file));
      progress.Update(++files);
    }
  }
  return partitions;
}

/// Checks that the files on the disk hold the daemon's state.
Status Verify(const StateArguments& given, const BackupDirectory& directory, const BackupManifest& manifest) {
  for (const BackedUpPartition& partition : manifest.partitions) {
    for (const BackupFile& file : partition.files) {
      if (Status same = directory.Verify(file); !same) return same;
      if (Interrupted()) return Fail(Code::kUnavailable, "interrupted; earlier backups are unchanged");
    }
  }
  const auto state = StoredState::OfBackup(directory, manifest);
  if (!state) return Fail(state.error());
  if (!given.quiet) (*state)->ShowProgress("digest");
  const auto found = DigestStored(**state, manifest.report.as_of);
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

int RunList(const StateArguments& given) {
  const auto directory = BackupDirectory::OpenToRead(given.to);
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
    if (given.json) continue;
    fmt::print("{:>6}  {}  {} partitions of {}, {} files, {}\n", number, TimeText(manifest->made_at),
               manifest->partitions.size(), manifest->report.topic, manifest->Files(),
               WithByteUnit(manifest->Bytes()));
  }
  if (given.json) fmt::print("{}\n", JsonText(list, 2));
  return status;
}

Result<nlohmann::ordered_json> MakeBackup(const StateArguments& given) {
  auto daemon = DaemonClient::Make(given.http);
  if (!daemon) return Fail(daemon.error());
  const auto held = HeldCopy::Make(*daemon, kPreviousEndsWithin);
  if (!held) return Fail(held.error());
  if (Status apart = CheckApart(given.to, (*held)->copy().folder); !apart) return Fail(apart.error());
  auto directory = BackupDirectory::OpenToWrite(given.to, (*held)->owner());
  if (!directory) return Fail(directory.error());
  BackupManifest manifest;
  manifest.made_at = SystemClock().WallNow();
  manifest.program = SEEN_VERSION;
  manifest.instance = (*held)->owner().instance;
  manifest.partitioner = (*held)->owner().partitioner;
  BackupDirectory::Added added;
  auto partitions = TakeFiles(given, (*held)->copy(), *directory, added);
  if (!partitions) return Fail(partitions.error());
  manifest.partitions = std::move(*partitions);
  auto report = DigestDaemon(*daemon, manifest.made_at, &(*held)->copy(),
                             std::chrono::seconds(given.timeout_s), given.quiet);
  if (!report) return Fail(report.error());
  manifest.report = std::move(*report);
  if (!given.no_verify) {
    if (Status verified = Verify(given, *directory, manifest); !verified) return Fail(verified.error());
  }
  if (Status committed = directory->Commit(manifest); !committed) return Fail(committed.error());
  uint32_t gone = 0;
  if (given.keep > 0) {
    const auto removed = directory->Keep(given.keep);
    if (!removed) return Fail(removed.error());
    gone = *removed;
  }
  if (Status removed = directory->RemoveUnnamed(); !removed)
    fmt::print(stderr, "seenctl: warning: unused files weren't removed: {}\n", removed.error().message);
  auto summary = SummaryOf(manifest);
  summary["new_files"] = added.files;
  summary["new_bytes"] = added.bytes;
  summary["verified"] = !given.no_verify;
  summary["removed_backups"] = gone;
  return summary;
}

// Writes into a folder that a daemon's start removes. The caller renames it when all partitions are complete.
Status RestorePartition(const StateArguments& given, const BackupDirectory& directory,
                        const BackedUpPartition& partition, const std::string& folder, Progress& progress,
                        uint64_t& files) {
  if (Status made = MakeFolder(folder); !made) return made;
  for (const BackupFile& file : partition.files) {
    if (Interrupted())
      return Fail(Code::kUnavailable, "interrupted. Remedy: remove what is in --into, and run restore again");
    const std::string from = directory.PathOf(file);
    // RocksDB never writes to an SST file again, but may write to other files.
    const bool may_link = !given.copy && file.name.ends_with(".sst");
    const auto checksum = LinkOrCopy(from, folder + "/" + file.name, may_link);
    if (!checksum) return Fail(checksum.error());
    if (*checksum != file.checksum) {
      return Fail(
          Code::kCorrupt,
          fmt::format(
              "{}: its bytes have the checksum {}. Remedy: restore another backup, and check the disk", from,
              ToHex(*checksum)));
    }
    progress.Update(++files);
  }
  return SyncFolder(folder);
}

Status Restore(const StateArguments& given, const BackupDirectory& directory,
               const BackupManifest& manifest) {
  // A directory that a daemon has locked isn't empty: its LOCK is in it.
  if (Status empty = CheckEmpty("--into", given.into); !empty) return empty;
  const auto store = StoreDirectory::Open(given.into);
  if (!store) return Fail(store.error());
  Progress progress("restore", manifest.Files(), "files", given.quiet);
  uint64_t files = 0;
  const std::string incoming = StoreDirectory::IncomingPath(given.into);
  for (const BackedUpPartition& partition : manifest.partitions) {
    const std::string folder = StoreDirectory::PartitionPath(incoming, partition.partition);
    if (Status restored = RestorePartition(given, directory, partition, folder, progress, files); !restored)
      return restored;
  }
  for (const BackedUpPartition& partition : manifest.partitions) {
    const std::string place = StoreDirectory::PartitionPath(given.into, partition.partition);
    std::error_code code;
    fs::rename(StoreDirectory::PartitionPath(incoming, partition.partition), place, code);
    if (code) return Fail(Code::kUnavailable, fmt::format("can't rename to {}: {}", place, code.message()));
  }
  return SyncFolder(given.into);
}

}  // namespace

int RunBackup(const StateArguments& given) {
  if (given.list) return RunList(given);
  CatchInterrupts();
  const auto summary = MakeBackup(given);
  if (!summary) return ExitWith(summary.error());
  if (given.json) {
    fmt::print("{}\n", JsonText(*summary, 2));
    return kExitOk;
  }
  fmt::print("backup {} in {}: {} partitions, {} files with {}; {} of them new, with {}; {}\n",
             summary->at("backup").get<uint32_t>(), given.to, summary->at("partitions").get<size_t>(),
             summary->at("files").get<uint64_t>(), WithByteUnit(summary->at("bytes").get<uint64_t>()),
             summary->at("new_files").get<uint64_t>(), WithByteUnit(summary->at("new_bytes").get<uint64_t>()),
             given.no_verify ? "not verified" : "read back, and the digests agree");
  return kExitOk;
}

int RunRestore(const StateArguments& given) {
  const auto directory = BackupDirectory::OpenToRead(given.backups.front());
  if (!directory) return ExitWith(directory.error());
  const auto manifest = directory->ReadOrNewest(given.backup);
  if (!manifest) return ExitWith(manifest.error());
  CatchInterrupts();
  if (Status restored = Restore(given, *directory, *manifest); !restored) return ExitWith(restored.error());
  if (given.json) {
    auto json =
        nlohmann::ordered_json{{"backup", manifest->number}, {"positions", nlohmann::ordered_json::object()}};
    for (const PartitionDigest& partition : manifest->report.partitions)
      json["positions"][std::to_string(partition.partition)] = partition.next_offset;
    fmt::print("{}\n", JsonText(json, 2));
    return kExitOk;
  }
  fmt::print(
      "backup {} of {} is in {}: {} partitions of {}, made at {}. A daemon with this store.directory reads "
      "the rest from its topics\n",
      manifest->number, manifest->instance, given.into, manifest->partitions.size(), manifest->report.topic,
      TimeText(manifest->made_at));
  return kExitOk;
}

}  // namespace seen
