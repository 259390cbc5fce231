#include "store/stored_identity.h"

#include <rocksdb/db.h>

#include <memory>

#include "rows/keys.h"
#include "store/store_directory.h"

namespace seen {

std::optional<StoreIdentity> ReadStoredIdentity(const std::string& directory, int32_t partition) {
  rocksdb::DB* opened = nullptr;
  rocksdb::Options options;
  options.create_if_missing = false;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, StoreDirectory::PartitionPath(directory, partition), &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::string value;
  if (!status.ok() || !db->Get(rocksdb::ReadOptions(), rocksdb::Slice(DescriptorKey()), &value).ok())
    return std::nullopt;
  auto descriptor = DecodeDescriptor(value);
  if (!descriptor) return std::nullopt;
  return std::move(descriptor->identity);
}

}  // namespace seen
