#include "rows/row_batch.h"

#include <algorithm>

#include "rows/keys.h"
#include "rows/position_codec.h"

namespace seen {

bool RowBatch::Deletes(std::string_view key) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), key,
                                      [this](std::string_view k, const Place& r) { return k < At(r).key; });
  return after != ranges_.begin() && key < At(*std::prev(after)).value;
}

Status RowWriter::PutPosition(const Position& position) {
  const PositionRows rows = EncodePositionRows(position);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    if (Status put = Write({RowOp::kPut, PositionKeys()[i], *rows[i]}); !put) return put;
  }
  return {};
}

Status RowWriter::PutSweep(std::string_view encoded) { return Write({RowOp::kPut, SweepKey(), encoded}); }

Status RowWriter::AddDelta(const UserRef& user, std::string_view encoded_delta) {
  return Write({RowOp::kMerge, View(KeyOf(Table::kDeltas, user)), encoded_delta});
}

Status RowWriter::DropPublished(const UserRef& user) {
  return Write({RowOp::kDelete, View(KeyOf(Table::kPublished, user)), {}});
}

Status RowWriter::DropAllPublished(FilterId filter) {
  const auto next = FilterId(static_cast<size_t>(filter.number() + 1));  // a store has fewer than 65,535
  return Write({RowOp::kDeleteRange, View(KeyOf(Table::kPublished, {filter, {}})),
                View(KeyOf(Table::kPublished, {next, {}}))});
}

Status RowWriter::SetMark(const Mark& mark) {
  return Write({RowOp::kPut, View(KeyOf(Table::kMarks, mark.user)), mark.user_id});
}

Status RowWriter::ClearMark(const UserRef& user) {
  return Write({RowOp::kDelete, View(KeyOf(Table::kMarks, user)), {}});
}

Status RowWriter::DropEndings(uint32_t at_s) {
  return Write({RowOp::kDeleteRange, View(KeyOf(Ending{})), View(KeyOf(Ending{at_s, {}}))});
}

Status RowWriter::AddEnding(const Ending& ending) { return Write({RowOp::kPut, View(KeyOf(ending)), {}}); }

Status RowWriter::DropServed(uint32_t due_s) {
  return Write({RowOp::kDeleteRange, View(KeyOf(ServedRow{})), View(KeyOf(ServedRow{due_s, {}, {}}))});
}

Status RowWriter::DropServedOf(uint32_t due_s, const UserKey& user) {
  const ServedRow first{due_s, user, {}};
  const ServedRow last{due_s, user, {UINT32_MAX}, INT64_MAX, UINT16_MAX};
  return Write({RowOp::kDeleteRange, View(KeyOf(first)), View(KeyOf(last))});
}

Status RowWriter::AddServed(const ServedRow& row, std::string_view text) {
  return Write({RowOp::kPut, View(KeyOf(row)), text});
}

}  // namespace seen
