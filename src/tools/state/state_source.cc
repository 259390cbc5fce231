#include "tools/state/state_source.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kRowsAtOnce = 1024;  // between checks for an interrupt

Status LinkFiles(const BackupDirectory& directory, const BackedUpPartition& partition,
                 const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  for (const BackupFile& file : partition.files) {
    const fs::path target = fs::absolute(directory.PathOf(file));
    std::error_code looking;
    if (fs::file_size(target, looking) != file.bytes || looking) {
      return Fail(Code::kCorrupt,
                  fmt::format("{}: it is missing or has another size than {} bytes. Remedy: use "
                              "another backup",
                              target.string(), file.bytes));
    }
    if (!code) fs::create_symlink(target, folder + "/" + file.name, code);
  }
  if (code) return Fail(Code::kUnavailable, fmt::format("can't make {}: {}", folder, code.message()));
  return {};
}

}  // namespace

void AddStateSourceOptions(CLI::App& app, StateSourceOptions& options) {
  app.add_option("--dir", options.directory, "a stopped daemon's store.directory");
  app.add_option("--from", options.backups, "a directory of backups");
  app.add_option("--backup", options.backup, "with --from: the backup's number; default: the newest");
}

StateSource::StateSource(StateSource&& other) noexcept
    : name_(std::move(other.name_)),
      directory_(std::move(other.directory_)),
      links_(std::exchange(other.links_, {})),
      folders_(std::move(other.folders_)),
      resources_(std::move(other.resources_)) {}

StateSource::~StateSource() {
  std::error_code ignored;
  if (!links_.empty()) fs::remove_all(links_, ignored);
}

Result<StateSource> StateSource::OfDirectory(const std::string& path) {
  auto directory = StoreDirectory::OpenStopped(path);
  if (!directory) return Fail(directory.error());
  const auto partitions = (*directory)->PartitionsWithState();
  if (!partitions) return Fail(partitions.error());
  if (partitions->empty())
    return Fail(Code::kNotFound,
                path + ": no partition's state is in this directory. Name a daemon's store.directory");
  StateSource source(path);
  source.directory_ = std::move(*directory);
  for (const int32_t partition : *partitions)
    source.folders_[partition] = StoreDirectory::PartitionPath(path, partition);
  return source;
}

Result<StateSource> StateSource::OfBackup(const std::string& path, std::optional<uint32_t> number) {
  const auto directory = BackupDirectory::OpenToRead(path);
  if (!directory) return Fail(directory.error());
  const auto manifest = directory->ReadOrNewest(number);
  if (!manifest) return Fail(manifest.error());
  return OfBackup(*directory, *manifest);
}

Result<StateSource> StateSource::OfBackup(const BackupDirectory& directory, const BackupManifest& manifest) {
  StateSource source(manifest.number == 0
                         ? fmt::format("new backup in {}", directory.path())
                         : fmt::format("backup {} in {}", manifest.number, directory.path()));
  std::string folder = (fs::temp_directory_path() / "seen-backup-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    return Fail(Code::kUnavailable,
                "can't make " + folder + ": set TMPDIR to a folder that you can write to");
  source.links_ = folder;
  for (const BackedUpPartition& partition : manifest.partitions) {
    const std::string of_partition = StoreDirectory::PartitionPath(folder, partition.partition);
    if (Status linked = LinkFiles(directory, partition, of_partition); !linked) return Fail(linked.error());
    source.folders_[partition.partition] = of_partition;
  }
  return source;
}

std::vector<int32_t> StateSource::Partitions() const {
  std::vector<int32_t> partitions;
  partitions.reserve(folders_.size());
  for (const auto& [partition, folder] : folders_) partitions.push_back(partition);
  return partitions;
}

Result<std::unique_ptr<RestingRows>> StateSource::Open(int32_t partition) const {
  auto rows = RestingRows::Open(folders_.at(partition), resources_);
  if (!rows) {
    return Fail(rows.error().code,
                fmt::format("{}, partition {}: {}", name_, partition, rows.error().message));
  }
  return rows;
}

Result<StateReport> DigestSource(const StateSource& source, TimeMs as_of, bool quiet) {
  StateReport report;
  report.source = source.name();
  report.as_of = as_of;
  Progress progress("digest", 0, "rows", quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  uint64_t visited = 0;
  for (const int32_t partition : source.Partitions()) {
    auto rows = source.Open(partition);
    if (!rows && rows.error().code == Code::kNotFound) continue;  // a partition that was still being created
    if (!rows) return Fail(rows.error());
    const StoreDescriptor& descriptor = (*rows)->descriptor();
    if (!report.topic.empty() && (report.topic != descriptor.identity.topic ||
                                  report.partitions_total != descriptor.identity.partition_count)) {
      return Fail(Code::kRefused,
                  fmt::format("{}: partition {} is of topic {} with {} partitions, others are of {} "
                              "with {}. Remedy: remove the folders of one of them",
                              source.name(), partition, descriptor.identity.topic,
                              descriptor.identity.partition_count, report.topic, report.partitions_total));
    }
    report.topic = descriptor.identity.topic;
    report.partitions_total = descriptor.identity.partition_count;
    StateDigester digester(descriptor, (*rows)->position(), as_of);
    const Status read = (*rows)->ForEach([&](std::string_view key, std::string_view value) -> Status {
      if (++visited % kRowsAtOnce == 0) {
        if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
        progress.Update(visited);
      }
      return digester.Add(key, value);
    });
    if (!read) {
      return Fail(read.error().code,
                  fmt::format("{}, partition {}: {}", source.name(), partition, read.error().message));
    }
    report.partitions.push_back(digester.Finish());
  }
  return report;
}

}  // namespace seen
