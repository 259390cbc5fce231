#include "rocks/folder.h"

#include <string_view>
#include <vector>

namespace seen {

rocksdb::Status HasDatabase(rocksdb::FileSystem& files, const std::string& folder) {
  rocksdb::Status current = files.FileExists(folder + "/CURRENT", rocksdb::IOOptions(), nullptr);
  if (!current.IsNotFound()) return current;
  std::vector<std::string> names;
  rocksdb::Status listed = files.GetChildren(folder, rocksdb::IOOptions(), &names, nullptr);
  if (listed.IsNotFound() || listed.IsPathNotFound()) return rocksdb::Status::NotFound(folder);
  if (!listed.ok()) return listed;
  for (const std::string_view name : names) {
    if (name.ends_with(".sst")) {
      return rocksdb::Status::Corruption("CURRENT is missing", "but there is " + std::string(name));
    }
  }
  return rocksdb::Status::NotFound(folder);
}

}  // namespace seen
