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

Status RecordingWriter::PutSweep(std::string_view encoded) {
  Status put = store_->PutSweep(encoded);
  return put ? changes_.PutSweep(encoded) : put;
}

Status RecordingWriter::AddDelta(const UserRef& user, std::string_view encoded_delta) {
  Status added = store_->AddDelta(user, encoded_delta);
  return added ? changes_.AddDelta(user, encoded_delta) : added;
}

Status RecordingWriter::SetMark(const Mark& mark) {
  Status set = store_->SetMark(mark);
  return set ? changes_.SetMark(mark) : set;
}

Status RecordingWriter::ClearMark(const UserRef& user) {
  Status cleared = store_->ClearMark(user);
  return cleared ? changes_.ClearMark(user) : cleared;
}

Status RecordingWriter::DropEndings(uint32_t at_s) {
  Status dropped = store_->DropEndings(at_s);
  return dropped ? changes_.DropEndings(at_s) : dropped;
}

Status RecordingWriter::AddEnding(const Ending& ending) {
  Status added = store_->AddEnding(ending);
  return added ? changes_.AddEnding(ending) : added;
}

Status RecordingWriter::DropServed(uint32_t due_s) {
  Status dropped = store_->DropServed(due_s);
  return dropped ? changes_.DropServed(due_s) : dropped;
}

Status RecordingWriter::DropServedOf(uint32_t due_s, const UserKey& user) {
  Status dropped = store_->DropServedOf(due_s, user);
  return dropped ? changes_.DropServedOf(due_s, user) : dropped;
}

Status RecordingWriter::AddServed(const ServedRow& row, std::string_view text) {
  Status added = store_->AddServed(row, text);
  return added ? changes_.AddServed(row, text) : added;
}

Status RecordingWriter::Commit() {
  Status committed = store_->Commit();
  if (committed) on_committed_(std::move(changes_.rows));
  return committed;
}

}  // namespace seen
