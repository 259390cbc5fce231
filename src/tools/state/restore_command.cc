// restore: puts a backup into a directory on which a daemon can start.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/durable_file.h"
#include "store/store_directory.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/state/backup_directory.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

struct RestoreOptions {
  std::string from;
  std::optional<uint32_t> backup;
  std::string into;
  bool copy = false;
  bool json = false;
  bool quiet = false;
};

// A directory that a daemon has locked isn't empty: its LOCK is in it.
Status CheckEmpty(const std::string& into) {
  std::error_code code;
  if (!fs::exists(into, code)) return {};
  for (const fs::directory_entry& entry : fs::directory_iterator(into, code)) {
    return Fail(Code::kRefused,
                fmt::format("--into: {} isn't empty: {} is in it. Remedy: name an empty or a new "
                            "directory",
                            into, entry.path().filename().string()));
  }
  if (code) return Fail(Code::kUnavailable, fmt::format("--into: can't list {}: {}", into, code.message()));
  return {};
}

// Writes into a folder that a daemon's start removes. The caller renames it when all partitions are complete.
Status RestorePartition(const RestoreOptions& options, const BackupDirectory& directory,
                        const BackedUpPartition& partition, const std::string& folder, Progress& progress,
                        uint64_t& files) {
  if (Status made = MakeFolder(folder); !made) return made;
  for (const BackupFile& file : partition.files) {
    if (Interrupted())
      return Fail(Code::kUnavailable, "interrupted. Remedy: remove what is in --into, and run restore again");
    const std::string from = directory.PathOf(file);
    // RocksDB never writes to an SST file again, but may write to other files.
    const bool may_link = !options.copy && file.name.ends_with(".sst");
    const auto checksum = LinkOrCopy(from, folder + "/" + file.name, may_link);
    if (!checksum) return Fail(checksum.error());
    if (*checksum != file.checksum) {
      return Fail(Code::kCorrupt,
                  fmt::format("{}: its bytes have the checksum {}. Remedy: restore another backup, and "
                              "check the disk",
                              from, ToHex(*checksum)));
    }
    progress.Update(++files);
  }
  return SyncFolder(folder);
}

Status Restore(const RestoreOptions& options, const BackupDirectory& directory,
               const BackupManifest& manifest) {
  if (Status empty = CheckEmpty(options.into); !empty) return empty;
  const auto store = StoreDirectory::Open(options.into);
  if (!store) return Fail(store.error());
  Progress progress("restore", manifest.Files(), "files",
                    options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  uint64_t files = 0;
  const std::string incoming = StoreDirectory::IncomingPath(options.into);
  for (const BackedUpPartition& partition : manifest.partitions) {
    const std::string folder = StoreDirectory::PartitionPath(incoming, partition.partition);
    if (Status restored = RestorePartition(options, directory, partition, folder, progress, files); !restored)
      return restored;
  }
  for (const BackedUpPartition& partition : manifest.partitions) {
    const std::string place = StoreDirectory::PartitionPath(options.into, partition.partition);
    std::error_code code;
    fs::rename(StoreDirectory::PartitionPath(incoming, partition.partition), place, code);
    if (code) return Fail(Code::kUnavailable, fmt::format("can't rename to {}: {}", place, code.message()));
  }
  return SyncFolder(options.into);
}

int RunRestore(const RestoreOptions& options) {
  const auto directory = BackupDirectory::OpenToRead(options.from);
  if (!directory) return ExitWith(directory.error());
  const auto manifest = directory->ReadOrNewest(options.backup);
  if (!manifest) return ExitWith(manifest.error());
  CatchInterrupts();
  if (Status restored = Restore(options, *directory, *manifest); !restored) return ExitWith(restored.error());
  if (options.json) {
    auto json =
        nlohmann::ordered_json{{"backup", manifest->number}, {"positions", nlohmann::ordered_json::object()}};
    for (const PartitionDigest& partition : manifest->report.partitions)
      json["positions"][std::to_string(partition.partition)] = partition.next_offset;
    fmt::print("{}\n", json.dump(2));
    return kExitOk;
  }
  fmt::print(
      "backup {} of {} is in {}: {} partitions of {}, made at {}. A daemon with this store.directory reads "
      "the "
      "rest from its topics\n",
      manifest->number, manifest->instance, options.into, manifest->partitions.size(), manifest->report.topic,
      TimeText(manifest->made_at));
  return kExitOk;
}

}  // namespace

Subcommand AddRestore(CLI::App& root) {
  auto options = std::make_shared<RestoreOptions>();
  CLI::App* app =
      root.add_subcommand("restore", "put a backup into an empty directory, for a daemon to start on");
  app->add_option("--from", options->from, "the directory of backups")->required();
  app->add_option("--backup", options->backup, "the backup's number; default: the newest");
  app->add_option("--into", options->into, "the store.directory: empty, or a new one")->required();
  app->add_flag("--copy", options->copy, "copy files instead of linking them");
  app->add_flag("--json", options->json, "answer as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunRestore(*options); }};
}

}  // namespace seen
