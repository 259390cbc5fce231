#include "store/resting_state.h"

#include <rocksdb/db.h>

#include <memory>

#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "rows/position_codec.h"
#include "store/store_directory.h"

namespace seen {

Result<std::optional<RestingState>> ReadRestingState(const std::string& directory, int32_t partition) {
  const std::string path = StoreDirectory::PartitionPath(directory, partition);
  if (HasDatabase(*rocksdb::FileSystem::Default(), path).IsNotFound()) return std::optional<RestingState>();
  rocksdb::DB* opened = nullptr;
  rocksdb::Options options;
  options.create_if_missing = false;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, path, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (!status.ok()) return Fail(ToError(status, path));
  RestingState state;
  std::string value;
  const auto get = [&](std::string_view key) {
    return db->Get(rocksdb::ReadOptions(), rocksdb::Slice(key), &value);
  };
  rocksdb::Status read = get(DescriptorKey());
  if (read.IsNotFound()) return std::optional(std::move(state));  // its creation was interrupted
  if (!read.ok()) return Fail(ToError(read, path));
  auto descriptor = DecodeDescriptor(value);
  if (!descriptor) return Fail(descriptor.error());
  state.descriptor = std::move(*descriptor);
  read = get(PositionKey());
  if (read.IsNotFound()) return std::optional(std::move(state));
  if (!read.ok()) return Fail(ToError(read, path));
  const auto position = DecodePosition(value);
  if (!position) return Fail(position.error());
  state.position = position->next_offset;
  return std::optional(std::move(state));
}

}  // namespace seen
