#include "state_stream/part_reader.h"

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

}  // namespace seen
