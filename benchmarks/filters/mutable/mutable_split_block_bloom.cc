#include "filters/mutable/mutable_split_block_bloom.h"

namespace seen {

Status MutableSplitBlockBloom::Merge(const MutableSplitBlockBloom& other) {
  if (payload_.size() != other.payload_.size()) {
    constexpr size_t kBlockBytes = split_block_bloom::kBlockBytes;
    return Fail(Code::kInvalidArgument, "merge: " + std::to_string(other.payload_.size() / kBlockBytes) +
                                            " blocks into " + std::to_string(payload_.size() / kBlockBytes) +
                                            "; both must have as many");
  }
  for (size_t i = 0; i < payload_.size(); ++i)
    payload_[i] = static_cast<char>(payload_[i] | other.payload_[i]);
  return {};
}

}  // namespace seen
