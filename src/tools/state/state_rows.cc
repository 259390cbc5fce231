#include "tools/state/state_rows.h"

#include "rows/keys.h"
#include "rows/position_codec.h"

namespace seen {
RowBatch HeadRows(const PartitionHead& head) {
  RowBatch rows;
  rows.Add({RowOp::kPut, PositionKey(), EncodePosition(head.position)});
  if (!head.position.filters.empty())
    rows.Add({RowOp::kPut, WholenessKey(), EncodeWholeness(head.position.filters)});
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

}  // namespace seen
