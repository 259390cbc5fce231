#include "bulk_load/write_state.h"

#include "store/rocks_restore.h"

namespace seen {
namespace {

constexpr size_t kRowsBytes = 4 << 20;

}  // namespace

Status WriteIntoDirectory(StateBuilder& builder, const BuiltState& state, const std::string& directory,
                          const StoreResources& resources) {
  RocksRestore restore(directory, state.partition, resources);
  if (Status begun = restore.Begin(); !begun) return begun;
  RowBatch rows;
  const auto add = [&](const Row& row) {
    rows.Add(row);
    if (rows.row_bytes() < kRowsBytes) return Status();
    Status added = restore.AddBase(rows);
    rows = RowBatch();
    return added;
  };
  Status written = builder.ForEachFirstRow(state, add);
  if (written) written = builder.ForEachUserRow(state.partition, add);
  if (written) written = restore.AddBase(rows);
  if (written) written = restore.Finish();
  return written;
}

}  // namespace seen
