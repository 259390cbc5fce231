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
  Status written =
      builder.ForEachRow(state.partition, state.live_offset, state.complete_since, [&](const Row& row) {
        rows.Add(row);
        if (rows.row_bytes() < kRowsBytes) return Status();
        Status added = restore.AddBase(rows);
        rows = RowBatch();
        return added;
      });
  if (written) written = restore.AddBase(rows);
  if (written) written = restore.Finish();
  return written;
}

}  // namespace seen
