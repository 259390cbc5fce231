#pragma once
// Turns a checkpoint's calls into rows. The store and the state topic share this code, so that both get the
// same rows.

#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/store_port.h"
#include "rows/row_batch.h"

namespace seen {

/// As CheckpointWriter. The journal isn't made of rows: a class that keeps a journal overrides those calls
/// itself.
class RowWriter : public CheckpointWriter {
 public:
  /// Call it before all others.
  Status PutPosition(const Position& position);
  Status PutSweep(std::string_view encoded) override;
  Status AddDelta(const UserRef& user, std::string_view encoded_delta) override;
  Status DropPublished(const UserRef& user) override;
  Status DropAllPublished(FilterId filter) override;
  Status SetMark(const Mark& mark) override;
  Status ClearMark(const UserRef& user) override;
  Status DropEndings(uint32_t at_s) override;
  Status AddEnding(const Ending& ending) override;
  Status DropServed(uint32_t due_s) override;
  Status DropServedOf(uint32_t due_s, const UserKey& user) override;
  Status AddServed(const ServedRow& row, std::string_view text) override;

 private:
  /// Rows come in the order of their keys, ranges among them. Views are valid during the call.
  virtual Status Write(const Row& row) = 0;
};

}  // namespace seen
