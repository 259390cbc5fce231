// Sums the rows of a state, and stores nothing. Also: what a state's head looks like as rows.

#include <optional>

#include "rows/keys.h"
#include "rows/position_codec.h"
#include "tools/read_files.h"
#include "tools/state/destination.h"

namespace seen {
namespace {

class DigestDestination final : public StateDestination {
 public:
  DigestDestination(const std::string& scratch, StateReport& report) : scratch_(scratch), report_(report) {}

  Status Prepare(int32_t) override { return {}; }
  Result<std::string> SortFolder() override {
    auto folder = OwnFolder::Make("--scratch", scratch_, "digest");
    if (!folder) return Fail(folder.error());
    folder_.emplace(std::move(*folder));
    return folder_->path();
  }
  Status Begin(std::vector<PartitionHead> heads) override {
    for (const PartitionHead& head : heads)
      digesters_.emplace_back(head.descriptor, head.position, report_.as_of);
    if (heads.empty()) return {};
    report_.topic = heads.front().descriptor.identity.topic;
    report_.partitions_total = heads.front().descriptor.identity.partition_count;
    return {};
  }
  Status Add(int32_t partition, const Row& row) override {
    return digesters_[static_cast<size_t>(partition)].Add(row.key, row.value);
  }
  Status Finish() override {
    for (const StateDigester& digester : digesters_) report_.partitions.push_back(digester.Finish());
    return {};
  }
  void Clear() override { folder_.reset(); }

 private:
  const std::string scratch_;
  StateReport& report_;
  std::optional<OwnFolder> folder_;
  std::vector<StateDigester> digesters_;  // by partition
};

}  // namespace

RowBatch HeadRows(const PartitionHead& head) {
  RowBatch rows;
  rows.Add({RowOp::kPut, PositionKey(), EncodePosition(head.position)});
  if (!head.position.filters.empty())
    rows.Add({RowOp::kPut, WholenessKey(), EncodeWholeness(head.position.filters)});
  rows.Add({RowOp::kPut, DescriptorKey(), EncodeDescriptor(head.descriptor)});
  return rows;
}

std::unique_ptr<StateDestination> IntoDigest(const std::string& scratch, StateReport& report) {
  return std::make_unique<DigestDestination>(scratch, report);
}

}  // namespace seen
