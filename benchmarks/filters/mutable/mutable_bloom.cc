#include "filters/mutable/mutable_bloom.h"

#include "filter/bloom.h"

namespace seen {

MutableBloom::MutableBloom(size_t count, double rate) {
  const bloom::Size size = bloom::SizeFor(count, rate, 8);
  payload_ += static_cast<char>(size.probes);
  payload_.resize(1 + size.place_bytes);
}

Status MutableBloom::Merge(const MutableBloom& other) {
  if (payload_[0] != other.payload_[0] || payload_.size() != other.payload_.size()) {
    const auto name = [](const std::string& payload) {
      return std::to_string(payload[0]) + " probes of " + std::to_string(8 * (payload.size() - 1)) + " bits";
    };
    return Fail(Code::kInvalidArgument,
                "merge: " + name(other.payload_) + " into " + name(payload_) + "; both must have as many");
  }
  for (size_t i = 1; i < payload_.size(); ++i)
    payload_[i] = static_cast<char>(payload_[i] | other.payload_[i]);
  return {};
}

}  // namespace seen
