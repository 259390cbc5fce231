#include "tools/state/stored_state.h"

#include <fmt/format.h>

#include <filesystem>

#include "state_stream/restore.h"
#include "store/rocks_restore.h"
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

Result<std::unique_ptr<StoredState>> StoredState::OfDirectory(const std::string& path) {
  auto directory = StoreDirectory::OpenStopped(path);
  if (!directory) return Fail(directory.error());
  const auto partitions = (*directory)->PartitionsWithState();
  if (!partitions) return Fail(partitions.error());
  if (partitions->empty())
    return Fail(Code::kNotFound,
                path + ": no partition's state is in this directory. Name a daemon's store.directory");
  std::unique_ptr<StoredState> state(new StoredState(path));
  state->directory_ = std::move(*directory);
  for (const int32_t partition : *partitions)
    state->folders_[partition] = StoreDirectory::PartitionPath(path, partition);
  return state;
}

Result<std::unique_ptr<StoredState>> StoredState::OfBackup(const std::string& path,
                                                           std::optional<uint32_t> number) {
  const auto directory = BackupDirectory::OpenToRead(path);
  if (!directory) return Fail(directory.error());
  const auto manifest = directory->ReadOrNewest(number);
  if (!manifest) return Fail(manifest.error());
  return OfBackup(*directory, *manifest);
}

Result<std::unique_ptr<StoredState>> StoredState::OfBackup(const BackupDirectory& directory,
                                                           const BackupManifest& manifest) {
  std::unique_ptr<StoredState> state(new StoredState(
      manifest.number == 0 ? fmt::format("new backup in {}", directory.path())
                           : fmt::format("backup {} in {}", manifest.number, directory.path())));
  auto links = OwnFolder::Make("TMPDIR", "", "backup");
  if (!links) return Fail(links.error());
  state->own_.emplace(std::move(*links));
  for (const BackedUpPartition& partition : manifest.partitions) {
    const std::string folder = StoreDirectory::PartitionPath(state->own_->path(), partition.partition);
    if (Status linked = LinkFiles(directory, partition, folder); !linked) return Fail(linked.error());
    state->folders_[partition.partition] = folder;
  }
  return state;
}

Result<std::unique_ptr<StoredState>> StoredState::OfTopic(const StateTopicOptions& topic,
                                                          StoreIdentity identity,
                                                          const std::string& scratch) {
  auto own = OwnFolder::Make("--scratch", scratch, "state-topic");
  if (!own) return Fail(own.error());
  std::unique_ptr<StoredState> state(new StoredState("state topic " + topic.topic));
  state->own_.emplace(std::move(*own));
  const std::string& path = state->own_->path();
  StateTopicReader reader(topic, InterruptFlag());
  for (identity.partition = 0; identity.partition < identity.partition_count; ++identity.partition) {
    const auto located = [&](const Error& error) { return Fail(state->Located(identity.partition, error)); };
    const auto end = reader.End(identity.partition);
    if (!end) return located(end.error());
    RocksRestore target(path, identity.partition, state->resources_);
    RestoreProgress progress;
    const auto restored =
        StateRestore({.identity = identity, .before = *end}, reader, target, progress, InterruptFlag()).Run();
    if (!restored) return located(restored.error());
    if (!*restored) {
      return located({Code::kNotFound,
                      "it has no whole base. Remedy: let a daemon of the group run until "
                      "/v1/status shows base_at for each partition"});
    }
    if (Status finished = target.Finish(); !finished) return located(finished.error());
    state->folders_[identity.partition] = StoreDirectory::PartitionPath(path, identity.partition);
  }
  return state;
}

Error StoredState::Located(int32_t partition, const Error& error) const {
  return {error.code, fmt::format("{}, partition {}: {}", name_, partition, error.message)};
}

Result<std::vector<std::unique_ptr<RestingRows>>> StoredState::Open() const {
  std::vector<std::unique_ptr<RestingRows>> partitions;
  for (const auto& [partition, folder] : folders_) {
    auto rows = RestingRows::Open(folder, resources_);
    if (!rows && rows.error().code == Code::kNotFound) continue;
    if (!rows) return Fail(Located(partition, rows.error()));
    partitions.push_back(std::move(*rows));
  }
  return partitions;
}

Result<std::vector<PartitionHead>> StoredState::Heads(CopySink&) {
  auto open = Open();
  if (!open) return Fail(open.error());
  open_ = std::move(*open);
  std::vector<PartitionHead> heads;
  heads.reserve(open_.size());
  for (const auto& rows : open_) heads.push_back({rows->descriptor(), rows->position().value_or(Position())});
  return heads;
}

Status StoredState::PassRows(CopySink& sink) {
  Progress progress(task_, 0, "rows", task_.empty());
  uint64_t passed = 0;
  for (size_t i = 0; i < open_.size(); ++i) {
    RestingRows& rows = *open_[i];
    const auto place = static_cast<int32_t>(i);
    Status read = rows.ForEach([&](std::string_view key, std::string_view value) -> Status {
      if (++passed % kRowsAtOnce == 0) {
        if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: not all rows were read");
        progress.Update(passed);
      }
      return sink.Add(place, {RowOp::kPut, key, value}, &rows);
    });
    if (read) read = sink.End(place);
    if (!read) return Fail(Located(rows.descriptor().identity.partition, read.error()));
    open_[i].reset();
  }
  progress.Update(passed);
  return {};
}

Result<StateReport> DigestStored(StoredState& state, TimeMs as_of) {
  StateReport report;
  report.source = state.name();
  report.as_of = as_of;
  const auto sink = IntoDigest("", report);
  if (Status copied = CopyState(state, *sink); !copied) return Fail(copied.error());
  return report;
}

}  // namespace seen
