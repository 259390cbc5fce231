#include "state_stream/part_reader.h"

#include <utility>

#include "rows/row_block.h"

namespace seen {

Status PartReader::Take(const ReadStatePart& part, RowBatch& rows) {
  const StatePart& head = part.head;
  if (whole_ || head.kind != first_.kind || head.epoch != first_.epoch || head.number != first_.number ||
      head.part != next_part_ || block_.size() + part.bytes.size() > kBlockBytesMax) {
    return Fail(Code::kMalformed, "state record: part " + std::to_string(head.part) + " where part " +
                                      std::to_string(next_part_) + " would be next");
  }
  ++next_part_;
  block_.append(part.bytes);
  if (!head.ends_block) return {};
  Status read = ReadRowBlock(block_, rows);
  block_.clear();
  whole_ = read && head.is_last;
  return read;
}

Result<std::optional<RunReader::Run>> RunReader::Take(int64_t offset, std::string_view record) {
  auto decoded = DecodeStateRecord(record, offset);
  if (!decoded) {
    ++unreadable_;
    reader_.reset();
    return Fail(std::move(decoded.error()));
  }
  if (std::holds_alternative<StateOpening>(*decoded)) {
    epoch_ = offset;
    reader_.reset();
    return std::optional<Run>();
  }
  const auto& part = std::get<ReadStatePart>(*decoded);
  if (part.head.kind != StreamKind::kRun) return std::optional<Run>();
  if (part.head.epoch != epoch_) {
    ++stale_parts_;
    return std::optional<Run>();
  }
  return TakePart(part);
}

Result<std::optional<RunReader::Run>> RunReader::TakePart(const ReadStatePart& part) {
  const StatePart& head = part.head;
  if (head.part == 0) {
    reader_.reset();
    rows_ = {};
    if (head.from <= held_ && held_ <= head.to) reader_.emplace(head);
  }
  // The part's run broke off, or doesn't span the position held.
  if (!reader_ || reader_->first().number != head.number) return std::optional<Run>();
  if (Status taken = reader_->Take(part, rows_); !taken) {
    ++unreadable_;
    reader_.reset();
    return Fail(std::move(taken.error()));
  }
  if (!reader_->is_whole()) return std::optional<Run>();
  Run run{reader_->first().from, reader_->first().to, reader_->first().verified, std::exchange(rows_, {})};
  reader_.reset();
  held_ = run.to;
  return std::optional<Run>(std::move(run));
}

}  // namespace seen
