#include "state_stream/part_writer.h"

#include <algorithm>
#include <utility>

namespace seen {

PartWriter::PartWriter(StatePart first, size_t record_bytes_max, Emit emit)
    : next_(std::move(first)), record_bytes_max_(record_bytes_max), emit_(std::move(emit)) {
  std::string head;
  EncodeStatePart(next_, head);
  Check(2 * head.size() <= record_bytes_max_, "a state record has room for a piece of a block");
}

Status PartWriter::Add(const Row& row) {
  block_.Add(row);
  return block_.IsFull() ? EndBlock() : Status();
}

Status PartWriter::EndBlock() {
  encoded_.clear();
  block_.Finish(encoded_);
  for (std::string_view left = encoded_; !left.empty();) {
    std::string head;
    EncodeStatePart(next_, head);
    const std::string_view piece = left.substr(0, record_bytes_max_ - head.size());
    left.remove_prefix(piece.size());
    if (Status cut = Cut(piece, left.empty()); !cut) return cut;
  }
  return {};
}

Status PartWriter::Cut(std::string_view bytes, bool ends_block) {
  Status emitted;
  if (holds_) emitted = emit_(std::move(held_));
  next_.ends_block = ends_block;
  held_.clear();
  EncodeStatePart(next_, held_);
  held_.append(bytes);
  held_head_ = next_;
  holds_ = true;
  ++next_.part;
  next_.verified.clear();
  return emitted;
}

Status PartWriter::Flush() {
  if (!block_.empty()) {
    if (Status ended = EndBlock(); !ended) return ended;
  }
  if (!std::exchange(holds_, false)) return {};
  return emit_(std::move(held_));
}

Status PartWriter::Finish(std::optional<int64_t> base_at) {
  if (!block_.empty() || !holds_) {  // the block may have no row
    if (Status ended = EndBlock(); !ended) return ended;
  }
  // The head is as long as before, because no field changes its length.
  held_head_.is_last = true;
  if (base_at) held_head_.base_at = *base_at;
  std::string head;
  EncodeStatePart(held_head_, head);
  std::copy(head.begin(), head.end(), held_.begin());
  holds_ = false;
  return emit_(std::move(held_));
}

}  // namespace seen
