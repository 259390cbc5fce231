#include "tools/state/state_rows.h"

#include <fmt/format.h>

#include <filesystem>

#include "rocks/resources.h"
#include "rows/keys.h"
#include "rows/position_codec.h"
#include "store/rocks_restore.h"
#include "store/store_directory.h"

namespace seen {

RowBatch HeadRows(const PartitionHead& head) {
  RowBatch rows;
  const PositionRows position = EncodePositionRows(head.position);
  for (size_t i = 0; i < position.size(); ++i) {
    if (position[i]) rows.Add({RowOp::kPut, PositionKeys()[i], *position[i]});
  }
  rows.Add({RowOp::kPut, DescriptorKey(), EncodeDescriptor(head.descriptor)});
  return rows;
}

Status CopyState(CopySource& source, CopySink& sink) {
  if (Status prepared = sink.Prepare(source.partitions()); !prepared) return prepared;
  auto heads = source.Heads(sink);
  if (!heads) return Fail(heads.error());
  if (Status begun = sink.Begin(std::move(*heads)); !begun) return begun;
  if (Status passed = source.PassRows(sink); !passed) return passed;
  return sink.Finish();
}

namespace {

constexpr size_t kRowsBytes = 4 << 20;

uint64_t BytesOf(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error)) bytes += at->file_size(error);
  }
  return bytes;
}

/// The directory of a daemon that isn't running.
class DirectorySink final : public CopySink {
 public:
  explicit DirectorySink(const DirectorySettings& settings)
      : settings_(settings), resources_(settings.memory_bytes / 8, static_cast<int>(settings.threads)) {}

  Status Prepare(int32_t) override {
    auto directory = StoreDirectory::Open(settings_.directory);
    if (!directory) return Fail(directory.error());
    directory_ = std::move(*directory);
    auto there = directory_->PartitionsWithState();
    if (!there) return Fail(there.error());
    there_ = std::move(*there);
    if (there_.empty() || settings_.replace) return {};
    return Fail(Code::kRefused,
                fmt::format("--into-state: {}: this directory has the state of {} partitions. Name an "
                            "empty directory, or give --replace to drop that state",
                            settings_.directory, there_.size()));
  }
  Result<std::string> SortFolder() override {
    std::string folder = Folder();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", folder, error.message()));
    return folder;
  }
  unsigned threads() const override { return settings_.threads; }

  Status Begin(std::vector<PartitionHead> heads) override {
    // Removes all old state before anything is written: a directory must not mix two histories.
    for (const int32_t partition : there_) {
      if (Status removed = directory_->RemovePartition(partition); !removed) return removed;
    }
    for (PartitionHead& head : heads) partitions_.push_back({std::move(head), nullptr, {}});
    return {};
  }
  Status Add(int32_t number, const Row& row, RestingRows*) override {
    Partition& partition = partitions_[static_cast<size_t>(number)];
    if (Status begun = BeginPartition(number, partition); !begun) return begun;
    return AddRow(partition, row);
  }
  Status End(int32_t number) override {
    Partition& partition = partitions_[static_cast<size_t>(number)];
    Status status = BeginPartition(number, partition);
    if (status) status = partition.restore->AddBase(partition.rows);
    if (status) status = partition.restore->Finish();
    partition.restore.reset();
    partition.rows = RowBatch();
    return status;
  }
  void Clear() override {
    std::error_code ignored;
    std::filesystem::remove_all(Folder(), ignored);
  }
  uint64_t StateBytes() const override { return BytesOf(settings_.directory); }

 private:
  struct Partition {
    PartitionHead head;
    std::unique_ptr<RocksRestore> restore;  // from the first row to the last
    RowBatch rows;
  };
  std::string Folder() const { return StoreDirectory::IncomingPath(settings_.directory) + "/build"; }
  Status BeginPartition(int32_t number, Partition& partition) {
    if (partition.restore) return {};
    partition.restore = std::make_unique<RocksRestore>(settings_.directory, number, resources_);
    if (Status begun = partition.restore->Begin(); !begun) return begun;
    partition.rows = HeadRows(partition.head);
    return {};
  }
  static Status AddRow(Partition& partition, const Row& row) {
    partition.rows.Add(row);
    if (partition.rows.row_bytes() < kRowsBytes) return {};
    Status added = partition.restore->AddBase(partition.rows);
    partition.rows = RowBatch();
    return added;
  }

  const DirectorySettings settings_;
  const StoreResources resources_;
  std::unique_ptr<StoreDirectory> directory_;
  std::vector<int32_t> there_;
  std::vector<Partition> partitions_;
};

}  // namespace

std::unique_ptr<CopySink> IntoDirectory(const DirectorySettings& settings) {
  return std::make_unique<DirectorySink>(settings);
}

}  // namespace seen
