#pragma once
// Builds a partition's RocksDB from the state topic, beside the other partitions, and puts it into its place
// when it is complete. Or brings the existing RocksDB up to date.

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rocks/resources.h"
#include "state_stream/state_port.h"
#include "store/merge_rules.h"

namespace seen {

/// One thread. Errors: kNoSpace, kUnavailable, kCorrupt.
class RocksRestore final : public RestoreTarget {
 public:
  /// `directory`: a StoreDirectory's, which stays open meanwhile.
  RocksRestore(std::string directory, int32_t partition, const StoreResources& resources);
  /// Without Finish, removes what was built.
  ~RocksRestore() override;

  Status Begin() override;
  Status Continue() override;
  Status AddBase(const RowBatch& rows) override;
  Status Apply(const RowFold& changes, const StoredLimits& limits) override;
  /// Gives the partition this state, in place of its former state. The state isn't open.
  Status Finish();

 private:
  Status Write(const Row& row);
  Status EndFile();
  Status Ingest();
  Status ToResult(const rocksdb::Status& status) const;
  void Close();

  const std::string directory_;
  const int32_t partition_;
  const std::string folder_;
  const std::string place_;  // where the partition's state belongs
  const std::shared_ptr<MergeRules> rules_;
  const rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::SstFileWriter> file_;  // being written
  std::vector<std::string> files_;                // finished, not ingested
  uint64_t files_made_ = 0;
  bool continues_ = false;
};

}  // namespace seen
