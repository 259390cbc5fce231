#pragma once
// RocksDB's options for the index of items: random writes of rows and short lists, point reads of many keys.

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <memory>

#include "rocks/listener.h"
#include "rocks/resources.h"

namespace seen {

/// `env` must outlive the database.
rocksdb::Options ItemIndexRocksOptions(const StoreResources& resources, rocksdb::Env* env,
                                       std::shared_ptr<BackgroundErrors> errors, int32_t partition);
/// The options of a bucket's family.
rocksdb::ColumnFamilyOptions BucketFamilyOptions(const StoreResources& resources);

}  // namespace seen
