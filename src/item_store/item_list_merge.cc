#include "item_store/item_list_merge.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "base/byte_codec.h"
#include "item_store/item_index_keys.h"

namespace seen {
namespace {

std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class ItemListMergeOperator final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "seen.ItemListMerge.1"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<std::string_view> parts;
    parts.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr) parts.push_back(ViewOf(*in.existing_value));
    for (const rocksdb::Slice& operand : in.operand_list) parts.push_back(ViewOf(operand));
    return MergeLists(ViewOf(in.key), parts, out->new_value);
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    std::vector<std::string_view> parts;
    parts.reserve(operands.size());
    for (const rocksdb::Slice& operand : operands) parts.push_back(ViewOf(operand));
    return MergeLists(ViewOf(key), parts, *new_value);
  }
};

}  // namespace

bool MergeLists(std::string_view key, const std::vector<std::string_view>& parts, std::string& out) {
  const auto shape = ListShapeOf(key);
  if (!shape) return false;
  uint64_t ever = 0;
  size_t bytes = 0;
  for (const std::string_view part : parts) {
    const auto list = ListView::Of(part, *shape);
    if (!list) return false;
    ever += list->ever();
    bytes += part.size() - kListHeadBytes;
  }
  out.clear();
  const size_t bytes_max = shape->entries_max * shape->entry_bytes;
  out.reserve(kListHeadBytes + std::min(bytes, bytes_max));
  PutLittleEndian(static_cast<uint32_t>(std::min<uint64_t>(ever, std::numeric_limits<uint32_t>::max())), out);
  size_t skipped = shape->keeps_newest && bytes > bytes_max ? bytes - bytes_max : 0;
  for (std::string_view part : parts) {
    part.remove_prefix(kListHeadBytes);
    const size_t skip = std::min(skipped, part.size());
    skipped -= skip;
    part.remove_prefix(skip);
    out.append(part.substr(0, kListHeadBytes + bytes_max - out.size()));
  }
  return true;
}

bool AppendToList(std::string_view key, std::string_view operand, std::string& list) {
  const auto shape = ListShapeOf(key);
  if (!shape) return false;
  const auto had = ListView::Of(list, *shape);
  const auto added = ListView::Of(operand, *shape);
  if (!had || !added) return false;
  const uint64_t ever = std::min<uint64_t>(uint64_t{had->ever()} + added->ever(), UINT32_MAX);
  for (size_t i = 0; i < kListHeadBytes; ++i) list[i] = static_cast<char>(ever >> (8 * i));
  list.append(operand.substr(kListHeadBytes));
  const size_t bytes_max = shape->entries_max * shape->entry_bytes;
  const size_t bytes = list.size() - kListHeadBytes;
  if (!shape->keeps_newest) {
    list.resize(kListHeadBytes + std::min(bytes, bytes_max));
  } else if (bytes > 2 * bytes_max) {  // not each time: it moves all entries that stay
    list.erase(kListHeadBytes, bytes - bytes_max);
  }
  return true;
}

std::shared_ptr<rocksdb::MergeOperator> MakeItemListMergeOperator() {
  return std::make_shared<ItemListMergeOperator>();
}

}  // namespace seen
