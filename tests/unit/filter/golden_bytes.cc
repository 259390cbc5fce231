#include "unit/filter/golden_bytes.h"

#include <bit>

#include "unit/filter/reference_bloom.h"

namespace seen::golden {

std::string Sealed(std::string bytes) {
  const uint32_t checksum = reference::Checksum(bytes);
  return Changed(std::move(bytes), 52, checksum);
}

std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, std::string_view more_header) {
  std::string bytes = Fields()
                          .Add("SEEN")
                          .U8(1)
                          .U8(static_cast<uint8_t>(meta.format))
                          .U8(1)
                          .U8(0)
                          .U32(56 + more_header.size())
                          .U32(meta.item_count)
                          .U64(static_cast<uint64_t>(meta.as_of.value))
                          .U32(static_cast<uint32_t>(meta.horizon.since_epoch))
                          .U32(static_cast<uint32_t>(meta.partition))
                          .U64(static_cast<uint64_t>(meta.input_offset))
                          .U64(std::bit_cast<uint64_t>(meta.false_positive_rate))
                          .U32(payload.size())
                          .U32(0);
  bytes += more_header;
  bytes += payload;
  return Sealed(std::move(bytes));
}

std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, const SecondFilter& similar,
                      uint8_t reserved) {
  const std::string fields = Fields()
                                 .U32(similar.payload.size())
                                 .U8(static_cast<uint8_t>(similar.format))
                                 .Add(std::string(3, static_cast<char>(reserved)))
                                 .U32(similar.count)
                                 .Add(std::string(4, static_cast<char>(reserved)));
  std::string both(payload);
  both += similar.payload;
  return Patched(Enveloped(meta, both, fields), 7, uint8_t{1});
}

SnapshotMeta UsualMeta(SnapshotFormat format, size_t item_count) {
  return {format, static_cast<uint32_t>(item_count), {1763700000123}, {20383}, 3, 123456789, 0.01};
}

}  // namespace seen::golden
