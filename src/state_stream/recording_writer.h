#pragma once
// Writes a checkpoint and records it. Rows that don't travel (schemas/state.md) are only written.

#include <functional>
#include <memory>
#include <string_view>

#include "flow/store_port.h"
#include "rows/row_batch.h"

namespace seen {

/// Single thread, as CheckpointWriter.
class RecordingWriter final : public CheckpointWriter {
 public:
  /// Runs inside Commit, once the store has everything.
  using OnCommitted = std::function<void(RowBatch changes)>;
  /// `descriptor`: the store's, encoded. Each checkpoint's changes include it.
  RecordingWriter(std::unique_ptr<CheckpointWriter> store, const Position& position,
                  std::string_view descriptor, OnCommitted on_committed);

  /// Reserves memory for the rows that are expected. `bytes`: of keys and values.
  void Expect(size_t bytes, size_t rows) { changes_.rows.Reserve(bytes, rows); }

  Status PutSweep(std::string_view encoded) override { return Both(&CheckpointWriter::PutSweep, encoded); }
  Status AddDelta(const UserRef& user, std::string_view encoded) override {
    return Both(&CheckpointWriter::AddDelta, user, encoded);
  }
  Status DropPublished(const UserRef& user) override { return store_->DropPublished(user); }
  Status DropAllPublished(FilterId filter) override { return store_->DropAllPublished(filter); }
  Status SetMark(const Mark& mark) override { return Both(&CheckpointWriter::SetMark, mark); }
  Status ClearMark(const UserRef& user) override { return Both(&CheckpointWriter::ClearMark, user); }
  Status KeepRowsFrom(Day keep_from, Day whole_from) override {
    return store_->KeepRowsFrom(keep_from, whole_from);
  }
  Status EraseRows(const UserKey& user, Day through) override { return store_->EraseRows(user, through); }
  Status AddRow(const UserKey& user, const JournalPlace& place, std::string_view row) override {
    return store_->AddRow(user, place, row);
  }
  Status DropEndings(uint32_t at_s) override { return Both(&CheckpointWriter::DropEndings, at_s); }
  Status AddEnding(const Ending& ending) override { return Both(&CheckpointWriter::AddEnding, ending); }
  Status DropServed(uint32_t due_s) override { return Both(&CheckpointWriter::DropServed, due_s); }
  Status DropServedOf(uint32_t due_s, const UserKey& user) override {
    return Both(&CheckpointWriter::DropServedOf, due_s, user);
  }
  Status AddServed(const ServedRow& row, std::string_view text) override {
    return Both(&CheckpointWriter::AddServed, row, text);
  }
  Status Commit() override;

 private:
  class Batch final : public RowWriter {
   public:
    Status Commit() override { return {}; }
    RowBatch rows;

   private:
    Status Write(const Row& row) override {
      rows.Add(row);
      return {};
    }
  };

  /// What the store refuses isn't recorded.
  template <typename... Parameters, typename... Arguments>
  Status Both(Status (CheckpointWriter::*write)(Parameters...), const Arguments&... arguments) {
    Status written = (*store_.*write)(arguments...);
    return written ? (changes_.*write)(arguments...) : written;
  }

  const std::unique_ptr<CheckpointWriter> store_;
  const OnCommitted on_committed_;
  Batch changes_;
};

/// The position as it travels: the store's copy of last published snapshots doesn't travel.
Position TravellingPosition(Position position);

}  // namespace seen
