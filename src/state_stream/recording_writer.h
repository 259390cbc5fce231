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

  Status PutSweep(std::string_view encoded) override;
  Status AddDelta(const UserRef& user, std::string_view encoded_delta) override;
  Status DropPublished(const UserRef& user) override { return store_->DropPublished(user); }
  Status DropAllPublished(FilterId filter) override { return store_->DropAllPublished(filter); }
  Status SetMark(const Mark& mark) override;
  Status ClearMark(const UserRef& user) override;
  Status KeepRowsFrom(Day keep_from, Day whole_from) override {
    return store_->KeepRowsFrom(keep_from, whole_from);
  }
  Status EraseRows(const UserKey& user, Day through) override { return store_->EraseRows(user, through); }
  Status AddRow(const UserKey& user, const JournalPlace& place, std::string_view row) override {
    return store_->AddRow(user, place, row);
  }
  Status DropEndings(uint32_t at_s) override;
  Status AddEnding(const Ending& ending) override;
  Status DropServed(uint32_t due_s) override;
  Status DropServedOf(uint32_t due_s, const UserKey& user) override;
  Status AddServed(const ServedRow& row, std::string_view text) override;
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

  const std::unique_ptr<CheckpointWriter> store_;
  const OnCommitted on_committed_;
  Batch changes_;
};

/// The position as it travels: the store's copy of last published snapshots doesn't travel.
Position TravellingPosition(Position position);

}  // namespace seen
