#include "state_stream/recording_writer.h"

#include <utility>

#include "base/result.h"
#include "rows/keys.h"

namespace seen {

Position TravellingPosition(Position position) {
  for (FilterWholeness& filter : position.filters) {
    if (filter.last_published == LastPublished::kKept) filter.last_published = LastPublished::kUnread;
  }
  return position;
}

RecordingWriter::RecordingWriter(std::unique_ptr<CheckpointWriter> store, const Position& position,
                                 std::string_view descriptor, OnCommitted on_committed)
    : store_(std::move(store)), on_committed_(std::move(on_committed)) {
  Check(changes_.PutPosition(TravellingPosition(position)).has_value(), "a batch takes every row");
  changes_.rows.Add({RowOp::kPut, DescriptorKey(), descriptor});
}

Status RecordingWriter::Commit() {
  Status committed = store_->Commit();
  if (committed) on_committed_(std::move(changes_.rows));
  return committed;
}

}  // namespace seen
